"""What mutants do to files and processes is gone with them, with namespaces and in a copy."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest
from tests.unit._tools.mutation.test_own_process import ends

from ordeal._tools.mutation import sandbox as module
from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.running import judge_with_pytest
from ordeal._tools.mutation.sandbox import COPIES, NoVerdictError, can_isolate, end_all, sandbox
from ordeal._tools.mutation.source import Source

HARMS = {
    "tree": "shutil.rmtree(Path(__file__).parent, ignore_errors=True)",
    "here": "[os.remove(each) for each in os.listdir() if os.path.isfile(each)]",
    "home": "shutil.rmtree(Path.home(), ignore_errors=True)",
    "temporary": "shutil.rmtree(tempfile.gettempdir(), ignore_errors=True)",
    "truncate": "os.truncate('test_shop.py', 0)",
    "mode": "[os.chmod(each, 0) for each in Path('.').rglob('*')]",
    "rename": "os.rename('data', 'moved')",
    "link": "Path('data/out/kept').write_text('gone')",
    "group": "os.kill(0, signal.SIGKILL)",
    "server": "subprocess.Popen(['sleep', MARK], start_new_session=True)",
    "daemon": "os.fork() or (os.setsid(), os.fork() or os.execvp('sleep', ['sleep', MARK]))",
    "full": "Path('full').write_bytes(bytes(200 << 20))",
    "outside": "Path(OUTSIDE, 'kept').write_text('gone')",
    "cut": "os.truncate(Path(OUTSIDE, 'kept'), 0)",
    "moved": "os.rename(OUTSIDE, OUTSIDE + '2')",
    "new": "Path(OUTSIDE, 'new').mkdir()",
    "modes": "os.chmod(Path(OUTSIDE, 'kept'), 0)",
    "times": "os.utime(os.open(Path(OUTSIDE, 'kept'), os.O_RDONLY), (1, 1))",
    "absolute": "shutil.rmtree(ROOT)",
    "parent": "os.kill(os.getppid(), signal.SIGKILL)",
    "bystander": "os.kill(int(Path(OUTSIDE, 'pid').read_text()), signal.SIGKILL)",
}
#: Not without namespaces: where Landlock is missing, these would end all that runs here, and Python with it.
HARMS_ISOLATED = {
    "everyone": "os.kill(-1, signal.SIGKILL)",
    "installed": "Path(os.__file__).write_text('gone')",
}
PROGRAM = """
import os, shutil, signal, subprocess, sys, tempfile
from pathlib import Path
def harm(kind):
    HARM
    return kind + 1
"""


def _states(folder: Path) -> dict[str, tuple[int, int, int, bytes]]:
    """Return what can be known of each file below a folder."""
    return {
        str(path): (
            (at := path.lstat()).st_mode,
            at.st_size,
            at.st_mtime_ns,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize("way", ["isolated", "copied"])
def test_a_mutant_that_does_harm_changes_nothing_outside(
    way: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, outside = (tmp_path_factory.mktemp(name) for name in ("project", "outside"))
    mark = f"9{os.getpid()}"
    if way == "copied":
        monkeypatch.setenv(COPIES, "1")
    (outside / "kept").write_text("kept")
    (folder / "data").mkdir()
    (folder / "data" / "out").symlink_to(outside)
    (folder / "data" / "x").write_text("x")
    with sandbox(folder) as here:
        assert here.is_isolated == (way == "isolated")
    harms = HARMS | (HARMS_ISOLATED if way == "isolated" else {})
    lines = "".join(f"    if kind == {number}: {harm}\n" for number, harm in enumerate(harms.values()))
    names = f"MARK, OUTSIDE, ROOT = {mark!r}, {str(outside)!r}, {str(folder)!r}\n"
    # Each mutant calls with another number: 40 becomes one of those that do harm.
    (folder / "shop.py").write_text(f"{PROGRAM.replace('    HARM', lines)}{names}\ndef call():\n    return harm(40)\n")
    (folder / "test_shop.py").write_text("import shop\ndef test_it(): assert shop.call() == 41\n")
    source = Source.of(folder / "shop.py", "shop.py")
    constant = next(each for each in mutants_of(source, ["boundary"]) if each.name == "call")
    numbers = range(len(harms))
    mutants = [replace(constant, replacement=str(each), id=f"{each:012}") for each in numbers]
    with subprocess.Popen(["sleep", "60"]) as bystander:
        (outside / "pid").write_text(str(bystander.pid))
        before, home = _states(folder.parent), {*Path.home().iterdir()}
        found = judge_with_pytest([source], mutants, tests=[], folder=folder, workers=2, memory=64).verdicts
        assert bystander.poll() is None
        bystander.kill()
    assert ends(mark)
    assert (_states(folder.parent), {*Path.home().iterdir()}) == (before, home)
    words = dict(zip(harms, (each.word for each in found), strict=True))
    assert not {"survived", "uncovered", "not run"} & {*words.values()}, words


def test_a_judge_that_is_lost_gives_no_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(COPIES, "plain")
    (tmp_path / "shop.py").write_text(
        "import os\ndef f(a):\n    os.kill(os.getppid(), 0)\n    return a + 1\ndef g(a):\n    return a + 1\n"
    )
    (tmp_path / "test_shop.py").write_text(
        "from shop import f, g\ndef test_f(): assert f(1) == 2\ndef test_g(): assert g(1) == 2\n"
    )
    source = Source.of(tmp_path / "shop.py", "shop.py")
    made = mutants_of(source, ["arithmetic", "boundary"])
    mutants = [replace(each, replacement="9") if each.line == 3 else each for each in made][1:]
    found = judge_with_pytest([source], mutants, tests=[], folder=tmp_path, workers=2).verdicts
    assert {each.word for each in found if each.mutant.line == 3} == {"not run"}
    assert {each.word for each in found if each.mutant.line != 3} <= {"killed", "not run"}


def _run(folder: Path, code: str, passed: tuple[str, ...] = ()) -> tuple[int, str]:
    """Run Python in a sandbox, and return its exit code and what it writes to the file ``said``."""
    with sandbox(folder, passed) as here:
        said = here.place / "said"
        process = here.start([sys.executable, "-c", dedent(code)], {"SAID": str(said)}, {})
        try:
            return process.wait(60), said.read_text() if said.exists() else ""
        finally:
            end_all(process)


@pytest.fixture(params=["isolated", "copied"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "copied":
        monkeypatch.setenv(COPIES, "1")
    return str(request.param)


SAYS = "import os, pathlib; say = pathlib.Path(os.environ['SAID']).write_text\n"


@pytest.mark.usefixtures("way")
def test_a_folder_of_a_repository_sees_all_of_it(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "above.txt").write_text("above")
    (tmp_path / "inner").mkdir()
    assert _run(tmp_path / "inner", f"{SAYS}say(open('../above.txt').read())") == (0, "above")


@pytest.mark.usefixtures("way")
def test_home_is_empty_except_for_what_is_passed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home" / ".aws").mkdir(parents=True)
    (tmp_path / "home" / ".aws" / "key").write_text("key")
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    code = f"{SAYS}home = pathlib.Path.home()\nsay(' '.join(os.listdir(home)) + (home / '.aws/key').read_text())"
    assert _run(tmp_path / "project", code, ("HOME/.aws",)) == (0, ".awskey")


@pytest.mark.usefixtures("way")
def test_what_is_installed_for_editing_is_that_of_the_sandbox(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "shop.py").write_text("NAME = __file__")
    code = f"""
        import os, pathlib, site, sys
        say = pathlib.Path(os.environ['SAID']).write_text
        from ordeal._tools.mutation.interpreters.sitecustomize import TREE, move_imports
        sys.path.append({str(tmp_path / "src")!r})
        if TREE in os.environ: move_imports(*os.environ[TREE].split("\\n"))
        import shop
        pathlib.Path(shop.NAME).write_text("gone")
        say("done")
    """
    assert _run(tmp_path, code) == (0, "done")
    assert (tmp_path / "src" / "shop.py").read_text() == "NAME = __file__"


def test_a_copy_is_bounded_and_leaves_out_what_is_passed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(COPIES, "1")
    monkeypatch.setattr(module, "COPY_BYTES_MAX", 1 << 20)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "large").write_bytes(bytes(2 << 20))
    (tmp_path / "loop").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NoVerdictError, match="too much to copy") as raised, sandbox(tmp_path):
        pass
    assert "pass = " in str(raised.value.hint)
    with sandbox(tmp_path, ["data"]) as here:
        assert Path(here.seen(tmp_path / "data")).is_symlink()
        assert not Path(here.seen(tmp_path / "pipe")).exists()


def test_a_test_that_a_copy_refuses_is_set_apart_and_the_others_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(COPIES, "1")
    (tmp_path / "shop.py").write_text("def f(a):\n    return a + 1\n")
    (tmp_path / "test_shop.py").write_text(
        "import os\nfrom shop import f\n"
        "def test_f(): assert f(1) == 2\ndef test_parent(): assert f(1) == 2 and os.kill(os.getppid(), 0) is None\n"
    )
    source = Source.of(tmp_path / "shop.py", "shop.py")
    judgement = judge_with_pytest([source], mutants_of(source, ["arithmetic"]), tests=[], folder=tmp_path, workers=2)
    assert [each.word for each in judgement.verdicts] == ["killed"]
    assert judgement.flaky == ["test_shop.py::test_parent"]


@pytest.mark.parametrize("is_named", [True, False])
def test_outside_a_copy_only_a_folder_that_is_named_is_written(
    is_named: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(COPIES, "1")
    for name in ("project", "state"):
        (tmp_path / name).mkdir()
    with sandbox(tmp_path / "project", [str(tmp_path / "state")] if is_named else []) as here:
        here.start(["touch", str(tmp_path / "state" / "new")], {}, {}).wait()
    assert (tmp_path / "state" / "new").exists() == is_named


def test_what_fills_the_disk_of_a_copy_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(COPIES, "1")
    (tmp_path / "kept").write_text("kept")
    with sandbox(tmp_path) as here:
        kept, *filled = (Path(here.scratch, name) for name in ("tree/kept", "tree/full", "tmp/full", "home/full"))
        for each in filled:
            each.write_text("full")
        for free, left in (0, filled), (1 << 60, []):
            monkeypatch.setattr(module._Current, "free", free)
            module.free_disk(here)
            assert [each for each in (kept, *filled) if each.exists()] == [kept, *left]


def test_nothing_of_a_sandbox_is_left(tmp_path: Path) -> None:
    with sandbox(tmp_path) as here:
        assert Path(here.scratch).is_dir()
    assert not Path(here.scratch).exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root may become another user")
def test_another_user_is_isolated_without_rights_of_its_own(tmp_path: Path) -> None:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.setgid(65534)
            os.setuid(65534)
            ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # as a process of that user is: it may write to its own /proc
            with sandbox(Path("/usr")) as here:
                code = 0 if can_isolate(here) else 3
        finally:
            os._exit(code)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status == 0, signal.Signals(-status) if status < 0 else status


def test_what_a_killed_run_has_left_is_removed_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left = tmp_path / "ordeal-mutate-left"
    left.mkdir()
    os.utime(left, (0, 0))
    with sandbox(tmp_path) as used:
        os.utime(used.scratch, (0, 0))
        with sandbox(tmp_path):
            assert Path(used.scratch).exists()
            assert not left.exists()
