"""Fetches the sdist of a project, and makes an environment with its release and with this ordeal."""

import os
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

from upstream_machines.catalog import Project

#: What sdists name as their build backend. To fetch one, pip asks it for the metadata, which is in the sdist already.
BACKENDS = (
    *("setuptools.build_meta", "hatchling.build", "flit_core.buildapi", "poetry.core.masonry.api", "maturin"),
    *("uv_build", "mesonpy", "pdm.backend", "scikit_build_core.build"),
)

_BACKEND = """
import re
from pathlib import Path

def prepare_metadata_for_build_wheel(folder, config_settings=None):
    known = Path("PKG-INFO").read_text(encoding="utf-8")
    name, version = (re.search(f"^{key}: (.*)$", known, re.M)[1] for key in ("Name", "Version"))
    made = Path(folder, f"{name.replace('-', '_')}-{version}.dist-info")
    made.mkdir()
    made.joinpath("METADATA").write_text(f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
    return made.name

def build_wheel(*_arguments, **_options):
    raise NotImplementedError

class __legacy__:
    prepare_metadata_for_build_wheel = staticmethod(prepare_metadata_for_build_wheel)
    build_wheel = staticmethod(build_wheel)
"""


class SourceError(Exception):
    """A project could not be fetched or installed; the text says why."""


def fetched(project: Project, folder: Path) -> Path:
    """The folder of the unpacked sdist, below ``folder``.

    Raises:
        SourceError: there is none, or it is damaged.
    """
    backends = folder / "backends"
    _write_backends(backends)
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    requirement = f"{project.name}=={project.version}"
    target = folder / "sdist"
    _run(
        [*pip, "--no-build-isolation", "--use-pep517", "--no-cache-dir", "--dest", str(target), requirement],
        os.environ | {"PYTHONPATH": str(backends)},
    )
    (archive,) = target.iterdir()
    with tarfile.open(archive) as packed:
        packed.extractall(target, filter="data")
    archive.unlink()
    (source,) = target.iterdir()
    return source


def environment_of(project: Project, folder: Path) -> Path:
    """The interpreter of an environment with the release, what its tests need, and this ordeal with what it needs.

    It is made unless it is there.

    Raises:
        SourceError: something cannot be installed.
    """
    python = folder / "bin" / "python"
    done = folder / f"{project.name}-{project.version}"
    if not done.exists():
        _run([sys.executable, "-m", "venv", str(folder)])
        _run([str(python), "-m", "pip", "install", "--quiet", f"{project.name}=={project.version}", *project.needs])
        done.touch()
    # Hypothesis and pytest are those of this environment, which come after what the project brings.
    own = sysconfig.get_path("purelib")
    target = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    (target / "zz_ordeal.pth").write_text(f"import site; site.addsitedir({own!r})\n", encoding="utf-8")
    return python


def _write_backends(folder: Path) -> None:
    for backend in BACKENDS:
        at = folder
        for part in backend.split("."):
            at /= part
            at.mkdir(parents=True, exist_ok=True)
            (at / "__init__.py").touch()
        (at / "__init__.py").write_text(_BACKEND, encoding="utf-8")


def _run(command: list[str], environment: dict[str, str] | None = None) -> None:
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if result.returncode:
        lines = [line for line in result.stderr.splitlines() if line.startswith("ERROR")] or result.stderr.splitlines()
        raise SourceError(lines[-1].strip() if lines else f"{command[2]} ended with {result.returncode}")
