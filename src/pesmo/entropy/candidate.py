"""alpha_k at candidates, and its gradient: the factors that touch the candidate, matched once, as a star graph.

For a candidate x with u = cov(f(x), f(P points)) under the GP posterior, b = u R^-T and w = b N^-T, q says
    C_xx = v_PD - |b|^2 + |w|^2,   C_xj = w H_j,   m_x = mean(x) + w push          (R, N, H: see propagate.py):
what knowing f at the P points would remove, less what q leaves unknown of them.
Each of the M factors psi(x, x*_j) is matched once from q, and a share of it taken. With delta_j = f(x) - f(x*_j),
    D = cov(delta),   c = cov(f(x), delta),   v_CPD = C_xx - c^T (D + diag(1 / tau))^-1 c,
written with y = sqrt(tau) so that tau = 0 means no factor, and
    alpha_k(x) = mean over draws of  log((v_PD + noise) / (v_CPD + noise)) / 2           (eq. 6).

| name    | meaning                                             | shape        |
|---------|-----------------------------------------------------|--------------|
| G       | candidates                                          |              |
| e       | k(x, data) root^T: v_PD = amplitude - |e|^2         | (S, G, N)    |
| u, b, w | as above                                            | (S, G, P)    |
"""

from dataclasses import dataclass

from pesmo.arrays import Array, blocks, cholesky, inverse_lower, namespace, times_lower, times_lower_transposed
from pesmo.entropy.factors import LARGEST_A, LARGEST_SHARE, LEAST_SHARE, SMALLEST_A, Tilted, tilt
from pesmo.entropy.propagate import Conditioned
from pesmo.gp.kernels import kernel, kernel_gradient
from pesmo.gp.posterior import Posterior, again, cross, distinct, first

# The M factors of a candidate are matched from one q, and those of neighbouring Pareto points say the same thing many
# times over: this share of each is taken. 0.2 is the exact estimate's choice (experiments/accuracy.py).
STEP = 0.2
SCREEN_DRAWS = 10  # that a screening uses, at most
SCREEN_ROWS = 1000  # draws times data points that it uses, at least 3 draws
SMALLEST = 1e-7  # of a variance, relative to the amplitude: below it rounding would make D indefinite


@dataclass(frozen=True)
class View:
    """One objective as candidates see it: its posterior, and the P points of every draw."""

    posterior: Posterior
    points: Array  # (S, P, F)
    whitened: Array  # (S, N, P) root k(data, points)


@dataclass(frozen=True)
class _Reach:
    """What q says of one objective at the candidates, with what the gradient needs."""

    e: Array
    b: Array
    w: Array
    v_pd: Array  # (S, G)
    c_xx: Array  # (S, G)


def _reach(view: View, whiten: Array, narrow: Array, x: Array) -> tuple[_Reach, Array]:
    """Moments at candidates x (G, F) that need no factor of the candidate's own; and the GP posterior mean (S, G)."""
    xp = namespace(x)
    posterior, once = view.posterior, distinct(view.posterior)
    k_data = cross(once, x)
    e_once = times_lower_transposed(k_data, once.root)
    v_once = once.amplitude[:, None] - xp.sum(e_once * e_once, axis=-1)
    mean_once = xp.matmul(k_data, once.weights[..., None])[..., 0]
    e, v_pd, mean = (again(posterior, part) for part in (e_once, v_once, mean_once))
    u = kernel(x, view.points, posterior.scales, posterior.amplitude)
    u -= xp.matmul(e, view.whitened)
    b = xp.matmul(u, whiten)
    w = xp.matmul(b, narrow)
    least = SMALLEST * posterior.amplitude[:, None]
    v_pd = xp.maximum(v_pd, least)
    c_xx = xp.maximum(v_pd - xp.sum(b * b, axis=-1), least) + xp.sum(w * w, axis=-1)
    return _Reach(e, b, w, v_pd, xp.minimum(c_xx, v_pd)), mean


def screen(views: list[View], q: Conditioned, features: list[Array]) -> Array:
    """alpha_k (K, G) without the candidate's own factors: cheap, and nearly the same order as the full alpha.

    Where there is much data, from a few of the draws only. Of 20 draws, the 16 candidates that 10 of them like best
    have one with 0.97 of the largest alpha in the mean, those that 5 like best 0.9, 3: 0.86; where it is less, a single
    draw that was left out is what makes the largest alpha large.
    """
    xp = namespace(features[0])
    rows = []
    for k, (view, x) in enumerate(zip(views, features, strict=True)):
        samples, data, points = view.whitened.shape
        few = min(max(3, min(SCREEN_DRAWS, SCREEN_ROWS // max(1, data))), samples // view.posterior.times)
        part = View(first(view.posterior, few), view.points[:few, ...], view.whitened[:few, ...])
        noise = part.posterior.noise[:, None]
        alphas = []
        for some in blocks(x.shape[0], few * (data + points)):
            reach, _ = _reach(part, q.whiten[:few, k, ...], q.narrow[:few, k, ...], x[some, :])
            alphas.append(xp.mean(xp.log((reach.v_pd + noise) / (reach.c_xx + noise)), axis=0) / 2.0)
        rows.append(xp.concat(alphas))
    return xp.stack(rows)


@dataclass(frozen=True)
class _Star:
    """The candidate's factors: everything (S, K, G, ...)."""

    v_pd: Array
    c_xx: Array
    s2: Array  # (..., M) variance of delta_j
    tau: Array  # (..., M)
    tilted: Tilted
    matched: Array  # (..., M) True where tau > 0
    factor: Array  # (..., M + 1, M + 1) Cholesky factor of [[I + y D y, y c], [., large]]
    v_cpd: Array
    noise: Array  # (S, K, 1)


def _star(views: list[View], q: Conditioned, features: list[Array]) -> tuple[_Star, list[_Reach]]:
    xp = namespace(features[0])
    reaches, m_x, c_xj = [], [], []
    for k, (view, x) in enumerate(zip(views, features, strict=True)):
        reach, mean = _reach(view, q.whiten[:, k, ...], q.narrow[:, k, ...], x)
        reaches.append(reach)
        m_x.append(mean + xp.matmul(reach.w, q.push[:, k, :, None])[..., 0])
        c_xj.append(xp.matmul(reach.w, q.half[:, k, ...]))
    v_pd = xp.stack([reach.v_pd for reach in reaches], axis=1)  # (S, K, G)
    c_xx = xp.stack([reach.c_xx for reach in reaches], axis=1)
    c_xj = xp.stack(c_xj, axis=1)  # (S, K, G, M)
    noise = xp.stack([view.posterior.noise for view in views], axis=1)[..., None]
    least = SMALLEST * xp.stack([view.posterior.amplitude for view in views], axis=1)[..., None, None]

    m = xp.stack(m_x, axis=1)[..., None] - q.mean[..., None, :]
    s2 = c_xx[..., None] + xp.linalg.diagonal(q.cov)[..., None, :] - 2.0 * c_xj
    apart = s2 > least
    s2 = xp.maximum(s2, least)
    tilted = tilt(m, xp.sqrt(s2), q.best[:, :, None, :])
    matched = (tilted.beta > LEAST_SHARE) & apart & q.real[:, None, None, :]
    beta = xp.where(matched, tilted.beta, xp.zeros_like(s2))
    tau = STEP * beta / (s2 * (1.0 - beta))

    factor = cholesky(_bordered(q.cov, c_xx, c_xj, xp.sqrt(tau), least))
    size = tau.shape[-1]
    removed = xp.sum(factor[..., size, :size] ** 2, axis=-1)
    v_cpd = xp.clip(c_xx - removed, min=least[..., 0], max=c_xx)
    return _Star(v_pd, c_xx, s2, tau, tilted, matched, factor, v_cpd, noise), reaches


def _bordered(cov: Array, c_xx: Array, c_xj: Array, y: Array, least: Array) -> Array:
    """[[I + y (D + least I) y, y c], [., large]] (S, K, G, M + 1, M + 1), as one product, in few passes over memory.

    With a last row and column of zeros on cov, a last entry of 0 on C_xj, of C_xx on c and of 1 on y, all but the
    diagonal is y_i (cov_ij + c_i - C_xj) y_j. |y c|^2 bounds (y c)^T (I + y D y)^-1 (y c), since D is positive
    semi-definite: the corner is large enough.
    """
    xp = namespace(cov)
    size = y.shape[-1]
    c = c_xx[..., None] - c_xj
    below = xp.zeros((*cov.shape[:-2], 1, size), dtype=cov.dtype)
    beside = xp.zeros((*cov.shape[:-2], size + 1, 1), dtype=cov.dtype)
    wide = xp.concat([xp.concat([cov, below], axis=-2), beside], axis=-1)[..., None, :, :]
    matrix = wide + xp.concat([c, c_xx[..., None]], axis=-1)[..., :, None]
    matrix -= xp.concat([c_xj, xp.zeros_like(c_xx)[..., None]], axis=-1)[..., None, :]
    one = xp.concat([y, xp.ones_like(c_xx)[..., None]], axis=-1)
    matrix *= one[..., :, None]
    matrix *= one[..., None, :]
    corner = 1.0 + 2.0 * xp.sum((y * c) ** 2, axis=-1, keepdims=True)
    diagonal = xp.concat([1.0 + least * y**2, corner], axis=-1)
    matrix += diagonal[..., None] * xp.eye(size + 1, dtype=cov.dtype)
    return matrix


def alpha(views: list[View], conditioned: Conditioned, features: list[Array], blur: Array | None = None) -> Array:
    """alpha_k (K, G) at candidates; features[k] (G, F_k) is what objective k's GP sees of them.

    blur  (K,) variances: what a value would teach that is read no more precisely than this.
    """
    xp = namespace(features[0])
    samples, objectives, points = conditioned.mean.shape
    parts = []
    for some in blocks(features[0].shape[0], samples * objectives * points**2, least=8):
        star, _ = _star(views, conditioned, [x[some, :] for x in features])
        noise = star.noise if blur is None else star.noise + blur[None, :, None]
        parts.append(xp.mean(xp.log((star.v_pd + noise) / (star.v_cpd + noise)), axis=0) / 2.0)
    return xp.concat(parts, axis=1)


def alpha_and_gradient(
    views: list[View], conditioned: Conditioned, features: list[Array], weights: Array
) -> tuple[Array, list[Array]]:
    """A = sum_k weights_k alpha_k (G,) at candidates, and dA/dfeatures[k] (G, F_k) of each objective's features."""
    xp = namespace(features[0])
    q = conditioned
    star, reaches = _star(views, q, features)
    samples = star.v_pd.shape[0]
    w = weights[None, :, None] / (2.0 * samples)
    value = xp.sum(w * xp.log((star.v_pd + star.noise) / (star.v_cpd + star.noise)), axis=(0, 1))
    g_vpd = w / (star.v_pd + star.noise)
    g_v = -w / (star.v_cpd + star.noise)  # (S, K, G)

    # v_CPD: with z = (D + 1/tau)^-1 c,
    # dv/dC_xx = (1 - sum z)^2, dv/dC_xj = 2 z_j (1 - sum z), dv/dtau_j = -(z_j / tau_j)^2.
    size = star.tau.shape[-1]
    y = xp.sqrt(star.tau)
    inverse = inverse_lower(star.factor[..., :size, :size])
    u = xp.matmul(inverse.mT, star.factor[..., size, :size, None])[..., 0]  # z = y u, z / tau = u / y
    z = y * u
    rest = 1.0 - xp.sum(z, axis=-1)
    r = u / xp.where(star.matched, y, 1.0)
    g_cxx = g_v * rest**2
    g_cxj = g_v[..., None] * 2.0 * z * rest[..., None]
    g_m, g_s2 = _back_through_tilt(star, -g_v[..., None] * r * r, q.best[:, :, None, :])
    g_cxx = g_cxx + xp.sum(g_s2, axis=-1)
    g_cxj = g_cxj - 2.0 * g_s2
    g_mx = xp.sum(g_m, axis=-1)  # (S, K, G)

    gradients = []
    for k, (view, x, reach) in enumerate(zip(views, features, reaches, strict=True)):
        posterior = view.posterior
        g_w = (
            2.0 * g_cxx[:, k, :, None] * reach.w
            + xp.matmul(g_cxj[:, k, ...], q.half[:, k, ...].mT)
            + g_mx[:, k, :, None] * q.push[:, k, None, :]
        )
        g_b = -2.0 * g_cxx[:, k, :, None] * reach.b + xp.matmul(g_w, q.narrow[:, k, ...].mT)
        g_u = xp.matmul(g_b, q.whiten[:, k, ...].mT)
        g_e = -2.0 * (g_vpd[:, k, :] + g_cxx[:, k, :])[..., None] * reach.e - xp.matmul(g_u, view.whitened.mT)
        once = distinct(posterior)  # k(x, data) is common to a sample's draws, so their slopes along it add up
        g_e, g_mean = _sum_draws(posterior, g_e), _sum_draws(posterior, g_mx[:, k, :])
        g_data = times_lower(g_e, once.root) + g_mean[..., None] * once.weights[:, None, :]
        by_data = kernel_gradient(x, once.x, once.scales, once.amplitude, g_data)
        by_points = kernel_gradient(x, view.points, posterior.scales, posterior.amplitude, g_u)
        gradients.append(xp.sum(by_data, axis=0) + xp.sum(by_points, axis=0))
    return value, gradients


def _sum_draws(posterior: Posterior, per_draw: Array) -> Array:
    """The sums over the draws of each distinct sample: the transpose of `again`."""
    xp = namespace(per_draw)
    return xp.sum(xp.reshape(per_draw, (posterior.times, -1, *per_draw.shape[1:])), axis=0)


def _back_through_tilt(star: _Star, g_tau: Array, best: Array) -> tuple[Array, Array]:
    """From dA/dtau (S, K, G, M) to dA/dm and dA/ds^2 of the differences delta.

    tau = STEP beta / (s^2 (1 - beta));  beta = rho (rho - a);  a = -m / s;
    d rho_k = rho_k ((rho_k - a_k) da_k + sum_{l != k} (ratio_l + rho_l) da_l), without the sum where x*_j is a `best`.
    """
    xp = namespace(g_tau)
    t = star.tilted
    moving = star.matched & (t.beta < LARGEST_SHARE)
    g_beta = xp.where(moving, STEP * g_tau / (star.s2 * (1.0 - t.beta) ** 2), 0.0)
    g_log_rho = g_beta * (2.0 * t.rho - t.a) * t.rho
    others = xp.sum(g_log_rho, axis=1, keepdims=True) - g_log_rho
    others = xp.where(xp.any(best, axis=1, keepdims=True), 0.0, others)
    g_a = -g_beta * t.rho + g_log_rho * (t.rho - t.a) + (t.ratio + t.rho) * others
    g_a = xp.where((t.a < LARGEST_A) & (t.a > SMALLEST_A), g_a, 0.0)
    g_s2 = -g_a * t.a / (2.0 * star.s2) - g_tau * star.tau / star.s2
    return -g_a / xp.sqrt(star.s2), g_s2
