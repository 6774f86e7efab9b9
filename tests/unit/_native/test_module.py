"""Where the extension can be imported."""

from __future__ import annotations

import subprocess
import sys

#: An interpreter with the GIL of the main one. Python itself keeps the extension out of those with their own.
PROGRAM = """
try:
    import _interpreters as interpreters
    other = interpreters.create("legacy")
except ImportError:
    import _xxsubinterpreters as interpreters
    other = interpreters.create(isolated=False)
interpreters.run_string(other, '''
try:
    import ordeal._native
except ImportError as error:
    print(error)
''')
"""


def test_a_sub_interpreter_is_refused_what_a_process_has_once() -> None:
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert "in a sub-interpreter" in ended.stdout or "subinterpreters" in ended.stdout
