"""Runs real libraries on the simulated network, and writes which of them work into docs/reference/libraries.md.

usage: python benchmarks/probe_libraries.py [--only NAME...] [--runs N] [--no-page]

Each program of benchmarks/probes/programs runs under 20 schedules: the plain one, and some in which packets are late,
streams are cut and steps take time. The libraries are installed once, into build/peers/probes.
"""

import argparse
import importlib
import importlib.metadata
import json
import os
import subprocess
import sys
import warnings
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.peers import PEERS
from harness.report import table

from ordeal import simulate

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "libraries.md"
RUNS = 20
#: What a program may take, in seconds.
PATIENCE_S = 120
#: The libraries of each program, the newest releases that were there when the page was written.
LIBRARIES = {
    "aiohttp_web": ("aiohttp",),
    "aiohttp_tls": ("aiohttp",),
    "uvicorn_starlette": ("uvicorn", "starlette"),
    "httpx_client": ("httpx", "httpcore"),
    "httpx_tls": ("httpx", "httpcore"),
    "websockets_chat": ("websockets",),
    "hypercorn_app": ("hypercorn",),
    "redis_client": ("redis",),
    "anyio_streams": ("anyio",),
    "anyio_threads": ("anyio",),
    "aiojobs_scheduler": ("aiojobs",),
    "async_lru_cache": ("async-lru",),
    "aiocache_memory": ("aiocache",),
    "apscheduler_jobs": ("APScheduler",),
    "saq_queue": ("saq", "fakeredis"),
    "aiosmtp_mail": ("aiosmtplib", "aiosmtpd"),
    "aiolimiter_rates": ("aiolimiter",),
    "aiofiles_node": ("aiofiles",),
}


def probe(name: str, runs: int) -> dict[str, Any]:
    """Run one program in this process, and say how it went."""
    versions = [f"{library} {importlib.metadata.version(library)}" for library in LIBRARIES[name]]
    program = importlib.import_module(f"probes.programs.{name}")
    verdict, runs_made = "works", 0
    try:
        report = simulate.explore(program.main, runs=runs, faults=[simulate.latency(), simulate.stall()])
        runs_made = report.runs
    except simulate.EscapedSimulation as error:
        verdict = f"fenced: {error.message.partition(' inside of a simulation')[0]}"
    except BaseException as error:  # noqa: BLE001 - whatever a library raises is what the page says
        verdict = f"fails: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    return {"versions": versions, "what": str(program.__doc__).strip(), "verdict": verdict, "runs": runs_made}


def _asked(name: str, python: Path, environment: dict[str, str], runs: int) -> dict[str, Any]:
    command = [str(python), __file__, "--probe", name, "--runs", str(runs)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=PATIENCE_S, env=os.environ | environment
        )
    except subprocess.TimeoutExpired:
        return {"versions": [], "what": "", "verdict": f"fails: not over after {PATIENCE_S} s", "runs": 0}
    if done.returncode:
        return {"versions": [], "what": "", "verdict": f"fails: {done.stderr.strip().splitlines()[-1]}", "runs": 0}
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def _environment() -> tuple[Path, dict[str, str]]:
    """Install the libraries and make the certificate, once; return the interpreter and the environment."""
    folder = PEERS / "probes"
    if not (folder / "installed").exists():
        names = sorted({library for libraries in LIBRARIES.values() for library in libraries} | {"fakeredis[lua]"})
        pip = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--target",
            str(folder),
        ]
        subprocess.run([*pip, *names], check=True)
        (folder / "installed").touch()
    certificate = PEERS / "probes-certificate"
    if not certificate.exists():
        certificate.mkdir()
        files = ["-keyout", str(certificate / "key.pem"), "-out", str(certificate / "certificate.pem")]
        made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3650", "-subj", "/CN=server"]
        subprocess.run([*made, "-addext", "subjectAltName=DNS:server", *files], check=True, capture_output=True)
    return Path(sys.executable), {
        "PYTHONPATH": f"{folder}{os.pathsep}{ROOT / 'benchmarks'}",
        "ORDEAL_PROBES_CERTIFICATE": str(certificate),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONWARNINGS": "ignore",
    }


def page(results: dict[str, dict[str, Any]]) -> str:
    """Write the page of the documentation."""
    rows = [
        (", ".join(each["versions"]) or name, each["what"].replace("\n", " "), each["verdict"].replace("\n", " "))
        for name, each in results.items()
    ]
    date = datetime.now(UTC).date()
    python = ".".join(map(str, sys.version_info[:3]))
    return (
        "# Libraries on the simulated network\n\n"
        "Programs with these libraries run in [a world of nodes](../guides/nodes.md) as they are, without a socket of\n"
        f"the system. `make probes` wrote this page on {date}, with Python {python}: each program\n"
        f"ran under {RUNS} schedules, with late packets, streams cut anywhere, and steps that take time.\n\n"
        f"{table(('releases', 'what the program does', 'verdict'), rows)}\n\n"
        "The programs lie in `benchmarks/probes/programs`. What no library can do in a run is in the table of\n"
        "[async programs](../guides/async.md#what-is-not-simulated).\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="+", choices=LIBRARIES, default=list(LIBRARIES))
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--no-page", action="store_true")
    parser.add_argument("--probe", choices=LIBRARIES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.probe:
        warnings.simplefilter("ignore")
        print(json.dumps(probe(options.probe, options.runs)))
        return 0
    python, environment = _environment()
    results = {}
    for name in options.only:
        results[name] = _asked(name, python, environment, options.runs)
        print(f"{name:<20} {results[name]['verdict']}", flush=True)
    if not options.no_page and options.only == list(LIBRARIES):
        PAGE.write_text(page(results), encoding="utf-8")
    return 1 if any(each["verdict"].startswith("fails") for each in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
