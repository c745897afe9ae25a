"""A PostgreSQL server of the tests' own, and PgBouncer before it: in a temporary folder, reached by Unix sockets."""

import os
import pwd
import shutil
import subprocess
import tempfile
import uuid
from pathlib import Path

from tests.waiting import until

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
        self.execute(f"CREATE SCHEMA {name}")
        return f"{self.url_of('postgres')}&options=-csearch_path%3D{name}"

    def new_role(self, **settings: str) -> str:
        """The name of a user with an empty place of its own and these settings."""
        name = f"r{uuid.uuid4().hex}"
        self.execute(f"CREATE ROLE {name} LOGIN", f"CREATE SCHEMA {name} AUTHORIZATION {name}")
        for key, value in {"search_path": name, **settings}.items():
            self.execute(f"ALTER ROLE {name} SET {key} = '{value}'")
        return name

    def url_of(self, role: str) -> str:
        return f"postgresql://{role}@/postgres?host={self.home}"

    def execute(self, *statements: str) -> None:
        import psycopg

        with psycopg.connect(self.url_of("postgres"), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())

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


class Pooler:
    """PgBouncer in transaction mode before a server: each transaction may get another of its few connections."""

    def __init__(self, server: Server, role: str) -> None:
        self.home = server.home / f"pool-{role}"
        user = _unprivileged()
        self.home.mkdir()
        (self.home / "users").write_text(f'"{role}" ""\n', encoding="utf-8")
        settings = {
            "listen_addr": "",
            "listen_port": "6432",
            "unix_socket_dir": str(self.home),
            "auth_type": "trust",
            "auth_file": str(self.home / "users"),
            "pool_mode": "transaction",
            "default_pool_size": "2",
            "server_login_retry": "1",
            "logfile": str(self.home / "log"),
        }
        lines = ["[databases]", f"* = host={server.home}", "[pgbouncer]", *[f"{k} = {v}" for k, v in settings.items()]]
        (self.home / "pgbouncer.ini").write_text("\n".join(lines), encoding="utf-8")
        if user is not None:
            account = pwd.getpwnam(user)
            for path in (self.home, *self.home.iterdir()):
                os.chown(path, account.pw_uid, account.pw_gid)
        # Ends, like the server's guard, when its standard input ends.
        self._process = subprocess.Popen(
            ["sh", "-c", '"$0" -q "$1" & cat; kill $!; wait', _binary("pgbouncer"), str(self.home / "pgbouncer.ini")],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            user=user,
            extra_groups=None if user is None else [],
            start_new_session=True,
        )
        self.url = f"postgresql://{role}@/postgres?host={self.home}&port=6432"
        until((self.home / ".s.PGSQL.6432").exists)

    def __enter__(self) -> "Pooler":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=60)


def _unprivileged() -> str | None:
    """Who the server runs as: not root, which PostgreSQL refuses."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


def _binary(program: str) -> str:
    places = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True), Path("/usr/sbin")]
    found = shutil.which(program) or next((str(p / program) for p in places if (p / program).exists()), None)
    if found is None:
        raise RuntimeError(f"no {program} here: run tests/install-postgres.sh, as `make test` does")
    return found
