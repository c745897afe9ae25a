"""EHI beside BoTorch's analytic EHVI, on random fronts: `make ehvi`.

Runs with our interpreter, hands the cases to the peers' one, and prints the largest difference.
"""

import json
import subprocess
import sys

import numpy as np
from peer_client import peers_python

FRONTS, CASES = 5, 10  # per number of objectives
TOLERANCE = 1e-8


def cases() -> list[dict]:
    from pesmo.methods.ehi import log_expected_gain
    from pesmo.methods.fronts import Known
    from pesmo.pareto.boxes import undominated_boxes
    from pesmo.pareto.dominance import nondominated

    rng, rows = np.random.default_rng(0), []
    for k in (2, 3, 4):
        for _ in range(FRONTS):
            values = rng.uniform(size=(30, k))
            values = values[nondominated(values)]
            reference = np.full(k, 1.1)
            known = Known(values, values, np.ptp(values, axis=0), reference, *undominated_boxes(values, reference))
            mean, sd = rng.uniform(-0.1, 1.0, (CASES, k)), rng.uniform(0.02, 0.5, (CASES, k))
            rows.append({"front": values, "reference": reference, "mean": mean, "sd": sd,
                         "ours": np.exp(log_expected_gain(known, mean, sd))})  # fmt: skip
    return [{name: part.tolist() for name, part in row.items()} for row in rows]


def botorch_values(rows: list[dict]) -> list[list[float]]:
    """In the peers' environment. BoTorch maximizes: everything changes its sign."""
    import torch  # pyright: ignore[reportMissingImports]
    from botorch.acquisition.multi_objective.analytic import (  # pyright: ignore[reportMissingImports]
        ExpectedHypervolumeImprovement,
    )
    from botorch.models.deterministic import GenericDeterministicModel  # pyright: ignore[reportMissingImports]
    from botorch.posteriors import GPyTorchPosterior  # pyright: ignore[reportMissingImports]
    from botorch.utils.multi_objective.box_decompositions import (  # pyright: ignore[reportMissingImports]
        NondominatedPartitioning,
    )
    from gpytorch.distributions import MultitaskMultivariateNormal  # pyright: ignore[reportMissingImports]

    class Fixed(GenericDeterministicModel):
        """A model whose posterior at point number i is N(mean_i, sd_i^2)."""

        def __init__(self, mean, sd) -> None:
            super().__init__(lambda x: x, num_outputs=mean.shape[1])
            self.mean, self.sd = mean, sd

        def posterior(self, X, *args, **kwargs):
            i = X[..., 0].round().long()  # (b, 1)
            mean, variance = self.mean[i], self.sd[i] ** 2
            return GPyTorchPosterior(MultitaskMultivariateNormal(mean, torch.diag_embed(variance[..., 0, :])))

    answers = []
    for row in rows:
        front, reference, mean, sd = (
            torch.tensor(row[name], dtype=torch.float64) for name in ("front", "reference", "mean", "sd")
        )
        partitioning = NondominatedPartitioning(ref_point=-reference, Y=-front)
        acquisition = ExpectedHypervolumeImprovement(Fixed(-mean, sd), (-reference).tolist(), partitioning)
        numbers = torch.arange(mean.shape[0], dtype=torch.float64)[:, None, None]
        answers.append(acquisition(numbers).tolist())
    return answers


def main() -> None:
    if sys.argv[1:] == ["--botorch"]:
        print(json.dumps(botorch_values(json.load(sys.stdin))))
        return
    rows = cases()
    done = subprocess.run(
        [str(peers_python()), __file__, "--botorch"],
        input=json.dumps(rows),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stderr)
    theirs = np.concatenate(json.loads(done.stdout.splitlines()[-1]))
    ours = np.concatenate([row["ours"] for row in rows])
    gap = float(np.max(np.abs(ours - theirs)))
    print(f"{ours.size} values of EHI, K = 2, 3, 4: at most {gap:.1e} from BoTorch's analytic EHVI (bar: {TOLERANCE})")
    sys.exit(gap > TOLERANCE)


if __name__ == "__main__":
    main()
