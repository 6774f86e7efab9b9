"""The dashboard: who may ask, what the addresses answer, what hostile files and names cannot do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ordeal._engine.runs.events import (
    SCHEMA_VERSION,
    ClassStarted,
    Event,
    Found,
    Health,
    NewEdges,
    Progress,
    RunStatus,
    SessionBegun,
    Shrunk,
)
from ordeal._report.dashboard.app import make_app
from ordeal.result.parts import WorkerProgress

TOKEN, PORT = "secret-token", 4711
RUN = "20261123-014300-4711"
HOSTILE = "<script>alert(1)</script>"
# No process has so high a number.
DEAD_PID = 2**30


@dataclass
class Answer:
    code: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with one run, whose process was killed while it wrote."""
    folder = tmp_path / "runs" / RUN
    folder.mkdir(parents=True)
    progress = Progress(
        elapsed=1.0, runs=10, steps=100, edges=7, checkpoints=3, findings=1, runs_per_second=9.5, next_run_max=0.01
    )
    events: list[Event] = [
        SessionBegun(
            elapsed=0.0,
            schema_version=SCHEMA_VERSION,
            run_id=RUN,
            started="2026-11-23T01:43:00+00:00",
            version="0.1.0",
            classes=["a:Shop"],
            options={"seed": 42},
        ),
        ClassStarted(elapsed=0.0, test_class="a:Shop"),
        NewEdges(elapsed=0.5, runs=3, edges=5),
        Found(elapsed=0.6, id="f1ad5ed00880", bucket="b", error=f"AssertionError: {HOSTILE}", run_id=3, steps=12),
        Health(elapsed=0.7, message=f"note {HOSTILE}"),
        progress,
    ]
    lines = b"".join(msgspec.json.encode(event) + b"\n" for event in events)
    (folder / "events.ndjson").write_bytes(lines + b'{"type":"progress","elap')
    (folder / "status.json").write_bytes(msgspec.json.encode(status()))
    return folder.parent


def status() -> RunStatus:
    return RunStatus(
        schema_version=SCHEMA_VERSION,
        run_id=RUN,
        state="running",
        started="2026-11-23T01:43:00+00:00",
        pid=DEAD_PID,
        elapsed=1.0,
        test_class="a:Shop",
        classes=["a:Shop"],
        classes_done=0,
        runs=10,
        steps=100,
        edges=7,
        lines=0,
        checkpoints=3,
        runs_per_second=9.5,
        next_run_max=0.01,
        findings=[],
        findings_total=1,
        workers=[WorkerProgress(runs=8, steps=80, ended=0), WorkerProgress(runs=2, steps=20, ended=3)],
    )


def ask(
    runs: Path,
    path: str,
    *,
    token: str = TOKEN,
    host: str = f"127.0.0.1:{PORT}",
    method: str = "GET",
    origin: str = "",
) -> Answer:
    """What the dashboard answers a browser."""
    headers = [(b"host", host.encode()), *([(b"origin", origin.encode())] if origin else [])]
    whole = f"/{token}{path}"
    scope = {"type": "http", "method": method, "path": whole, "raw_path": whole.encode(), "headers": headers}
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(make_app(runs, TOKEN, PORT)({**scope, "query_string": b"", "root_path": ""}, receive, send))
    body = b"".join(message.get("body", b"") for message in sent[1:])
    return Answer(sent[0]["status"], {key.decode(): value.decode() for key, value in sent[0]["headers"]}, body)


class TestGuard:
    def test_the_address_with_the_token_answers(self, runs: Path) -> None:
        assert ask(runs, "/").code == 200
        assert ask(runs, "/", host=f"localhost:{PORT}").code == 200

    @pytest.mark.parametrize("token", ["", "x", f"{TOKEN}x", TOKEN[:-1], "\udcff".encode("utf-8", "replace").decode()])
    def test_a_wrong_token_is_refused(self, runs: Path, token: str) -> None:
        refused = ask(runs, "/", token=token)
        assert refused.code == 403
        assert TOKEN not in refused.text

    @pytest.mark.parametrize("host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1", ""])
    def test_another_name_for_this_machine_is_refused(self, runs: Path, host: str) -> None:
        assert ask(runs, "/", host=host).code == 421

    def test_a_page_of_somebody_else_is_refused(self, runs: Path) -> None:
        assert ask(runs, "/", origin="https://evil.example").code == 403
        assert ask(runs, "/", origin=f"http://127.0.0.1:{PORT}").code == 200

    @pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
    def test_it_changes_nothing(self, runs: Path, method: str) -> None:
        assert ask(runs, "/", method=method).code == 405

    def test_no_page_may_load_or_tell_anything_elsewhere(self, runs: Path) -> None:
        headers = ask(runs, "/").headers
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"


class TestPages:
    def test_the_list_says_that_a_run_was_killed(self, runs: Path) -> None:
        page = ask(runs, "/").text
        assert f'href="runs/{RUN}"' in page
        assert "killed" in page

    def test_a_run_has_its_age_and_its_command(self, runs: Path) -> None:
        page = ask(runs, "/").text
        assert " ago</a>" in page
        assert '<code class="command">ordeal explore' in page

    def test_a_run_without_searches_says_what_to_type(self, tmp_path: Path) -> None:
        assert "ordeal explore" in ask(tmp_path, "/").text

    def test_a_run_that_was_killed_can_be_read(self, runs: Path) -> None:
        page = ask(runs, f"/runs/{RUN}").text
        assert "1 finding, killed" in page
        assert "<b>10</b> runs" in page
        assert "f1ad5ed00880" in page
        assert "not shrunk yet" in page
        assert "ordeal view" not in page, "nothing is saved yet"

    def test_texts_of_the_program_are_texts(self, runs: Path) -> None:
        page = ask(runs, f"/runs/{RUN}").text
        assert HOSTILE not in page
        assert "&lt;script&gt;" in page

    def test_what_was_shrunk_takes_the_place_of_what_was_found(self, runs: Path) -> None:
        events = runs / RUN / "events.ndjson"
        shrunk = Shrunk(
            elapsed=2.0, id="00ff", error="E", steps=4, count=9, flaky=False, faults=["slow"], place="a.py:3"
        )
        events.write_bytes(events.read_bytes().rpartition(b"\n")[0] + b"\n" + msgspec.json.encode(shrunk) + b"\n")
        page = ask(runs, f"/runs/{RUN}/main").text
        assert "a.py:3" in page
        assert "f1ad5ed00880" not in page.partition("<figure>")[0]

    def test_each_page_is_there_as_json(self, runs: Path) -> None:
        assert json.loads(ask(runs, "/runs.json").body)[0]["state"] == "killed"
        assert json.loads(ask(runs, f"/runs/{RUN}/status.json").body)["runs"] == 10
        assert len(json.loads(ask(runs, f"/runs/{RUN}/events.json").body)) == 6
        assert ask(runs, f"/runs/{RUN}/result.json").code == 404

    def test_workers_are_compared_and_their_crashes_counted(self, runs: Path) -> None:
        page = ask(runs, f"/runs/{RUN}").text
        table = page[page.index('<h2 id="workers">') :]
        assert "Crashes" in table
        assert '<td class="number bad">3</td>' in table

    def test_a_damaged_result_is_said_to_be_damaged(self, runs: Path) -> None:
        (runs / RUN / "result.json").write_text('{"results": [{}]}', "utf-8")
        assert ask(runs, f"/runs/{RUN}/report").code == 500


class TestPaths:
    @pytest.mark.parametrize("name", ["..", "../..", "%2e%2e", ".", "latest", "20261123-014300-1", "../runs", "/etc"])
    def test_only_runs_have_pages(self, runs: Path, name: str) -> None:
        assert ask(runs, f"/runs/{name}/status.json").code == 404

    def test_a_link_out_of_the_folder_is_not_followed(self, runs: Path, tmp_path: Path) -> None:
        secret = tmp_path / "secret.html"
        secret.write_text("secret", "utf-8")
        (runs / RUN / "report.html").symlink_to(secret)
        assert "secret" not in ask(runs, f"/runs/{RUN}/report").text
        (runs / "20261123-014300-9").symlink_to(tmp_path)
        assert ask(runs, "/runs/20261123-014300-9/report").code == 404
