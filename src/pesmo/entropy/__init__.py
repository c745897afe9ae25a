"""The paper's core: what the Pareto set of a sampled function tells about every objective at every point.

Notation, for all files of this room (DESIGN 4.3; equations of Hernandez-Lobato et al., 2016, and their appendix):

| name       | meaning                                                              | shape        |
|------------|----------------------------------------------------------------------|--------------|
| S, K       | draws (each with its own hyperparameters and Pareto set), objectives |              |
| M, P       | Pareto points; they and the data points that matter, Pareto first    |              |
| mean, cov  | GP posterior of objective k at the P points of draw s                | (S, K, P[, P]) |
| delta_ij   | f_k(x_i) - f_k(x*_j), all that the factor psi(x_i, x*_j) depends on  |              |
| tau, nu    | Gaussian factor exp(-tau delta^2 / 2 + nu delta) in place of psi     | (S, K, P, M) |
| lap        | graph Laplacian of tau: what the factors add to the precision        | (S, K, P, P) |
| best       | x*_j has the least f_k of all: no x_i is better in f_k                | (S, K, M)    |
| a          | -mean / sd of delta under the cavity                                 |              |
| rho        | phi(a_k) prod_{l != k} Phi(a_l) / Z                                  |              |

The factor psi = 1 - prod_k Theta(f_k(x*_j) - f_k(x_i)) says "x_i does not dominate x*_j" (eq. 4).
"""
