"""Methods by name."""

from pesmo.errors import DefinitionError
from pesmo.methods.pesmo import Pesmo
from pesmo.methods.protocol import Method

METHODS: dict[str, type] = {"pesmo": Pesmo}


def method_named(name: str) -> Method:
    """A method by its name, or an error that lists the names."""
    if name not in METHODS:
        raise DefinitionError(f"unknown method {name!r}; the methods are {sorted(METHODS)}")
    return METHODS[name]()
