"""A PostgreSQL server of the tests' own: a private cluster in a temporary folder, reached by a Unix socket only."""

import os
import pwd
import shutil
import subprocess
import tempfile
import uuid
from pathlib import Path

SETTINGS = {
    "listen_addresses": "",
    "max_connections": "200",
    "fsync": "off",  # a killed server loses nothing by it, only a killed machine would
    "shared_buffers": "16MB",
    "logging_collector": "off",
}


class Server:
    def __init__(self) -> None:
        self._user = _unprivileged()
        self.home = Path(tempfile.mkdtemp(prefix="pesmo-pg-", dir="/tmp"))  # a socket's path has at most 107 letters
        if self._user is not None:
            account = pwd.getpwnam(self._user)
            os.chown(self.home, account.pw_uid, account.pw_gid)
        self._data = self.home / "data"
        self._call("initdb", "--pgdata", self._data, "--username=postgres", "--auth=trust", "--no-sync", "-E", "UTF8")
        with (self._data / "postgresql.conf").open("a", encoding="utf-8") as file:
            lines = {**SETTINGS, "unix_socket_directories": str(self.home)}
            file.writelines(f"{key} = '{value}'\n" for key, value in lines.items())
        self.start()
        # Ends the server when its standard input ends: by remove(), or because the tests' process was killed.
        ending = 'cat; "$0" stop --pgdata "$1" --mode=immediate --wait; rm -rf "$2"'
        self._guard = subprocess.Popen(
            ["sh", "-c", ending, _binary("pg_ctl"), str(self._data), str(self.home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            user=self._user,
            extra_groups=None if self._user is None else [],
            start_new_session=True,
        )

    def start(self) -> None:
        self._pg_ctl("start", "--wait", "--timeout=120", f"--log={self.home / 'log'}")

    def stop(self, mode: str = "fast") -> None:
        self._pg_ctl("stop", "--wait", "--timeout=120", f"--mode={mode}")

    def remove(self) -> None:
        self._guard.communicate(timeout=120)

    def new_database(self) -> str:
        """The URL of an empty place: a schema of its own, as a database of its own would be 7 MB of files."""
        name = f"t{uuid.uuid4().hex}"
        import psycopg

        url = f"postgresql://postgres@/postgres?host={self.home}"
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        return f"{url}&options=-csearch_path%3D{name}"

    def _pg_ctl(self, action: str, *options: str) -> None:
        self._call("pg_ctl", action, "--pgdata", self._data, *options)

    def _call(self, program: str, *arguments: str | Path) -> None:
        # Output goes to a file: a server that inherits a pipe would keep its reader waiting for ever.
        with tempfile.TemporaryFile() as output:
            done = subprocess.run(
                [_binary(program), *map(str, arguments)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=180,
                check=False,
                cwd="/",
                user=self._user,
                extra_groups=None if self._user is None else [],
            )
            output.seek(0)
            if done.returncode:
                raise RuntimeError(f"{program} {arguments}: {output.read().decode(errors='replace')}")


def _unprivileged() -> str | None:
    """Who the server runs as: not root, which PostgreSQL refuses."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


def _binary(program: str) -> str:
    places = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    found = shutil.which(program) or next((str(p / program) for p in places if (p / program).exists()), None)
    if found is None:
        raise RuntimeError(f"no {program} here: run tests/install-postgres.sh, as `make test` does")
    return found
