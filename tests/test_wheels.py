"""The tool that builds wheels: what it says about versions, and what it takes from the quickstart. Nothing is built."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
import yaml

ROOT = Path(__file__).parent.parent


def load_tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("wheels", ROOT / "tools/wheels.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["wheels"] = module  # dataclasses look there for the module of a class
    spec.loader.exec_module(module)
    return module


TOOL = load_tool()


def test_a_version_that_is_not_here_is_named_and_fails_nothing() -> None:
    missing = TOOL.wheel_of("3.14", None, find=lambda _: None)
    assert str(missing) == "3.14   not built: no Python 3.14 was found here"
    assert TOOL.verdict([TOOL.Outcome("3.13", wheel="ordeal.whl"), missing]) == 0


def test_no_wheel_at_all_is_a_failure() -> None:
    assert TOOL.verdict([TOOL.wheel_of("3.14", None, find=lambda _: None)]) == 1


def test_one_bad_wheel_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> Path:
        raise TOOL.StepFailed("auditwheel ended with 1")

    monkeypatch.setattr(TOOL, "build", refuse)
    bad = TOOL.wheel_of("3.13", None, find=lambda _: sys.executable)
    assert str(bad) == "3.13   FAILED: auditwheel ended with 1"
    assert TOOL.verdict([TOOL.Outcome("3.12", wheel="ordeal.whl"), bad]) == 1


def test_a_wheel_that_is_too_large_is_a_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wheel = tmp_path / "ordeal.whl"
    wheel.write_bytes(b"12345")
    monkeypatch.setattr(TOOL, "build", lambda *_: wheel)
    monkeypatch.setattr(TOOL, "try_quickstart", lambda *_: None)
    assert not TOOL.wheel_of("3.13", None, find=lambda _: sys.executable).trouble
    monkeypatch.setattr(TOOL, "BYTES_MAX", 4)
    bad = TOOL.wheel_of("3.13", None, find=lambda _: sys.executable)
    assert bad.trouble == "ordeal.whl has 5 bytes, more than 4"


def test_a_command_that_ends_otherwise_tells_what_it_printed() -> None:
    with pytest.raises(TOOL.StepFailed, match="ended with 3, not 0:\nno luck"):
        TOOL.run([sys.executable, "-c", "print('no luck'); raise SystemExit(3)"])


def test_the_files_of_the_quickstart_are_those_that_it_says_to_save() -> None:
    files = TOOL.quickstart_files((ROOT / "docs/guides/quickstart.md").read_text("utf-8"))
    assert set(files) == {"booking.py", "test_booking.py", "ordeal.toml"}
    compile(files["booking.py"], "booking.py", "exec")
    assert "class ShowChaos" in files["test_booking.py"]
    assert tomllib.loads(files["ordeal.toml"])["tests"] == [{"class": "test_booking:ShowChaos"}]


def test_what_it_expects_is_what_the_quickstart_shows() -> None:
    assert TOOL.FINDING in (ROOT / "docs/guides/quickstart.md").read_text("utf-8")


def test_nothing_of_this_checkout_reaches_the_empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "python"))
    monkeypatch.setenv("VIRTUAL_ENV", str(ROOT))
    assert not {"PYTHONPATH", "VIRTUAL_ENV"} & set(TOOL.alone())


def test_the_release_builds_the_same_versions() -> None:
    text = (ROOT / ".github/workflows/release.yml").read_text("utf-8")
    steps = yaml.safe_load(text)["jobs"]["wheels"]["steps"]
    versions = next(step["with"]["python-version"] for step in steps if "setup-python" in step.get("uses", ""))
    assert set(versions.split()) == set(TOOL.VERSIONS)
    assert any("tools/wheels.py" in step.get("run", "") for step in steps)
    assert any("attest-build-provenance" in step.get("uses", "") for step in steps)
    assert "was not run" in text.splitlines()[0]
