"""Recorded answers in a simulated run: its services and child processes give them, and faults strike as anywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from ordeal._base.records_used import records
from ordeal.simulate.errors import EscapedSimulation, RecordDrift, RecordError
from ordeal.simulate.outside.declared import Command, Output, words_of
from ordeal.simulate.outside.http import Request, Response
from ordeal.simulate.recorded.record_file import to_bytes, to_text
from ordeal.simulate.recorded.recording import Recording


@contextmanager
def declared(world: Any, recording: Recording) -> Iterator[Recording]:
    """Declare to a world what was recorded.

    Raises:
        RecordError: nothing was recorded, or files, which nodes have on their disks.
    """
    if "files" in recording.kinds:
        hint = 'write them to the disk of a node: `node.disk.write("a", b"")`'
        raise RecordError("a simulated run does not read recorded files", hint=hint)
    recording.repeats = True  # faults have the program try again
    with records.replaying():
        entries = recording.open()
    urls = [urlsplit(each.request.get("url", "")) for each in entries if each.kind == "http"]
    for host, scheme in {each.netloc.rpartition("@")[2]: each.scheme for each in urls}.items():
        world.http(host, _escaping(world, _service(recording, f"{scheme}://{host}")))
    commands = [words_of(each.request.get("arguments", "")) for each in entries if each.kind == "process"]
    for program in dict.fromkeys(words[0] for words in commands if words):
        world.process(program, _escaping(world, lambda command: _ran(recording, command)))
    yield recording


def _escaping(world: Any, answer: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the function of an answer, which ends the run where a request was not recorded."""

    def answered(asked: Any) -> Any:
        try:
            return answer(asked)
        except RecordDrift as drift:
            loop = world._loop
            loop.escaped = loop.escaped or EscapedSimulation(drift.message, hint=drift.hint)
            raise

    return answered


def _service(recording: Recording, base: str) -> Any:
    def answer(request: Request) -> Response:
        url = f"{base}{request.path}{'?' if request.query else ''}{request.query}"
        asked = recording.ask_http(request.method, url, request.headers, request.body)
        if asked.entry.error is not None:
            raise ConnectionResetError(asked.entry.error.message)
        reply = asked.answer()
        # Of several headers of one name the last one counts here.
        headers = {name: values[-1] for name, values in reply.headers.items() if values}
        return Response(to_bytes(reply.body), reply.status, headers, asked.entry.seconds)

    return answer


def _ran(recording: Recording, command: Command) -> Output:
    parts = {"arguments": f"{command.program} {command.line}".strip(), "stdin": to_text(command.stdin)}
    asked = recording.ask("process", parts)
    reply = asked.answer()
    return Output(to_bytes(reply.body), to_bytes(reply.stderr), reply.status, asked.entry.seconds)
