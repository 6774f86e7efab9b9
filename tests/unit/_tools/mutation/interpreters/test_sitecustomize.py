"""What an interpreter that a judged test starts imports, says of itself, and begins with besides."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from ordeal._tools.mutation.interpreters import sitecustomize


def test_an_interpreter_meets_the_mutant_says_its_lines_and_begins_as_it_would_have(tmp_path: Path) -> None:
    shop = tmp_path / "shop.py"
    shop.write_text("def f(a):\n    return a + 1\n")
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.begun = 'as ever'\n")
    mutant, lines = tmp_path / "mutant", tmp_path / "lines"
    mutant.write_bytes(os.fsencode(shop.resolve()) + b"\ndef f(a):\n    return a - 1\n")
    environment = {
        "PYTHONPATH": os.pathsep.join([str(Path(sitecustomize.__file__).parent), str(tmp_path)]),
        sitecustomize.LINES: str(lines),
        sitecustomize.WATCHED: str(shop.resolve()),
        sitecustomize.MUTANT: str(mutant),
    }
    line = [sys.executable, "-c", "import sys, shop; print(shop.f(1), sys.begun)"]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("0 as ever\n", "")
    assert {each.split(" ", 1)[1] for each in lines.read_text().splitlines()} == {f"1 {shop}", f"2 {shop}"}
