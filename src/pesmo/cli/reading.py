"""Reading what a user names: never more than could be meant, since a device such as /dev/zero has no end."""

import errno
from pathlib import Path
from typing import IO, AnyStr


def read_file(path: Path, most: int) -> bytes:
    """The bytes of a file, at most so many; an OSError where there are more."""
    with path.open("rb") as stream:
        return read_stream(stream, most)


def read_stream(stream: IO[AnyStr], most: int) -> AnyStr:
    content = stream.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most / 1e6:g} MB")
    return content
