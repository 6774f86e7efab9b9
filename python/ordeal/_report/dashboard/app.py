"""The application of the dashboard: who may ask, what each address answers, and the stream that says when to look.

It answers only with the token in the address, to a browser on this machine, and changes nothing. It runs no code of the
user's: what it shows is data from files.
"""

from __future__ import annotations

import asyncio
import hmac
import importlib
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from pathlib import Path
from typing import Any

import msgspec

from ordeal._base.formatting import printable
from ordeal._base.regular_file import read_regular
from ordeal._engine.parallel.fleet.board import Record
from ordeal._engine.runs.folder import EVENTS_BYTES_MAX, read_events, read_result, read_status, run_folders
from ordeal._report.dashboard.fleets import Fleets, fleet_values
from ordeal._report.dashboard.pages import list_values, run_values, runs_version, version_of
from ordeal._report.html.page import TEMPLATES as REPORT_TEMPLATES
from ordeal._report.html.page import render_page
from ordeal.errors import StoreError

TEMPLATES = Path(__file__).parent / "templates"
#: How often the files of a run that is shown are looked at, in seconds.
INTERVAL_SECONDS = 1.0
#: A line without meaning after so many looks tells whether anybody still listens.
LOOKS_PER_SIGN = 15
#: The records of a fleet, which may be on another machine, are read again with each so many of these looks.
FLEET_LOOKS = 2
#: More streams than a person has windows.
STREAMS_MAX = 32
_REPORT = "report.html"
_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class Guard:
    """Stands before the application: refuses who has no token, comes by another name, or wants to change something.

    A page of somebody else may have its own name lead to this machine. A browser then still sends that name as Host.
    """

    def __init__(self, inner: Application, token: str, port: int) -> None:
        self._inner, self._token = inner, token
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is allowed, without the token."""
        if scope["type"] != "http":
            return
        refused = self._refused(scope)
        if refused:
            await _send_text(send, *refused)
            return
        rest = scope["path"].removeprefix(f"/{self._token}")
        await self._inner(
            {**scope, "path": rest, "raw_path": rest.encode(), "root_path": ""}, receive, _with_headers(send)
        )

    def _refused(self, scope: Scope) -> tuple[int, str] | None:
        headers: dict[bytes, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value.decode("latin-1"))
        hosts = headers.get(b"host", [])
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return 421, "This is not the dashboard of that host."
        if any(origin not in {f"http://{host}" for host in self._hosts} for origin in headers.get(b"origin", [])):
            return 403, "The dashboard answers only its own pages."
        if scope["method"] not in ("GET", "HEAD"):
            return 405, "The dashboard changes nothing."
        given = scope["path"].split("/")[1]
        if not hmac.compare_digest(given.encode("utf-8", "replace"), self._token.encode()):
            return 403, "Open the address that `ordeal dashboard` printed: it holds a token."
        return None


async def _send_text(send: Send, code: int, text: str) -> None:
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        *((k.encode(), v.encode()) for k, v in _HEADERS.items()),
    ]
    await send({"type": "http.response.start", "status": code, "headers": headers})
    await send({"type": "http.response.body", "body": f"{text}\n".encode()})


def _with_headers(send: Send) -> Send:
    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            own = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
            message = {**message, "headers": [*message["headers"], *own]}
        await send(message)

    return sending


def _refusal(code: int, text: str) -> Exception:
    refusal: Exception = importlib.import_module("starlette.exceptions").HTTPException(code, text)
    return refusal


class Dashboard:
    """What each address answers."""

    def __init__(self, runs: Path, store: str | None = None, *, is_ending: Callable[[], bool] = lambda: False) -> None:
        self._runs, self._is_ending = runs, is_ending
        self._fleets = None if store is None else Fleets(store)
        self._streams = 0
        self._responses = importlib.import_module("starlette.responses")
        jinja = importlib.import_module("jinja2")
        markup = importlib.import_module("markupsafe").Markup
        environment = jinja.Environment(
            loader=jinja.FileSystemLoader([TEMPLATES, REPORT_TEMPLATES]),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=jinja.StrictUndefined,
        )
        environment.filters["as_svg"] = markup  # the chart escapes its texts itself
        environment.globals["style"] = markup((REPORT_TEMPLATES / "style.css").read_text("utf-8"))
        self._environment = environment

    def routes(self) -> list[Any]:
        """The addresses, after the token."""
        route = importlib.import_module("starlette.routing").Route
        return [
            route("/", self.list_page),
            route("/main", self.list_main),
            route("/changes", self.list_changes),
            route("/live.js", self.script),
            route("/runs.json", self.list_json),
            route("/runs/{run}", self.run_page),
            route("/runs/{run}/main", self.run_main),
            route("/runs/{run}/changes", self.changes),
            route("/runs/{run}/report", self.report),
            route("/runs/{run}/status.json", self.status_json),
            route("/runs/{run}/events.json", self.events_json),
            route("/runs/{run}/result.json", self.result_json),
            route("/fleets/{fleet}", self.fleet_page),
            route("/fleets/{fleet}/main", self.fleet_main),
            route("/fleets/{fleet}/changes", self.fleet_changes),
            route("/fleets/{fleet}/records.json", self.fleet_json),
        ]

    def _folder(self, request: Any) -> Path:
        """Return the folder of the run that is asked for: one of those that are listed, never a path."""
        name = request.path_params["run"]
        found = next((folder for folder in run_folders(self._runs) if folder.name == name), None)
        if found is None:
            raise _refusal(404, "there is no such run")
        return found

    def _fleet(self, request: Any) -> tuple[str, dict[str, Record]]:
        """Return the name and the records of the fleet that is asked for."""
        name = request.path_params["fleet"]
        try:
            records = None if self._fleets is None else self._fleets.records(name)
        except StoreError as error:
            raise _refusal(503, f"the store cannot be read: {error.message}") from None
        if records is None:
            raise _refusal(404, "there is no such fleet")
        return name, records

    def _list_values(self) -> dict[str, Any]:
        values = {**list_values(self._runs), "store": None}
        if self._fleets is not None:
            store: dict[str, Any] = {"place": self._fleets.place, "names": [], "wrong": ""}
            try:
                store["names"] = self._fleets.names()
            except StoreError as error:
                store["wrong"] = f"The store cannot be read: {error.message}"
            values["store"] = store
        return values

    def _html(self, template: str, values: Mapping[str, Any]) -> Any:
        return self._responses.HTMLResponse(printable(self._environment.get_template(template).render(values)))

    def _json(self, value: Any) -> Any:
        if value is None:
            return self._responses.PlainTextResponse("there is none yet\n", status_code=404)
        return self._responses.Response(msgspec.json.encode(value), media_type="application/json")

    def list_page(self, _request: Any) -> Any:
        """The list of runs."""
        return self._html("list.html", self._list_values())

    def list_main(self, _request: Any) -> Any:
        """The part of it that changes."""
        return self._html("runs.html", self._list_values())

    def list_json(self, _request: Any) -> Any:
        """The same as JSON."""
        return self._json(list_values(self._runs)["rows"])

    def script(self, _request: Any) -> Any:
        """The script that follows a run; without it a page has to be loaded again."""
        return self._responses.Response((TEMPLATES / "live.js").read_text("utf-8"), media_type="text/javascript")

    def run_page(self, request: Any) -> Any:
        """The page of a run."""
        return self._html("run.html", run_values(self._folder(request)))

    def run_main(self, request: Any) -> Any:
        """The part of the page that changes."""
        return self._html("main.html", run_values(self._folder(request)))

    def fleet_page(self, request: Any) -> Any:
        """The page of a fleet."""
        return self._html("fleet.html", fleet_values(*self._fleet(request), self._place))

    def fleet_main(self, request: Any) -> Any:
        """The part of it that changes."""
        return self._html("members.html", fleet_values(*self._fleet(request), self._place))

    def fleet_json(self, request: Any) -> Any:
        """The records of a fleet, by launcher and member."""
        return self._json(self._fleet(request)[1])

    @property
    def _place(self) -> str:
        return "" if self._fleets is None else self._fleets.place

    def status_json(self, request: Any) -> Any:
        """The status."""
        return self._json(read_status(self._folder(request)))

    def events_json(self, request: Any) -> Any:
        """The events, as a list."""
        return self._json(list(read_events(self._folder(request))))

    def result_json(self, request: Any) -> Any:
        """The result."""
        return self._json(read_result(self._folder(request)))

    def report(self, request: Any) -> Any:
        """The page that `ordeal report html` made, else one without the steps of failures: nothing is replayed here."""
        folder = self._folder(request)
        page = folder / _REPORT
        try:
            # A link may lead anywhere.
            if not page.is_symlink():
                return self._responses.HTMLResponse(read_regular(page, EVENTS_BYTES_MAX))
        except OSError:
            pass  # most runs have none
        document = read_result(folder)
        if document is None:
            return self._json(None)
        try:
            return self._responses.HTMLResponse(render_page(document, events=read_events(folder)))
        except (KeyError, TypeError, ValueError, AttributeError, IndexError):
            return self._responses.PlainTextResponse("the result of this run is damaged\n", status_code=500)

    async def changes(self, request: Any) -> Any:
        """The stream of a run: an event whenever one of its files has changed."""
        folder = self._folder(request)
        return self._stream(lambda: version_of(folder))

    async def list_changes(self, _request: Any) -> Any:
        """The stream of the list: an event whenever a run began, ended or found something."""
        return self._stream(lambda: runs_version(self._runs))

    async def fleet_changes(self, request: Any) -> Any:
        """The stream of a fleet: an event with each look, as its members tell how they are all the time."""
        await asyncio.to_thread(self._fleet, request)
        ticks = itertools.count()
        return self._stream(lambda: (next(ticks),), every=FLEET_LOOKS)

    def _stream(self, version: Callable[[], tuple[int, ...]], *, every: int = 1) -> Any:
        if self._streams >= STREAMS_MAX:
            return self._responses.PlainTextResponse("too many windows\n", status_code=503)
        return self._responses.StreamingResponse(self._follow(version, every=every), media_type="text/event-stream")

    async def _follow(self, version_now: Callable[[], tuple[int, ...]], *, every: int = 1) -> AsyncIterator[str]:
        self._streams += 1
        try:
            shown: tuple[int, ...] = ()
            looks = 0
            while not self._is_ending():
                version = shown if looks % every else version_now()
                if version != shown:
                    shown = version
                    yield "event: changed\ndata:\n\n"
                elif looks % LOOKS_PER_SIGN == 0:
                    yield ": still here\n\n"
                looks += 1
                await asyncio.sleep(INTERVAL_SECONDS)
        finally:
            self._streams -= 1


def make_app(
    runs: Path, token: str, port: int, *, store: str | None = None, is_ending: Callable[[], bool] = lambda: False
) -> Guard:
    """Return the application for the runs in a folder, and the fleets in a store, with what guards it."""
    starlette = importlib.import_module("starlette.applications").Starlette
    return Guard(starlette(routes=Dashboard(runs, store, is_ending=is_ending).routes()), token, port)
