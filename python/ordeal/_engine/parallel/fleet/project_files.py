"""What a cluster is sent of a project: the files that git would keep, packed, without those that hold secrets."""

from __future__ import annotations

import io
import os
import re
import subprocess
import tarfile
import tempfile
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import accumulate
from pathlib import Path, PurePosixPath
from urllib.parse import quote_plus, unquote_to_bytes, urlsplit

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
        for name in sorted(_kept(project)):
            path = project / name
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
    if not password:
        return set()
    # As it is, in a form, and as a text of JSON.
    found = {password, quote_plus(password).encode(), password.replace(b"\\", b"\\\\").replace(b'"', b'\\"')}
    if len(password) < _PASSWORD_CHARS:
        return {b":" + each + b"@" for each in found}
    # In the manifest of a secret, and in files of Windows.
    address = store.encode()
    found |= {b64encode(address)[: len(address) // 3 * 4], b64encode(password).rstrip(b"=")}
    return found | {password.decode(errors="replace").encode("utf-16-le")}


def _secret_in(name: str, content: bytes, spellings: set[bytes]) -> str:
    # In an address, each character may be quoted.
    texts = (content, unquote_to_bytes(content)) if spellings and b"%" in content else (content,)
    if any(each in text for each in spellings for text in texts):
        return "the password of the store stands in it"
    if not name.endswith(_NOT_KEYS) and _KEY_TEXT.search(content):
        return "a private key stands in it"
    return ""


def _kept(project: Path) -> set[str]:
    """Return the files of a project, relative to it, without those that tools keep for themselves."""
    found: dict[str, set[str]] = {}
    for number, name in enumerate(_listed(project, (os.path.realpath(project),))):
        if number >= FILES_MAX:
            raise ConfigError(
                f"the project {project} has more than {FILES_MAX} files",
                hint=f"name what members do not need in .gitignore, start in a smaller folder, or {_SHARED}",
            )
        folder, _, base = name.rpartition("/")
        found.setdefault(folder, set()).add(base)
    environments = {folder for folder, names in found.items() if folder and "pyvenv.cfg" in names}

    def is_left_out(folder: str) -> bool:
        parts = folder.split("/")
        above = accumulate(parts, "{}/{}".format)
        return parts[0] in _AT_THE_TOP or not _ANYWHERE.isdisjoint(parts) or not environments.isdisjoint(above)

    return {
        f"{folder}/{name}".lstrip("/") for folder, names in found.items() if not is_left_out(folder) for name in names
    }


def _listed(folder: Path, above: tuple[str, ...]) -> Iterator[str]:
    """Yield the files below a folder, also those behind links. ``above`` are the folders that lead to it."""
    for name in _asked(folder):
        path = folder / name
        if not path.is_dir():
            if path.is_file():
                yield name
            continue
        # A link to a folder, or another repository. What leads back is not a part of the project.
        real = os.path.realpath(path)
        if _ANYWHERE.isdisjoint(name.split("/")) and not any(
            f"{each}/".startswith(f"{real}/".replace("//", "/")) for each in above
        ):
            yield from (f"{name}/{inner}" for inner in _listed(path, (*above, real)))


def _asked(folder: Path) -> list[str]:
    """Return what git would keep of a folder, whether that is in a repository or not."""
    left_out = [f"--exclude={name}/" for name in sorted(_ANYWHERE)] + [f"--exclude=/{name}/" for name in _AT_THE_TOP]
    command = ["ls-files", "-z", "--others", "--exclude-standard", *left_out]
    try:
        # Nothing is listed where a larger repository ignores this folder.
        kept = _git(folder, *command, "--cached")
        if not kept:
            with tempfile.TemporaryDirectory(prefix="ordeal-") as place:
                _git(folder, "init", "--bare", "--quiet", place)
                kept = _git(folder, f"--git-dir={place}", f"--work-tree={folder}", *command)
    except FileNotFoundError:
        raise ConfigError(
            "git lists what is sent of a project, and it is not here", hint=f"install it, or {_SHARED}"
        ) from None
    return [os.fsdecode(name).rstrip("/") for name in kept.split(b"\0") if name]


def _git(folder: Path, *words: str) -> bytes:
    # A hook of git sets variables that lead to its own repository.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-c", "core.fsmonitor=false", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False).stdout
