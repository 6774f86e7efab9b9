"""Who asks the warm interpreter for a command hears that it has ended, however soon that is."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

from tests.warm_python import WarmPython


def test_a_command_that_ends_before_anybody_looks_has_ended(tmp_path: Path) -> None:
    place = str(tmp_path / "socket")

    def answer() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(1024)
            connection.sendall(b"123\n[-9, 0.5]\n")  # its number and its end at once
            connection.recv(1024)

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place)
        listener.listen(1)
        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        python = WarmPython(place)
        assert python.start({"arguments": []}) == 123
        assert python.has_ended(10.0)
        assert python.code() == -9
        python.close()
        thread.join()
