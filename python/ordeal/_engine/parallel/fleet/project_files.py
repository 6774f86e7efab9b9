"""What a cluster is sent of a project: the files that git would keep, packed, without those that hold secrets."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import accumulate
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit
from zipfile import ZipFile, ZipInfo

from ordeal._engine.parallel.fleet.plan import LEFT_OUT
from ordeal.errors import ConfigError

#: What people keep passwords in, as patterns of the names of files and folders, wherever they are.
SECRETS = (
    *(".env", ".env.*", ".envrc", ".netrc", ".pypirc", ".npmrc", ".git-credentials", ".pgpass", ".my.cnf", ".htpasswd"),
    *(".ssh", ".aws", ".azure", ".boto", ".s3cfg", ".gnupg", ".kube", "kubeconfig", ".docker", ".dockercfg"),
    *("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "*.pfx", "*.p12", "*.jks", "*.keystore", "*.kdbx", ".vault-token"),
    *("secrets.toml", "secrets.yaml", "secrets.yml", "secrets.json", "credentials.json", "terraform.tfstate*"),
)
#: What Ray accepts, in bytes, and how many files are taken for a project.
SIZE_MAX = 500 * 2**20
FILES_MAX = 100_000
#: These names are those of packages, too, so they mean something else at the top of a project alone.
_AT_THE_TOP = frozenset(("build",))
_ANYWHERE = LEFT_OUT - _AT_THE_TOP | {".nox", ".pytest_cache", "node_modules"}
#: A larger file is no settings that somebody wrote the address of a store into.
_SEARCHED_SIZE_MAX = 2**20
_SHARED = "write `--project none` when all nodes share it"


def pack(project: Path, file: Path, store: str) -> tuple[str, ...]:
    """Pack a project into a zip file, and return the files that were left out because they may hold secrets.

    The file is the same each time, if nothing changes in the project. ``store`` is the fleet's.

    Raises:
        ConfigError: it is too large, or there is no git to list what belongs to it.
        OSError: the file cannot be written.
    """
    password = urlsplit(store).password if store.startswith("redis:") else None
    needle = f":{password}@".encode() if password else b""
    secrets: list[str] = []
    sizes: dict[str, int] = {}
    with ZipFile(file, "w", strict_timestamps=False) as packed:
        for name in sorted(_kept(project)):
            path = project / name
            if _is_secret(name, path) or (needle and _holds(path, needle)):
                secrets.append(name)
                continue
            try:
                name.encode()
                entry = ZipInfo.from_file(path, name, strict_timestamps=False)
                source = path.open("rb")
            except (OSError, UnicodeError):
                # Nobody here can read it, or it has a name that no text can hold: no test needs it elsewhere.
                continue
            with source:
                top = name.partition("/")[0]
                sizes[top] = sizes.get(top, 0) + entry.file_size
                if sum(sizes.values()) > SIZE_MAX:
                    raise _too_large(project, sizes)
                with packed.open(entry, "w") as target:
                    shutil.copyfileobj(source, target)
    return tuple(secrets)


def _too_large(project: Path, sizes: dict[str, int]) -> ConfigError:
    largest = max(sizes, key=sizes.__getitem__)
    return ConfigError(
        f"the project {project} has more than {SIZE_MAX >> 20} MiB, which Ray does not send; most is in `{largest}`",
        hint=f"name what members do not need in .gitignore, start in a smaller folder, or {_SHARED}",
    )


def _is_secret(name: str, path: Path) -> bool:
    parts = {*PurePosixPath(name).parts, *(Path(os.path.realpath(path)).parts[-2:] if path.is_symlink() else ())}
    return any(fnmatchcase(part, pattern) for part in parts for pattern in SECRETS)


def _holds(path: Path, needle: bytes) -> bool:
    try:
        return path.stat().st_size <= _SEARCHED_SIZE_MAX and needle in path.read_bytes()
    except OSError:
        return False


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
        # A link to a folder, or another repository. What leads back is no part of the project.
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
