"""What a cluster is sent of a project: the files that git would keep, packed, without those that hold secrets."""

from __future__ import annotations

import io
import os
import re
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from urllib.parse import unquote_to_bytes, urlsplit

from ordeal._base.regular_file import read_regular
from ordeal._engine.parallel.fleet.plan import LEFT_OUT
from ordeal.errors import ConfigError

#: What people keep passwords and keys in, as patterns of the names of files and folders in lower case.
SECRETS = (
    *("*.env", ".env.*", ".envrc", ".netrc", "_netrc", ".pypirc", ".npmrc", ".git-credentials", ".htpasswd"),
    *(".pgpass", ".my.cnf", ".boto", ".s3cfg", ".vault-token", ".dockercfg", "kubeconfig", "*.kubeconfig"),
    *(".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker"),
    *("*_rsa", "*_dsa", "*_ecdsa", "*_ed25519", "*.key", "*.pem", "*.p12", "*.pfx", "*.ppk", "*.jks", "*.keystore"),
    *("*.kdbx", "*.keytab", "*.tfvars", "terraform.tfstate*", "secrets.*"),
    *("credentials", *(f"credentials.{kind}" for kind in ("json", "csv", "ini", "toml", "txt", "xml", "yaml", "yml"))),
    *("*service-account*.json", "*service_account*.json", "*serviceaccount*.json"),
)
#: What no file of a project is without being a key: PEM, and the JSON of a service account. Tests of programs that
#: handle keys have such texts in them, and members need these files.
_KEY_TEXT = re.compile(rb"PRIVATE KEY( BLOCK)?-----|\"private_key\"")
_NOT_KEYS = (".py", ".md", ".rst")
#: A shorter password is part of many words, so only an address with it counts.
_PASSWORD_CHARS = 6
#: The size of all files together, in bytes, and how many they may be: each member gets them through one message.
SIZE_MAX = 500 * 2**20
FILES_MAX = 100_000
#: These names are those of packages, too, so they mean something else at the top of a project alone.
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
    spellings = _spellings(store)
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
            if _has_secret_name(name, path, project):
                left_out[name] = "by its name, it may hold secrets"
                continue
            try:
                content = read_regular(path, SIZE_MAX)
                entry = tarfile.TarInfo(name)
                entry.mode, entry.mtime, entry.size = path.stat().st_mode, int(path.stat().st_mtime), len(content)
            except OSError:
                continue  # this user cannot read it, so no test needs it elsewhere
            if secret := _secret_in(name, content, spellings):
                left_out[name] = secret
                continue
            top = name.partition("/")[0]
            sizes[top] = sizes.get(top, 0) + len(content)
            if sum(sizes.values()) > SIZE_MAX:
                raise _too_large(project, sizes)
            packed.addfile(entry, io.BytesIO(content))
            files.append(name)
    return Sent(target.getvalue(), tuple(files), left_out)


def unpack(data: bytes, folder: Path) -> None:
    """Unpack what ``pack`` packed, without what would lie elsewhere."""
    with tarfile.open(fileobj=io.BytesIO(data)) as packed:
        packed.extractall(folder, filter="data")


def _too_large(project: Path, sizes: dict[str, int]) -> ConfigError:
    largest = max(sizes, key=sizes.__getitem__)
    return ConfigError(
        f"the project {project} has more than {SIZE_MAX >> 20} MiB, which is not sent; most is in `{largest}`",
        hint=f"name what members do not need in .gitignore, start in a smaller folder, or {_SHARED}",
    )


def _has_secret_name(name: str, path: Path, project: Path) -> bool:
    parts = {*PurePosixPath(name).parts}
    real, here = Path(os.path.realpath(path)), Path(os.path.realpath(project))
    # A link leads elsewhere under another name; so does one to a folder above.
    parts |= {*(real.relative_to(here) if real.is_relative_to(here) else real).parts}
    return any(fnmatchcase(part.lower(), pattern) for part in parts for pattern in SECRETS)


def _spellings(store: str) -> set[bytes]:
    """Return how the password of a store may be written in a file; nothing if it has none."""
    password = unquote_to_bytes(urlsplit(store).password or "") if store.startswith("redis:") else b""
    # As it is, and as a text of JSON.
    found = {password, password.replace(b"\\", b"\\\\").replace(b'"', b'\\"')} - {b""}
    return found if len(password) >= _PASSWORD_CHARS else {b":" + each + b"@" for each in found}


def _secret_in(name: str, content: bytes, spellings: set[bytes]) -> str:
    # In an address, each character may be quoted.
    texts = (content, unquote_to_bytes(content)) if spellings and b"%" in content else (content,)
    if any(each in text for each in spellings for text in texts):
        return "the password of the store stands in it"
    if not name.endswith(_NOT_KEYS) and _KEY_TEXT.search(content):
        return "a private key stands in it"
    return ""


def _listed(project: Path) -> list[str]:
    """Return what git would keep of a project, whether that is in a repository or not, without environments."""
    left_out = [f"--exclude={name}/" for name in sorted(_ANYWHERE)] + [f"--exclude=/{name}/" for name in _AT_THE_TOP]
    command = ["ls-files", "-z", "--others", "--exclude-standard", *left_out]
    try:
        # Nothing is listed where a larger repository ignores this folder.
        kept = _git(project, *command, "--cached")
        if not kept:
            with tempfile.TemporaryDirectory(prefix="ordeal-") as place:
                _git(project, "init", "--bare", "--quiet", place)
                kept = _git(project, f"--git-dir={place}", f"--work-tree={project}", *command)
    except FileNotFoundError:
        raise ConfigError(
            "git lists what is sent of a project, and it is not here", hint=f"install it, or {_SHARED}"
        ) from None
    names = [os.fsdecode(name).rstrip("/") for name in kept.split(b"\0") if name]
    if len(names) > FILES_MAX:
        raise ConfigError(
            f"the project {project} has more than {FILES_MAX} files",
            hint=f"name what members do not need in .gitignore, start in a smaller folder, or {_SHARED}",
        )
    environments = tuple(name.removesuffix("pyvenv.cfg") for name in names if name.endswith("/pyvenv.cfg"))
    return [name for name in names if not name.startswith(environments)] if environments else names


def _git(folder: Path, *words: str) -> bytes:
    # A hook of git sets variables that lead to its own repository.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-c", "core.fsmonitor=false", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False).stdout
