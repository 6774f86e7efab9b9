"""Whether mutants that do harm change a file of the user's, or leave a process, wherever `ordeal mutate` judges them.

usage: python benchmarks/mutation_harm.py [--way WAY]... [--sample N]

A made program has one function for each kind of harm: to delete, move, cut, write, chmod and replace files in the
project, next to it, in the home folder and in that of temporary files; to signal, fork and start servers; to fill the
disk, to eat memory, to open sockets. Each harm stands behind a condition that no test makes true; mutants of the
condition do. The same program does each harm at import, behind other conditions. Between them stand harmless functions,
whose mutants all die: those that survive were judged next to too much harm.

All of it runs in namespaces of mounts and processes, with a disk of 256 MB in memory, which shares no blocks between
files: nothing of it may reach the machine.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.report import command, host, table

import ordeal

#: To a file `f` below each of several folders.
FILES = {
    "delete": "f.unlink()",
    "move": "f.rename(f.with_name('moved'))",
    "cut": "os.truncate(f, 0)",
    "write": "f.write_text('gone')",
    "append": "print('gone', file=f.open('a'))",
    "chmod": "f.chmod(0)",
    "touch": "os.utime(f, (1, 1))",
    "link": "f.unlink(); f.symlink_to('/dev/null')",
    "hard link": "os.link(f, 'linked'); Path('linked').write_text('gone')",
    "replace": "Path('other').write_text('gone'); os.replace('other', f)",
    "copy": "shutil.copy(__file__, f)",
    "shell": "subprocess.run(['sh', '-c', f'echo gone > {f}'])",
    "neighbour": "f.with_name('new').mkdir()",
    "tree": "shutil.rmtree(f.parent)",
}
FOLDERS = {"here": ".", "project": "ROOT", "outside": "OUTSIDE", "home": "HOME", "temporary": "TEMPORARY"}
OTHERS = {
    "everyone": "os.kill(-1, signal.SIGKILL)",
    "everyone is asked": "os.kill(-1, signal.SIGTERM)",
    "group": "os.killpg(0, signal.SIGKILL)",
    "parent": "os.kill(os.getppid(), signal.SIGKILL)",
    "parent stops": "os.kill(os.getppid(), signal.SIGSTOP)",
    "bystander": "os.kill(BYSTANDER, signal.SIGKILL)",
    "itself": "os.kill(os.getpid(), signal.SIGSTOP)",
    "fork": "os.fork()",
    "forks": "[os.fork() for _ in range(5)]",
    "daemon": "os.fork() or (os.setsid(), os.fork() or time.sleep(1000))",
    "deaf daemon": "os.fork() or (signal.signal(signal.SIGTERM, signal.SIG_IGN), os.setsid(), time.sleep(1000))",
    "server": "subprocess.Popen([sys.executable, '-m', 'http.server', '0'], start_new_session=True)",
    "shell server": "os.system('setsid sleep 1000 &')",
    "socket server": "os.fork() or (socket.create_server(('127.0.0.1', 0)).accept())",
    "sockets": "KEPT.extend(socket.socket() for _ in range(2000))",
    "memory": "KEPT.extend(bytearray(1 << 24) for _ in range(1000))",
    "one file": "Path('full').write_bytes(bytes(1 << 28))",
    "disk": "[Path(f'full{n}').write_bytes(bytes(1 << 24)) for n in range(30)]",
    "temporary disk": "[Path(tempfile.mkdtemp(), 'full').write_bytes(bytes(1 << 24)) for n in range(30)]",
    "files": "[Path(f'many{n}').touch() for n in range(3000)]",
    "Python": "Path(os.__file__).write_text('gone')",
    "device": "os.mknod('null', 0o600)",
    "unmount": "os.system('umount -a 2>&1')",
    "mount": "os.system('mount -t tmpfs none ' + str(OUTSIDE))",
    "exit": "os._exit(0)",
    "database": "sqlite3.connect(Path(OUTSIDE, 'new.db')).execute('create table t (a)')",
    "socket file": "socket.socket(socket.AF_UNIX).bind(str(Path(OUTSIDE, 'socket')))",
    "pipe": "os.mkfifo(Path(HOME, 'pipe'))",
    "group of others": "os.setpgid(0, 0); os.killpg(BYSTANDER, signal.SIGINT)",
    "threads": "[threading.Thread(target=time.sleep, args=(1000,), daemon=True).start() for _ in range(50)]",
}
HARMS = {f"{what} {where}": f"f = Path({folder}, 'kept'); {FILES[what]}" for what in FILES for where, folder in
         ((where, repr(each) if each == "." else each) for where, each in FOLDERS.items())} | OTHERS  # fmt: skip
_READ_ONLY = "read-only install"
WAYS = {"namespaces": {}, "copy": {"ORDEAL_MUTATE_COPY": "1"}, _READ_ONLY: {}}
_INSIDE = "ORDEAL_HARM_INSIDE"
_DISK_MIB = 256


def program(names: str) -> str:
    """Return the program that does harm."""
    modules = "os, shutil, signal, socket, sqlite3, subprocess, sys, tempfile, threading, time"
    parts = [f"import {modules}\nfrom pathlib import Path\n{names}\nKEPT = []\nlevel = len(KEPT) + 6\n"]
    for number, harm in enumerate(HARMS.values()):
        parts.append(f"def harm{number}(kind):\n    if kind > 6 or kind < 6:\n        {harm}\n    return kind\n")
        parts.append(f"def plain{number}(kind):\n    return kind + {number}\n")
        parts.append(f"if level > 6 or level < 6:\n    {harm}\n")
    return "\n".join(parts)


def tests() -> str:
    """Return its tests: each calls a harmless function as well, and one reads a file."""
    lines = ["from pathlib import Path\nimport program\n"]
    for number in range(len(HARMS)):
        lines.append(f"def test_harm{number}(): assert program.harm{number}(6) == 6")
        lines.append(
            f"def test_plain{number}(): assert program.plain{number}(1) == {number + 1} and Path('kept').exists()"
        )
    return "\n".join(lines)


def states(*folders: Path) -> dict[str, tuple[object, ...]]:
    """Return what can be known of each file: those of Python by their size, mode and time, others by their bytes."""
    return {str(path): state for folder in folders for path, state in _states(folder)}


def _states(folder: Path) -> Iterator[tuple[Path, tuple[object, ...]]]:
    for path in (folder, *folder.rglob("*")):
        if {".ordeal", "__pycache__"}.isdisjoint(path.parts) and path.name != ".gitignore":
            found = path.lstat()
            text = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
            # A folder's time changes as ordeal makes its own in it.
            yield path, (found.st_mode, found.st_size, text, found.st_mtime_ns if path.is_file() else 0)


def does_harm(mutant: dict[str, Any]) -> bool:
    """Return True if a mutant makes the condition of a harm true."""
    line = str(mutant["diff"]).rpartition("\n+ ")[2].strip()
    return line.startswith("if ") and bool(eval(line[3:-1], {"kind": 6, "level": 6}))


def processes() -> set[int]:
    """Return all processes of this namespace."""
    return {int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit()}


def measured(way: str, place: Path, sample: int) -> tuple[list[str], list[str]]:
    """Judge the program, and return a row and what is no longer as it was."""
    folder, outside, home, temporary = (place / name for name in ("project", "outside", "home", "temporary"))
    for each in (folder, outside, home, temporary):
        each.mkdir()
        (each / "kept").write_text("kept")
    with (folder / "large").open("wb") as sparse:
        sparse.truncate(1 << 30 if way == "copy" else 5 << 30)
    with subprocess.Popen(["sleep", "10000"], start_new_session=True) as bystander:
        names = f"ROOT, OUTSIDE, HOME, TEMPORARY = map(Path, {[*map(str, (folder, outside, home, temporary))]})\n"
        (folder / "program.py").write_text(program(f"{names}BYSTANDER = {bystander.pid}"))
        (folder / "test_program.py").write_text(tests())
        watched = outside, home, temporary, Path(os.__file__).parent
        kept = [each for each in folder.iterdir() if each.name != "large"]
        before, living = states(*watched, *kept), processes()
        environment = {**os.environ, **WAYS[way], "HOME": str(home), "TMPDIR": str(temporary)}
        line = [sys.executable, "-m", "ordeal", "mutate", "program.py", "--json", "--no-cache", "--memory", "256"]
        line += ["--operators", "comparison,negate,boundary", "--pass", "large"]
        line += ["--sample", str(sample)] if sample else []
        done = subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        left = processes() - living
        after = states(*watched, *(each for each in folder.iterdir() if each.name != "large"))
        has_killed = bystander.poll() is not None
        bystander.kill()
    changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    try:
        mutants = json.loads(done.stdout)["mutants"]
    except (ValueError, KeyError):
        print(done.stdout[-2000:], done.stderr[-2000:], file=sys.stderr)
        return [way, "no verdicts"], changed
    words = Counter(each["verdict"] for each in mutants)
    wrong = [f"{each['line']}: {each['verdict']}" for each in mutants if each["name"].startswith("plain")
             and each["verdict"] not in ("killed", "timeout")]  # fmt: skip
    shown = " ".join(f"{word} {count}" for word, count in words.most_common())
    harmful = sum(map(does_harm, mutants))
    row = [way, f"{harmful} of {len(mutants)}", shown, str(len(changed)), str(len(left) + has_killed), str(len(wrong))]
    return row, [*changed, *wrong]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--way", action="append", choices=WAYS)
    parser.add_argument("--sample", type=int, default=0)
    given = parser.parse_args()
    if _INSIDE not in os.environ:
        inside = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", sys.executable, *sys.argv]
        return subprocess.run(inside, env={**os.environ, _INSIDE: "1"}, check=False).returncode
    rows, found = [], list[str]()
    for way in given.way or WAYS:
        disk = ["mount", "-t", "tmpfs", "-o", f"size={_DISK_MIB}m", "tmpfs", tempfile.gettempdir()]
        subprocess.run(disk, check=True)
        for folder in {sys.prefix, sys.base_prefix, str(Path(ordeal.__file__).parent)} if way == _READ_ONLY else ():
            subprocess.run(["mount", "--bind", "-o", "ro", folder, folder], check=True)
        row, more = measured(way, Path(tempfile.gettempdir()), given.sample)
        rows.append(row)
        found += [f"{way}: {each}" for each in more]
    header = ["way", "that do harm", "verdicts", "files changed", "processes left or ended", "harmless that lived"]
    print(f"{host()}\n`{command()}`\n\n{table(header, rows)}")
    print("\n".join(found), file=sys.stderr)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
