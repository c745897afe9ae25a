"""Which points of a front are worth telling apart: fewer points, where more would say the same.

Point j gains g_k = (m_k(i) - m_k(j)) / extent_k on point i in objective k, and loses where g_k < 0. It is left out for
i if

    g_k extent_k <= sd_k(i, j)   and   g_k <= max(SHARE, TRADE max_l(-g_l))   for every objective k:

no gain is one that the model can tell, and each is small, beside the front or beside what it costs. m are the posterior
means, sd_k(i, j) the posterior's standard deviation of f_k(i) - f_k(j), extent_k the range of m_k over the front.

On a smooth front next to nothing is left out. Where inputs are discrete or do not matter, many points have nearly the
same values, and one is left of each such group.
"""

import numpy as np

from pesmo.gp.posterior import Posterior, joint

SHARE = 1.0 / 500.0  # of the front's extent
TRADE = 1.0 / 30.0  # of the largest loss, both as shares of the extents
ROUNDING = 1e-9  # of a standard deviation of the data: no difference


def differences(posterior: Posterior, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means (n,) at x (n, F), averaged over the S samples, and the sds (n, n) of the differences between the points.

    By the law of total variance: the mean over the samples of var_s(f_i - f_j), and the variance over them of its mean.
    """
    samples = posterior.scales.shape[0]
    mean, covariance, _ = joint(posterior, np.broadcast_to(x, (samples, *x.shape)))
    within = np.mean(covariance, axis=0)
    between = np.cov(mean, rowvar=False, bias=True).reshape(within.shape)
    both = within + between
    own = np.diagonal(both)
    return np.mean(mean, axis=0), np.sqrt(np.maximum(own[:, None] + own - 2.0 * both, 0.0))


def worth_telling_apart(mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """Indices of the points that are kept, of means (n, K) and sds of their differences (n, n, K).

    Points of good means in all objectives come first; each is kept unless it is left out for one that was kept before.
    """
    extent = np.ptp(mean, axis=0)
    extent = np.where(extent > ROUNDING, extent, 1.0)
    scaled = (mean - mean.min(axis=0)) / extent
    noise = np.maximum(sd, ROUNDING) / extent
    kept: list[int] = []
    for j in np.argsort(np.sum(scaled, axis=1), kind="stable").tolist():
        gain = scaled[kept] - scaled[j]  # (kept, K)
        small = np.maximum(SHARE, TRADE * np.max(-gain, axis=1, initial=0.0))
        if not np.any(np.all(gain <= np.minimum(noise[kept, j], small[:, None]), axis=1)):
            kept.append(j)
    return np.array(kept)
