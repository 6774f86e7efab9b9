"""Looks at pages in headless Chromium as people may: light, dark, on a telephone, without a network.

usage: python tools/accessibility.py AXE [PAGE...] runs axe-core, the file AXE of its npm package, over files or
addresses; without pages over the report of a search of the shop, the page of one failure, that of its mutants, its
dashboard, a report of hostile texts, a trace of 1,000 steps, and 10,000 findings

Prints what axe-core finds, requests to a network, what is wider than the window, and how long each page takes to open.
Exit 1 if anything is wrong but the time.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))
#: What a page is looked at as: width in pixels, and the colours that its reader prefers.
LOOKS = ((1440, "light"), (1440, "dark"), (360, "light"), (360, "dark"))
#: All is open: what is closed is not looked at. Rendering is not lazy: what is below is looked at as well.
_OPEN = """
for (const each of document.querySelectorAll("details")) each.open = true;
const all = document.createElement("style"); all.textContent = "*{content-visibility:visible!important}";
document.head.append(all);
"""
_RUN = """
axe.run(document, {resultTypes: ["violations"]}).then(found => JSON.stringify(found.violations
  .map(each => [each.id, each.help, each.nodes.length, each.nodes[0].html.slice(0, 200),
                each.nodes[0].failureSummary])))
"""
#: When the page was painted, after its load, in milliseconds since it was asked for.
_PAINTED = """
new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))
"""
_ROWS = 'document.querySelectorAll("tr, li").length'
#: axe-core takes minutes for more. They are all alike.
ROWS_MAX = 9_000
_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def main(arguments: Sequence[str]) -> int:
    """Look at each page in all ways."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None or not arguments or not Path(arguments[0]).is_file():
        print("needs Chromium, and axe.min.js of axe-core", file=sys.stderr)
        return 2
    axe = Path(arguments[0]).read_text("utf-8")
    with tempfile.TemporaryDirectory() as folder, opened(browser) as tab:
        given = [name if "://" in name else Path(name).resolve().as_uri() for name in arguments[1:]]
        # The dashboard answers as long as its pages are looked at.
        return max([looked_at(tab, axe, page) for page in given or made_pages(Path(folder))])


def looked_at(tab: Tab, axe: str, page: str) -> int:
    """Print what is wrong with the page at an address; return 1 if something is."""
    code, parts = 0, urlsplit(page)
    own = f"{parts.scheme}://{parts.netloc}/" if parts.netloc else page
    for width, colours in LOOKS:
        tab.renew()
        tab.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": colours}])
        requests = [each for each in tab.open(page) if not each.startswith(own)]
        painted = float(tab.value(_PAINTED))
        busy = tab.busy()
        tab.value(_OPEN)
        wide = int(tab.value(_WIDE))
        is_asked = int(tab.value(_ROWS)) <= ROWS_MAX
        tab.value(axe)
        found = json.loads(tab.value(_RUN)) if is_asked else []
        says = f"{len(found)} findings" if is_asked else "too many rows for axe-core"
        name = parts.path.rpartition("/")[2] if own == page else parts.path.partition("/runs")[1] or "dashboard"
        print(
            f"{name}, {width} px, {colours}: {says}, painted after {painted:.0f} ms, {busy:.0f} of the processor",
            flush=True,
        )
        for name, text, count, html, summary in found:
            print(f"  {name} ({count}): {text}\n    {html}\n    {' '.join(summary.split())[:300]}")
        for address in requests:
            print(f"  asks for {address}")
        if wide > 0:
            print(f"  is {wide} px wider than the window")
        code = code or int(bool(found or requests or wide > 0))
    return code


class Tab:
    """A page of a browser, driven through a pipe: its messages end with a zero byte."""

    def __init__(self, requests: int, answers: int) -> None:
        self._requests, self._answers = requests, answers
        self._rest = b""
        self._number = 0
        self._session = self._target = ""
        self.events: list[dict[str, Any]] = []
        self.renew()

    def renew(self) -> None:
        """Begin with a new page, which has done nothing."""
        self._session = ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        if self._target:
            self.call("Target.closeTarget", targetId=self._target)
        self._target = target
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network"):
            self.call(f"{domain}.enable")
        # A machine that does something else as well adds nothing to the time of the processor.
        self.call("Performance.enable", timeDomain="threadTicks")

    def call(self, method: str, **values: Any) -> dict[str, Any]:
        """Return the answer to a request; what happens until then is kept in ``events``."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": values}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._requests, data) :]
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def open(self, address: str) -> list[str]:
        """Open a page, and return what it asks for besides itself."""
        self.events.clear()
        self.call("Page.navigate", url=address)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())
        asked = [event["params"] for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        found = (each["request"]["url"] for each in asked)
        return [
            each for each in found if each.partition("#")[0] != address and not each.startswith(("data:", "about:"))
        ]

    def busy(self) -> float:
        """Return for how many milliseconds the page has kept its processor busy."""
        metrics = {each["name"]: each["value"] for each in self.call("Performance.getMetrics")["metrics"]}
        return 1_000 * float(metrics["TaskDuration"])

    def value(self, expression: str) -> Any:
        """Return the value of an expression on the page, or what it promises."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"])[:2_000])
        return answer["result"].get("value")

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            part = os.read(self._answers, 1 << 16)
            if not part:
                raise RuntimeError("the browser has ended")
            self._rest += part
        message, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found


@contextmanager
def opened(browser: str) -> Iterator[Tab]:
    """Start a browser, and end it after the block. It reads requests from file 3 and answers in file 4."""
    (their_in, our_out), (our_in, their_out) = os.pipe(), os.pipe()
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe"]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [browser, *options, f"--user-data-dir={profile}", "about:blank"]
        script = f'exec "$@" 3<&{their_in} 4>&{their_out}'
        process = subprocess.Popen(
            ["bash", "-c", script, "bash", *command], pass_fds=(their_in, their_out), stderr=subprocess.DEVNULL
        )
        os.close(their_in)
        os.close(their_out)
        try:
            yield Tab(our_out, our_in)
        finally:
            process.kill()
            process.wait()
            os.close(our_out)
            os.close(our_in)


# -- pages ------------------------------------------------------------------------------------------------------------


def made_pages(folder: Path) -> Iterator[str]:
    """Yield the addresses of the pages that are looked at where none are given."""
    project = folder / "shop"
    shutil.copytree(ROOT / "examples/shop", project, ignore=shutil.ignore_patterns(".*", "__pycache__"))
    ordeal = str(Path(sys.executable).parent / "ordeal")
    subprocess.run([ordeal, "explore", "--max-runs", "3000"], cwd=project, capture_output=True, check=False)
    subprocess.run([ordeal, "mutate", "--sample", "40"], cwd=project, capture_output=True, check=False)
    for name, *command in (
        ("shop", "report", "html"),
        ("failure", "view", "--no-browser"),
        ("mutants", "mutate", "report", "html"),
    ):
        made = subprocess.run([ordeal, *command], cwd=project, capture_output=True, text=True, check=True)
        yield (project / made.stdout.strip()).rename(folder / f"{name}.html").as_uri()
    with subprocess.Popen([ordeal, "dashboard"], cwd=project, stdout=subprocess.PIPE, text=True) as dashboard:
        address = str(dashboard.stdout and dashboard.stdout.readline()).strip()
        yield address
        yield f"{address}runs/{(project / '.ordeal/runs/latest').resolve().name}"
        dashboard.terminate()

    samples = importlib.import_module("unit._report.html.test_page")
    hostile = folder / "hostile.html"
    hostile.write_text(samples.page_of("".join(samples.HOSTILE[:20])), "utf-8", "backslashreplace")
    yield hostile.as_uri()
    long = folder / "long.html"
    text = "value = {'A1': 'DELIVERED'}"
    shown = samples.document(samples.result(samples.failure(text)))
    long.write_text(samples.render_page(shown, views={"5ad946": samples.view(text, 1_000)}), "utf-8")
    yield long.as_uri()
    many = folder / "many.html"
    findings = [samples.failure("a failure like many", id=f"{number:06x}") for number in range(10_000)]
    many.write_text(samples.render_page(samples.document(samples.result(*findings))), "utf-8")
    yield many.as_uri()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
