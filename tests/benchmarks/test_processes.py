"""Which processes come of which."""

import os
import subprocess
import time

from harness.processes import descendants_of, memory_of


def test_the_processes_of_a_process_are_found_with_theirs() -> None:
    with subprocess.Popen(["sh", "-c", "sleep 60 & echo $!; wait"], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        grandchild = int(child.stdout.readline())
        try:
            found = descendants_of(os.getpid())
            assert (1, child.pid) in found
            assert (2, grandchild) in found
            assert found.index((1, child.pid)) < found.index((2, grandchild))
            assert descendants_of(child.pid) == [(1, grandchild)]
            assert memory_of(grandchild) is not None
        finally:
            os.kill(grandchild, 9)
            child.wait()
    deadline = time.monotonic() + 300
    while descendants_of(child.pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert memory_of(child.pid) is None
