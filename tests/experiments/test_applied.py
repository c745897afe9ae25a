"""The real problems without their data and engines: readers on tiny files, the score on a measure made up here."""

import gzip
import math
from pathlib import Path

import numpy as np
import pytest

import pesmo
from experiments import mnist, trees
from experiments.applied import AGAIN, Scale, applied_task


def test_idx_files_packed_or_not(tmp_path: Path) -> None:
    values = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    data = b"\x00\x00\x08\x03" + np.array(values.shape, ">u4").tobytes() + values.tobytes()
    (tmp_path / "plain").write_bytes(data)
    (tmp_path / "packed").write_bytes(gzip.compress(data))
    for name in ("plain", "packed"):
        np.testing.assert_array_equal(mnist.read_idx(tmp_path / name), values)
    (tmp_path / "other").write_bytes(b"PK\x03\x04")
    with pytest.raises(ValueError, match="other is no IDX file"):
        mnist.read_idx(tmp_path / "other")


def test_credit_has_nine_attributes_in_order(tmp_path: Path) -> None:
    path = tmp_path / "germancredit.csv"
    names = [*trees.NUMBERS_IN, *trees.ORDERED, *trees.NAMES_IN, "creditability"]
    path.write_text(
        ",".join(names) + "\n"
        "6,1169,67,... < 0 DM,unknown/ no savings account,car (new),own,skilled,male : single,good\n"
        "48,5951,22,no checking account,... >= 1000 DM,business,rent,skilled,male : single,bad\n"
    )
    x, bad = trees.credit(path)
    np.testing.assert_array_equal(x, [[6, 1169, 67, 1, 0, 1, 0, 0, 0], [48, 5951, 22, 0, 4, 0, 1, 0, 0]])
    assert bad.tolist() == [False, True]
    assert x.shape[1] == 9


def test_missing_data_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="--data DIR"):
        trees.data_file(str(tmp_path))
    with pytest.raises(FileNotFoundError, match="train-images-idx3-ubyte"):
        mnist.images(str(tmp_path))


def test_the_recommendation_is_measured_again_in_transformed_units() -> None:
    asked: list[float] = []

    def measure(inputs: dict, wanted: object, rng: np.random.Generator) -> dict[str, float]:
        asked.append(inputs["x"])
        return {"error": 0.25, "time": math.e}

    objectives = (pesmo.Objective("error", transform="logit"), pesmo.Objective("time", transform="log"))
    task = applied_task(pesmo.Space(x=pesmo.Float(0, 1)), objectives, (0.0, 3.0), measure, Scale(1, 8, 4, 5), 0)
    study = pesmo.Study(task.space, task.objectives, seed=0)
    for start in task.starts:
        study.add(start, {"error": 0.2 + 0.1 * start["x"], "time": 2.0 - start["x"]})
    found = task.score(study)
    assert found["score"] == pytest.approx(math.log(3.0) * 2.0)  # logit(1/4) = -log 3, log(e) = 1
    assert len(asked) == AGAIN * len(str(found["front"]).split())
