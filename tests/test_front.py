"""The recommendation as plain data and as a picture."""

import json

import numpy as np

from pesmo import Front, Objective


def test_a_front_as_plain_data() -> None:
    objectives = (Objective("a"), Objective("b", "maximize"))
    inputs = ({"x": 0.5, "c": "up"}, {"x": 1.0, "c": "down"})
    means, sds = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[0.1, 0.2], [0.3, 0.4]])
    front = Front(objectives, inputs, means, sds, np.array([0.75, 0.25]))
    assert len(front) == 2
    rows = front.to_dicts()
    assert rows == [
        {
            "inputs": {"x": 0.5, "c": "up"},
            "objectives": {"a": 1.0, "b": 2.0},
            "sd": {"a": 0.1, "b": 0.2},
            "probability": 0.75,
        },
        {
            "inputs": {"x": 1.0, "c": "down"},
            "objectives": {"a": 3.0, "b": 4.0},
            "sd": {"a": 0.3, "b": 0.4},
            "probability": 0.25,
        },
    ]
    assert json.loads(json.dumps(rows)) == rows
    rows[0]["inputs"]["x"] = 7.0
    assert inputs[0]["x"] == 0.5


def test_a_picture_is_written_only_where_asked_for(tmp_path) -> None:
    front = Front((Objective("a"),), ({"x": 0.5},), np.ones((1, 1)), np.ones((1, 1)), np.ones(1))
    assert front.plot().axes
    assert not list(tmp_path.iterdir())
    front.plot(tmp_path / "front.svg")
    assert (tmp_path / "front.svg").read_text(encoding="utf-8").lstrip().startswith("<?xml")
