"""Measures what the page of a failure shows on its first screen, 1280 x 800, and how fast it opens.

usage: python tools/first_screen.py PAGE... of `ordeal view`, for example of failures that benchmarks/bugs finds

Exit 1 if the assertion or message, the program, and a suspicious line or the first difference are not on the first
screen of nine pages in ten.
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
from pathlib import Path

from accessibility import Tab, opened

PARTS = ("message", "program", "difference", "suspicious")
_BOTTOMS = """
JSON.stringify(Object.fromEntries(Object.entries({
  message: "h1, .finding[open] h3",
  program: "pre.copied",
  difference: "a[href^='#t-']",
  suspicious: ".suspicious tbody tr",
}).map(([name, where]) => [name, document.querySelector(where)?.getBoundingClientRect().bottom ?? null])))
"""
_SIZES = "[...new Set([...document.querySelectorAll('body *')].map(each => getComputedStyle(each).fontSize))].length"


def main(pages: list[str]) -> int:
    """Print a line for each page, and how many of them show each part."""
    shown: list[set[str]] = []
    times: list[float] = []
    browser = shutil.which("chromium") or shutil.which("google-chrome") or ""
    with opened(browser) as tab:
        for page in pages:
            seen, milliseconds, sizes = look(tab, Path(page))
            shown.append(seen)
            times.append(milliseconds)
            print(f"{Path(page).stem:24} {' '.join(sorted(seen)):42} {sizes} sizes of type, {milliseconds:.0f} ms")
    whole = sum({"message", "program"} <= seen and bool(seen & {"difference", "suspicious"}) for seen in shown)
    each = ", ".join(f"{part} {sum(part in seen for seen in shown)}" for part in PARTS)
    print(f"{whole} of {len(shown)} with the answer on the first screen; {each}; {statistics.median(times):.0f} ms")
    return int(10 * whole < 9 * len(shown))


def look(tab: Tab, page: Path) -> tuple[set[str], float, int]:
    """Return the parts on the first screen, the processor time of opening the page in ms, and its sizes of type."""
    tab.renew()
    tab.call("Emulation.setDeviceMetricsOverride", width=1280, height=800, deviceScaleFactor=1, mobile=False)
    tab.open(page.resolve().as_uri())
    milliseconds = tab.busy()
    bottoms = json.loads(tab.value(_BOTTOMS))
    seen = {part for part, bottom in bottoms.items() if bottom is not None and bottom <= 800}
    return seen, milliseconds, int(tab.value(_SIZES))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
