"""What the process does that ``interpreter`` asks: takes the request, before code of the user's can come between."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, BinaryIO


def private_streams(*closed: int) -> tuple[BinaryIO, BinaryIO]:
    """Return the streams for requests and answers, out of reach for code that prints or reads.

    The descriptors ``closed`` lead nowhere from then on.
    """
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in closed:
        os.dup2(nothing, stream)
    os.close(nothing)
    return requests, answers


def take_request() -> tuple[dict[str, Any], BinaryIO]:
    """Return the request on stdin, a line of JSON, and where its answer is written; import as its sender does.

    The request has the ``path`` of modules, and may have the ``arguments`` of the command line.
    """
    requests, answers = private_streams(0, 1, 2)
    request: dict[str, Any] = json.loads(requests.readline())
    sys.path[:] = request["path"]
    sys.argv[:] = request.get("arguments", sys.argv)
    return request, answers


def send_and_exit(answers: BinaryIO) -> None:
    """Send what was written and end the process, waiting for no exit handlers or threads of the code under test."""
    answers.flush()
    os._exit(0)
