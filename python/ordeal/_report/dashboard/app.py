"""The application of the dashboard: who may ask, and what each address answers.

It answers only with the token in the address, to a browser on this computer, and changes nothing. It runs no code of
the user's: what it shows is data from files.
"""

from __future__ import annotations

import hmac
import importlib
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from ordeal._base.formatting import printable
from ordeal._base.regular_file import read_regular
from ordeal._engine.runs.folder import EVENTS_BYTES_MAX, read_events, read_result, read_status, run_folders
from ordeal._report.dashboard.pages import ago, list_values, run_values
from ordeal._report.html.page import render_page, script_hash, templates

TEMPLATES = Path(__file__).parent / "templates"
_REPORT = "report.html"
_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; "
    f"script-src 'self' '{script_hash()}'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class Guard:
    """Refuses requests without the token, with another Host name, or that would change something.

    A foreign page may make its own host name resolve to this computer. A browser then still sends that name as Host.
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
            code, text = refused
            content = [("content-type", "text/plain; charset=utf-8"), *_HEADERS.items()]
            headers = [(name.encode(), value.encode()) for name, value in content]
            await send({"type": "http.response.start", "status": code, "headers": headers})
            await send({"type": "http.response.body", "body": f"{text}\n".encode()})
            return
        rest = scope["path"].removeprefix(f"/{self._token}")

        async def sending(message: Any) -> None:
            if message["type"] == "http.response.start":
                own = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *own]}
            await send(message)

        await self._inner({**scope, "path": rest, "raw_path": rest.encode(), "root_path": ""}, receive, sending)

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


class Dashboard:
    """What each address answers."""

    def __init__(self, runs: Path) -> None:
        self._runs = runs
        self._responses = importlib.import_module("starlette.responses")
        self._environment = templates(TEMPLATES)
        # The chart escapes its texts itself.
        self._environment.filters["ago"] = ago
        self._environment.filters["as_svg"] = importlib.import_module("markupsafe").Markup

    def routes(self) -> list[Any]:
        """Return the addresses, after the token."""
        route = importlib.import_module("starlette.routing").Route
        pages: dict[str, tuple[str, Callable[[Any], Mapping[str, Any]]]] = {
            "/": ("list.html", self._runs_listed),
            "/main": ("runs.html", self._runs_listed),
            "/runs/{run}": ("run.html", lambda request: run_values(self._folder(request))),
            "/runs/{run}/main": ("main.html", lambda request: run_values(self._folder(request))),
        }
        documents: dict[str, Callable[[Any], object]] = {
            "/runs.json": lambda request: self._runs_listed(request)["rows"],
            "/runs/{run}/status.json": lambda request: read_status(self._folder(request)),
            "/runs/{run}/events.json": lambda request: list(read_events(self._folder(request))),
            "/runs/{run}/result.json": lambda request: read_result(self._folder(request)),
        }
        return [
            route("/live.js", self.script),
            route("/runs/{run}/report", self.report),
            *(route(at, partial(self._page, template, values)) for at, (template, values) in pages.items()),
            *(route(at, partial(self._document, read)) for at, read in documents.items()),
        ]

    def _runs_listed(self, _request: Any) -> dict[str, Any]:
        return list_values(self._runs)

    def _folder(self, request: Any) -> Path:
        """Return the folder of the run that is asked for: one of those that are listed, never a path."""
        name = request.path_params["run"]
        found = next((folder for folder in run_folders(self._runs) if folder.name == name), None)
        if found is None:
            raise importlib.import_module("starlette.exceptions").HTTPException(404, "the run does not exist")
        return found

    def _page(self, template: str, values: Callable[[Any], Mapping[str, Any]], request: Any) -> Any:
        page = self._environment.get_template(template).render(values(request))
        return self._responses.HTMLResponse(printable(page))

    def _document(self, read: Callable[[Any], object], request: Any) -> Any:
        value = read(request)
        if value is None:
            return self._responses.PlainTextResponse("there is none yet\n", status_code=404)
        return self._responses.Response(msgspec.json.encode(value), media_type="application/json")

    def script(self, _request: Any) -> Any:
        """Answer with the script that follows a run; without it a page has to be loaded again."""
        return self._responses.Response((TEMPLATES / "live.js").read_text("utf-8"), media_type="text/javascript")

    def report(self, request: Any) -> Any:
        """Answer with the page that `ordeal report html` made, else one without the steps of failures.

        Nothing is replayed here.
        """
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
            return self._document(lambda _: None, request)
        try:
            return self._responses.HTMLResponse(render_page(document, events=read_events(folder)))
        except (KeyError, TypeError, ValueError, AttributeError, IndexError):
            return self._responses.PlainTextResponse("the result of this run is damaged\n", status_code=500)


def make_app(runs: Path, token: str, port: int) -> Guard:
    """Return the application for the runs in a folder, with what guards it."""
    starlette = importlib.import_module("starlette.applications").Starlette
    return Guard(starlette(routes=Dashboard(runs).routes()), token, port)
