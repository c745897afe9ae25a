"""What of a storage may be shown: everything but its secrets. The one redactor, for errors, labels, logs and output.

A storage may be mistyped in any way, so nothing here asks whether it is valid. In what looks like an address, the text
between the first ":" after the scheme and the last "@" is a secret, and so is every setting that is not known to be
harmless (HARMLESS): a password is hidden under a mistyped name too. Too much may be hidden, never too little.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import unquote, unquote_plus

MASK = "***"
HARMLESS = {  # of libpq's settings
    *("host", "hostaddr", "port", "dbname", "user", "service", "servicefile", "passfile", "options", "replication"),
    *("application_name", "fallback_application_name", "client_encoding", "connect_timeout", "tcp_user_timeout"),
    *("keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count", "target_session_attrs"),
    *("sslmode", "sslcert", "sslkey", "sslrootcert", "sslcrl", "sslcrldir", "sslsni", "sslcompression", "requiressl"),
    *("sslnegotiation", "ssl_min_protocol_version", "ssl_max_protocol_version", "channel_binding", "require_auth"),
    *("requirepeer", "gssencmode", "gsslib", "gssdelegation", "krbsrvname", "load_balance_hosts"),
}
SCHEMES = "postgres|postgresql|sqlite|mysql|mariadb|oracle|mssql|mongodb|redis|cockroachdb|duckdb"
DATABASE = re.compile(rf"\s*(?:{SCHEMES})(?:\+\w+)?:", re.IGNORECASE)  # even with slashes missing
ADDRESS = re.compile(rf"\W*(?:\w+=)?\W*(?:[a-z][\w+.-]*://|(?:{SCHEMES})(?:\+\w+)?:/?)", re.IGNORECASE)
SETTINGS = re.compile(r"\s*\w+\s*=")  # as in "host=db password=…"
SETTING = re.compile(r"(\w[\w%.-]*)(\s*=\s*)('(?:[^'\\]|\\.)*'?|\S*)")
SPOKEN = re.compile(
    r"((?:password|passwd|passphrase|pwd|secret)\w*\s*[=:]\s*)('[^']*'|\"[^\"]*\"|[^\s&;,]+)", re.IGNORECASE
)
IN_TEXT = re.compile(rf"((?:[a-z][\w+.-]*:/+|(?:{SCHEMES})(?:\+\w+)?:)[^:\s]*:).*(?=@)", re.IGNORECASE)
PATH = re.compile(r"/(?!/)|\.\.?[/\\]|~|[a-z]:[\\/]", re.IGNORECASE)
LEAST = 3  # letters of a part of a secret that is looked for by itself


@dataclass(frozen=True)
class Redacted:
    """A storage as it may be shown, and what was hidden in it."""

    shown: str
    secrets: tuple[str, ...]

    def scrub(self, words: str) -> str:
        """The words of a program that knew the storage, such as a driver, without its secrets.

        A driver may have taken the address apart elsewhere than we do: parts of a secret are hidden as well. What is
        shown of the storage anyway stays, such as a user's name that is the password too.
        """
        words = redacted(words)
        for secret in sorted(set(_spellings(self.secrets)), key=len, reverse=True):
            whole = re.compile(rf"(?<!\w){re.escape(secret)}(?!\w)")
            if not whole.search(self.shown):
                words = whole.sub(MASK, words)
        return words


def redact(storage: object) -> Redacted:
    """A storage as whoever runs pesmo gave it: a path, a URL, a connection string, or a slip of any of them."""
    text = str(storage)
    hidden: list[str] = []

    def hide(secret: str) -> str:
        if secret:
            hidden.append(secret)
        return MASK if secret else ""

    if SETTINGS.match(text) and "://" not in text:
        shown = SETTING.sub(lambda m: m[0] if _harmless(m[1], m[3]) else f"{m[1]}{m[2]}{hide(m[3])}", text)
    elif PATH.match(text):
        shown = text
    else:
        shown = _address(text, hide)
    return Redacted(shown, tuple(hidden))


def shown(storage: object) -> str:
    """A storage as it may be shown."""
    return redact(storage).shown


def is_address(text: str) -> bool:
    """True where a text is no file's name but an address, or what a slip made of one."""
    setting = SETTINGS.match(text)
    if setting and setting[0].rstrip("= ").strip().lower() in HARMLESS:
        return True
    return "://" in text or DATABASE.match(text) is not None or bool(redact(text).secrets)


def redacted(text: str) -> str:
    """Any text, such as a traceback, without the passwords of addresses and settings in it."""
    return SPOKEN.sub(rf"\1{MASK}", IN_TEXT.sub(rf"\1{MASK}", text))


def _address(text: str, hide: Callable[[str], str]) -> str:
    head = found[0] if (found := ADDRESS.match(text)) else ""
    main, mark, query = _split_query(text.removeprefix(head))
    login, at, place = main.rpartition("@")
    if at:
        user, colon, password = login.partition(":")
        main = f"{user}{colon}{hide(password)}@{place}"
    elif head and not re.match(r"(\[[0-9a-f:.%]*\]|[^:\[]*)(:\d*)?([/?#]|$)", main, re.IGNORECASE):
        user, colon, rest = main.partition(":")  # a port that is no number is a password whose "@" got lost
        main = f"{user}{colon}{hide(rest)}"
    main = SPOKEN.sub(lambda m: m[1] + hide(m[2]), main)
    return f"{head}{main}{mark}{_query(query, hide)}"


def _split_query(text: str) -> tuple[str, str, str]:
    """What comes before and after the "?" that settings follow; a password may have one too."""
    found = re.search(r"\?(?=[^?=@/]*=)", text)
    return (text[: found.start()], "?", text[found.end() :]) if found else (text, "", "")


def _query(text: str, hide: Callable[[str], str]) -> str:
    """Settings of a URL. What follows a secret may still belong to it, until a setting that is known."""
    shown, doubtful = [], False
    for part in text.split("&") if text else ():
        name, equals, value = part.partition("=")
        if equals and _harmless(name, value):
            shown.append(part)
            doubtful = False
        else:
            shown.append(f"{name}={hide(value)}" if equals and not doubtful else hide(part))
            doubtful = True
    return "&".join(shown)


def _harmless(name: str, value: str) -> bool:
    return unquote(name).strip().lower() in HARMLESS and "@" not in value


def _spellings(secrets: Iterable[str]) -> Iterable[str]:
    """A secret as it was written and as it was meant, and the parts that another reading makes of it."""
    for secret in secrets:
        for spelling in (secret, secret.strip("'"), unquote(secret), unquote_plus(secret)):
            yield from (spelling, spelling.strip())
            yield from (part for part in re.split(r"[\s/@:?#&='\"]+", spelling) if len(part) >= LEAST)
