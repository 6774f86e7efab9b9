"""The pictures of the guides: terminals while commands run and after, and the pages of a run, in light, dark, narrow.

usage: python tools/screenshots.py writes them to docs/guides/images; it needs tmux and Chromium

Nothing in them is drawn by hand: the shop of the examples is searched, and what is shown is recorded.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from accessibility import Tab, opened
from animation import VERSION_LINE
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs/guides/images"
COLUMNS, ROWS = 110, 9
SECONDS = 20


def main() -> int:
    """Search the shop, and record the terminal and the page."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None or shutil.which("tmux") is None:
        print("needs tmux and Chromium", file=sys.stderr)
        return 1
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder, "shop")
        shutil.copytree(ROOT / "examples/shop", project, ignore=shutil.ignore_patterns(".*", "__pycache__"))
        settings = project / "ordeal.toml"
        settings.write_text(settings.read_text("utf-8").replace("verbose = true", "verbose = false"), "utf-8")
        write_report(project, IMAGES / "found.svg")
        # What that search saved the next one would replay.
        shutil.rmtree(project / ".ordeal")
        write_terminal(project, IMAGES / "live.svg")
        write_commands(Path(folder), project)
        with opened(browser) as tab:
            write_pages(tab, Path(folder), project)
            write_world(tab, Path(folder))
    return 0


def write_commands(folder: Path, project: Path) -> None:
    """Record what commands print: the way of a newcomer, and what is done with what was found."""
    parking = folder / "parking"
    newcomer = importlib.import_module("newcomer")
    for name, text in newcomer.PACKAGE.items():
        (parking / name).parent.mkdir(parents=True, exist_ok=True)
        (parking / name).write_text(text, "utf-8")
    record(parking, "ordeal init", IMAGES / "init.svg")
    record(parking, "ordeal replay -v", IMAGES / "replay.svg")
    record(parking, "ordeal replay --plain -", IMAGES / "plain.svg")
    record(project, "ordeal seeds", IMAGES / "seeds.svg")
    record(project, "ordeal explore --max-tyme 5", IMAGES / "mistake.svg")
    record(ROOT / "tests", "ordeal doctor unit.samples.ailing:NeverReady", IMAGES / "doctor.svg")


def write_pages(tab: Tab, folder: Path, project: Path) -> None:
    """Take pictures of the pages: of the run, of one failure, and of the dashboard."""
    # By runs: a slow machine shows the same three failures.
    search = [ordeal(), "explore", "--seed", "2", "--max-runs", "2000", "--max-time", "900", "--no-seeds"]
    subprocess.run(search, cwd=project, capture_output=True, check=False)
    made = subprocess.run([ordeal(), "report", "html"], cwd=project, capture_output=True, text=True, check=True)
    page = project / made.stdout.strip()
    for name, width, dark in (("", 1280, False), ("-dark", 1280, True), ("-narrow", 390, False)):
        take(tab, page.as_uri(), IMAGES / f"report{name}.png", size=(width, 800), dark=dark)
    results = json.loads((page.parent / "result.json").read_text("utf-8"))["results"]
    failure = next(each for each in results[0]["failures"] if "got more back" in each["error_message"])
    second = folder / "second.html"
    view = [ordeal(), "view", "--no-browser", failure["id"], "-o", str(second)]
    subprocess.run(view, cwd=project, capture_output=True, check=True)
    for name, width, dark in (("", 1280, True), ("-light", 1280, False), ("-narrow", 390, False)):
        take(tab, second.as_uri(), IMAGES / f"trace{name}.png", size=(width, 1000), dark=dark)
    subprocess.run([ordeal(), "mutate", "--sample", "60"], cwd=project, capture_output=True, check=False)
    mutants = [ordeal(), "mutate", "report", "html"]
    made = subprocess.run(mutants, cwd=project, capture_output=True, text=True, check=True)
    take(tab, (project / made.stdout.strip()).as_uri(), IMAGES / "mutants.png", size=(1280, 800))
    command = [ordeal(), "dashboard"]
    with subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as served:
        assert served.stdout is not None
        runs = re.sub(r"\s", "", served.stdout.readline())
        for name, dark, width in (
            ("dashboard", False, 900),
            ("dashboard-dark", True, 900),
            ("dashboard-narrow", False, 360),
        ):
            take(tab, f"{runs}runs/{page.parent.name}", IMAGES / f"{name}.png", size=(width, 700), dark=dark)
        take(tab, runs, IMAGES / "dashboard-runs.png", size=(900, 260))
        served.terminate()


def write_world(tab: Tab, folder: Path) -> None:
    """Take a picture of a failure in a simulated world: the connection pool, without what its list names first."""
    pool = folder / "pool"
    shutil.copytree(ROOT / "examples/connection_pool", pool, ignore=shutil.ignore_patterns(".*", "__pycache__"))
    (left_out, *_) = tomllib.loads((pool / "ablations.toml").read_text("utf-8"))["left_out"]
    program = pool / "connection_pool.py"
    program.write_text(program.read_text("utf-8").replace(left_out["old"], left_out["new"]), "utf-8")
    test = [sys.executable, "-m", "pytest", "-q", "--chaos", "test_pool.py"]
    subprocess.run(test, cwd=pool, capture_output=True, check=False)
    (schedule,) = pool.glob(".ordeal/schedules/*/*.json")
    view = [ordeal(), "view", "--no-browser", str(schedule)]
    made = subprocess.run(view, cwd=pool, capture_output=True, text=True, check=True)
    take(tab, (pool / made.stdout.strip()).as_uri(), IMAGES / "world.png", size=(900, 800))


def ordeal() -> str:
    """The command beside this interpreter."""
    return str(Path(sys.executable).parent / "ordeal")


def write_terminal(project: Path, path: Path) -> None:
    """Run a search in a terminal, and write what it shows while it goes on."""
    tmux = ["tmux", "-L", f"ordeal-screenshots-{path.stem}"]
    command = f"{ordeal()} explore --max-time {SECONDS}; sleep 99"
    size = ["-x", str(COLUMNS), "-y", str(ROWS)]
    subprocess.run([*tmux, "new-session", "-d", *size, "-c", str(project), command], check=True)
    try:
        screen = ""
        for _ in range(10 * SECONDS):
            time.sleep(0.2)
            now = subprocess.run([*tmux, "capture-pane", "-p", "-e"], capture_output=True, text=True, check=True).stdout
            if "runs/s" in now:
                screen = now
            elif screen:
                break
        while not list(project.glob(".ordeal/runs/*/result.json")):
            time.sleep(0.2)
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)
    draw(Text.from_ansi(screen.rstrip()), path, title="ordeal explore")


def write_report(project: Path, path: Path) -> None:
    """Run a short search whose first failure is the only one, and write what it reports in the end."""
    arguments = ["explore", "--max-runs", "60"]
    environment = {**os.environ, "FORCE_COLOR": "1"}
    done = subprocess.run(
        [ordeal(), *arguments], cwd=project, capture_output=True, text=True, check=False, env=environment
    )
    shown = Text.assemble(("$ " + " ".join(["ordeal", *arguments]) + "\n", "bold"))
    # What it says about the coverage of so few runs belongs to another page.
    shown.append(Text.from_ansi(done.stdout.partition("\n  Line coverage")[0].strip()))
    draw(shown, path, title="ordeal explore")


def record(folder: Path, command: str, path: Path) -> None:
    """Run a command in a terminal to its end, and write what it leaves there."""
    tmux = ["tmux", "-L", f"ordeal-screenshots-{path.stem}"]
    ended = folder / f"{path.stem}.ended"
    line = f"PATH={shlex.quote(os.environ['PATH'])} {command}; touch {shlex.quote(str(ended))}; sleep 99"
    size = ["-x", str(COLUMNS), "-y", "60"]
    subprocess.run([*tmux, "new-session", "-d", *size, "-c", str(folder), line], check=True)
    try:
        while not ended.exists():
            time.sleep(0.2)
        capture = [*tmux, "capture-pane", "-p", "-e", "-S", "-"]
        screen = subprocess.run(capture, capture_output=True, text=True, check=True).stdout
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)
        ended.unlink(missing_ok=True)
    screen = screen.replace(f"{folder}/", "")
    shown = Text(f"$ {command}\n", style="bold")
    draw(shown.append_text(Text.from_ansi(screen.rstrip())), path, title=" ".join(command.split()[:2]))


def draw(shown: Text, path: Path, *, title: str) -> None:
    """Write what a terminal shows as SVG."""
    with Path("/dev/null").open("w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True)
        console.print(shown, end="")
        svg = console.export_svg(title=title, unique_id=path.stem)
    # A font from elsewhere would be loaded from the network.
    svg = re.sub(r"@font-face\s*{.*?}", "", svg, flags=re.DOTALL).replace("Fira Code, ", "")
    path.write_text(VERSION_LINE + re.sub(r"[ \t]+\n", "\n", svg), "utf-8")


def take(tab: Tab, address: str, path: Path, *, size: tuple[int, int], dark: bool = False) -> None:
    """Take a picture of the beginning of a page."""
    tab.renew()
    tab.call("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=False)
    colours = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    tab.call("Emulation.setEmulatedMedia", features=[colours])
    tab.open(address)
    path.write_bytes(base64.b64decode(tab.call("Page.captureScreenshot", format="png")["data"]))
    make_small(path)


def make_small(path: Path) -> None:
    """Leave a picture few colours, where Pillow is installed: text needs no more, and each clone has the pictures."""
    if importlib.util.find_spec("PIL") is not None:
        image = importlib.import_module("PIL.Image").open(path).convert("RGB").quantize(128)
        image.save(path, optimize=True)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "benchmarks"))
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    sys.exit(main())
