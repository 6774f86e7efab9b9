"""Packs the files of a project for a cluster: those that git would keep, without those that hold secrets."""

from __future__ import annotations

import base64
import io
import os
import re
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from urllib.parse import quote, unquote, urlsplit

from ordeal._base.git import ended
from ordeal._base.regular_file import read_regular
from ordeal._engine.parallel.fleet.plan import LEFT_OUT
from ordeal.errors import ConfigError

#: Names of files and folders that hold passwords and keys, as patterns in lower case.
SECRETS = (
    *("*.env", "*.env.*", ".env[-_]*", ".envrc", "env.local", ".flaskenv", ".netrc", "_netrc", ".pypirc", ".npmrc"),
    *(".git-credentials", ".htpasswd", ".pgpass", ".my.cnf", ".boto", ".s3cfg", ".vault-token", ".dockercfg"),
    *(".databrickscfg", "kubeconfig", "*.kubeconfig", ".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker", "gcloud"),
    *("*_rsa", "*_dsa", "*_ecdsa", "*_ed25519", "id_*_sk", "*.key", "*.pem", "*.der", "*.p8", "*.p12", "*.pfx"),
    *("*.jks", "*.keystore", "*.kdbx", "*.keytab", "*.ppk", "*.tfvars", "terraform.tfstate*"),
    *("*.publishsettings", "secret.*", "secrets.*", "secrets", ".secrets", "client_secret*.json"),
    *("credentials", *(f"credentials.{kind}" for kind in ("json", "csv", "ini", "toml", "txt", "xml", "yaml", "yml"))),
    *("*service-account*.json", "*service_account*.json", "*serviceaccount*.json"),
)
#: The ends of the names of copies.
_COPY = re.compile(r"(\.(bak|backup|old|orig|save|swp|gpg)|~)+$")
#: Beginnings that only key files have: PEM, and the JSON of an account of a service or a user. Tests of programs that
#: handle keys have such texts in them, and members need these files.
_KEY_TEXT = re.compile(rb"PRIVATE KEY( BLOCK)?-----|\"(private_key|client_secret|refresh_token)\"")
_NOT_KEYS = (".py", ".md", ".rst")
#: The size limit of all files together, in bytes, and the limit of their number: each member gets them in one message.
SIZE_MAX = 500 * 2**20
FILES_MAX = 100_000
#: Packages have these names too, so they are left out only at the top of a project.
_AT_THE_TOP = frozenset(("build",))
_ANYWHERE = LEFT_OUT - _AT_THE_TOP | {".nox", ".pytest_cache", "node_modules"}
_SHARED = "write `--project none` when all nodes share it"


@dataclass(frozen=True, slots=True)
class Sent:
    """A packed project: its files, and those that were left out, each with the reason."""

    data: bytes
    files: tuple[str, ...]
    left_out: dict[str, str]


def pack(project: Path, store: str) -> Sent:
    """Pack a project. ``store`` is the fleet's.

    Raises:
        ConfigError: it is too large, or git, which lists what belongs to it, is missing.
        OSError: it cannot be packed.
    """
    spelling = _spelling(store)
    files: list[str] = []
    left_out: dict[str, str] = {}
    sizes: dict[str, int] = {}
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz", compresslevel=1) as packed:
        for name in sorted(_listed(project)):
            path = project / name
            if path.is_dir():
                left_out[name] = "it is another repository, or a link to a folder"
                continue
            real, here = Path(os.path.realpath(path)), Path(os.path.realpath(project))
            # A link leads elsewhere under another name; so does one to a folder above.
            parts = {*PurePosixPath(name).parts}
            parts |= {*(real.relative_to(here) if real.is_relative_to(here) else real).parts}
            if any(fnmatchcase(_COPY.sub("", part.lower()), pattern) for part in parts for pattern in SECRETS):
                left_out[name] = "by its name, it may hold secrets"
                continue
            try:
                content = read_regular(path, SIZE_MAX)
                entry = tarfile.TarInfo(name)
                entry.mode, entry.mtime, entry.size = path.stat().st_mode, int(path.stat().st_mtime), len(content)
            except OSError:
                continue  # this user cannot read it, so no test needs it elsewhere
            if spelling is not None and spelling.search(content):
                left_out[name] = "the password of the store stands in it"
                continue
            if not name.endswith(_NOT_KEYS) and _KEY_TEXT.search(content):
                left_out[name] = "a private key stands in it"
                continue
            top = name.partition("/")[0]
            sizes[top] = sizes.get(top, 0) + len(content)
            if sum(sizes.values()) > SIZE_MAX:
                largest = max(sizes, key=sizes.__getitem__)
                raise ConfigError(
                    f"the project {project} has more than {SIZE_MAX >> 20} MiB, too much to send; most is in "
                    f"`{largest}`",
                    hint=f"name what members do not need in .gitignore, start in a smaller folder, or {_SHARED}",
                )
            packed.addfile(entry, io.BytesIO(content))
            files.append(name)
    return Sent(target.getvalue(), tuple(files), left_out)


def unpack(data: bytes, folder: Path) -> None:
    """Unpack what ``pack`` packed, without what would lie elsewhere."""
    with tarfile.open(fileobj=io.BytesIO(data)) as packed:
        packed.extractall(folder, filter="data")


def _spelling(store: str) -> re.Pattern[bytes] | None:
    """Return what finds the password of a store however it is written; None if it has none."""
    password = unquote(urlsplit(store).password or "") if store.startswith("redis:") else ""
    if not password:
        return None
    spelled = b"".join(b"(?:" + b"|".join(_spellings_of(char)) + rb")\0*" for char in password)
    # A shorter password is part of many words, so only an address with it counts.
    if len(password) < 6:
        return re.compile(b":" + spelled + b"@")
    # In base64, what stands before decides how it begins, and the bits of both ends belong to their neighbours, too.
    raw = [each.encode() for each in (password, quote(password, safe=""))]
    in_base64 = (
        base64.b64encode(b"\0" * shift + each)[-(-4 * shift // 3) :].rstrip(b"=") for each in raw for shift in range(3)
    )
    return re.compile(b"|".join((spelled, *(re.escape(each[: len(each) - 1]) for each in in_base64))))


def _spellings_of(char: str) -> Iterator[bytes]:
    """Yield how a character may be written in programs, settings, addresses and documents, as patterns."""
    code, octets = ord(char), char.encode()
    yield from {re.escape(octets), re.escape(char.encode("latin-1", "ignore") or octets)}
    yield b"".join(b"(?i:%%%02x)" % octet for octet in octets)
    yield b"".join(rb"\\(?i:x%02x)" % octet for octet in octets)
    yield rb"\\+(?i:u%04x|U%08x|x%02x)" % (code, code, code)
    if not char.isalnum():
        yield rb"\\+" + re.escape(octets)
        yield rb"&#?\w{2,8};"
    if char == " ":
        yield rb"\+"


def _listed(project: Path) -> list[str]:
    """Return what git would keep of a project, whether that is in a repository or not, without environments."""
    left_out = [f"--exclude={name}/" for name in sorted(_ANYWHERE)] + [f"--exclude=/{name}/" for name in _AT_THE_TOP]
    command = ["ls-files", "-z", "--others", "--exclude-standard", *left_out]
    # Nothing is listed where a larger repository ignores this folder.
    kept = ended(project, *command, "--cached", instead=_SHARED).stdout
    if not kept:
        with tempfile.TemporaryDirectory(prefix="ordeal-") as place:
            ended(project, "init", "--bare", "--quiet", place)
            kept = ended(project, f"--git-dir={place}", f"--work-tree={project}", *command).stdout
    names = [os.fsdecode(name).rstrip("/") for name in kept.split(b"\0") if name]
    if len(names) > FILES_MAX:
        raise ConfigError(
            f"the project {project} has more than {FILES_MAX} files",
            hint=f"name what members do not need in .gitignore, start in a smaller folder, or {_SHARED}",
        )
    environments = tuple(name.removesuffix("pyvenv.cfg") for name in names if name.endswith("/pyvenv.cfg"))
    return [name for name in names if not name.startswith(environments)] if environments else names
