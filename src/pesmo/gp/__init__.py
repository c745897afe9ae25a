"""Gaussian processes: Matern-5/2 kernel, posterior, sampled hyperparameters, sample paths. Pure functions on arrays."""
