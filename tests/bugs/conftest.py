"""The command line, for what went wrong there."""

from tests.cli.conftest import pesmo, study_file

__all__ = ["pesmo", "study_file"]
