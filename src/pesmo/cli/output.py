"""What commands print for other programs: strict JSON."""

import json
import math
from typing import Any

import typer


def say_json(value: Any) -> None:
    """Print JSON that every parser reads."""
    typer.echo(json_text(value))


def json_text(value: Any, indent: int | None = None) -> str:
    """Strict JSON in ASCII: what is not a finite number is null, since JSON has no word for it."""
    return json.dumps(_finite(value), allow_nan=False, indent=indent)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return value
