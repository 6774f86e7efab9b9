"""The steps of the GitHub Action of this repository, see action.yml.

usage: python tools/action.py explore explores with the inputs in ORDEAL_*, and writes the outputs of the step;
python tools/action.py comment writes the report as a comment on the pull request, over that of an earlier run
"""

from __future__ import annotations

import datetime
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ordeal._report.comparing import compare, read_document
from ordeal._report.formats.document import findings_of, results_of
from ordeal._report.formats.md import markdown
from ordeal.errors import OrdealError

BASELINE = Path(".ordeal/baseline.json")
REPORTS = Path(".ordeal/report")
STORE = "dir://.ordeal/store"
#: By this a comment of an earlier run is found again.
MARK = "<!-- ordeal -->"
#: GitHub takes 65,536 characters.
COMMENT_BYTES_MAX = 60_000
WRONG_USE = 2


def explore() -> int:
    """Explore, and write the outputs; the exit code is one of them, so that the steps that follow still run."""
    mode, fail_on = os.environ["ORDEAL_MODE"], os.environ["ORDEAL_FAIL_ON"]
    for name, value, known in (("mode", mode, ("pr", "nightly")), ("fail-on", fail_on, ("any", "new", "never"))):
        if value not in known:
            print(f"error: the input `{name}` is {value!r}\n\nhint: write {' or '.join(known)}", file=sys.stderr)
            return WRONG_USE
    shutil.rmtree(REPORTS, ignore_errors=True)
    code = subprocess.run(_command(mode), check=False).returncode
    report = REPORTS / "ordeal.json"
    if not report.is_file():
        _outputs(findings=0, new=0, edges=0, exit_code=code or WRONG_USE)
        return 0
    document = read_document(report)
    findings = sum(1 for _ in findings_of(document))
    new = _new(report, findings)
    edges = sum(result.get("unique_edges", 0) for result in results_of(document))
    failed = {"any": findings, "new": new, "never": 0}[fail_on]
    _outputs(findings=findings, new=new, edges=edges, exit_code=(1 if failed else 0) if code in (0, 1) else code)
    if mode == "nightly":
        shutil.copyfile(report, BASELINE)
    return 0


def _command(mode: str) -> list[str]:
    formats = ",".join(dict.fromkeys(["json", "md", *os.environ["ORDEAL_REPORTS"].split(",")]))
    command = [sys.executable, "-m", "ordeal", "explore", "--config", os.environ["ORDEAL_CONFIG"]]
    command += ["--report", formats, "--report-dir", str(REPORTS), "--store", STORE]
    if os.environ.get("ORDEAL_MAX_TIME"):
        command += ["--max-time", os.environ["ORDEAL_MAX_TIME"]]
    if mode == "nightly":
        command += ["--seed", datetime.datetime.now(datetime.UTC).strftime("%Y%m%d")]
    return command


def _new(report: Path, findings: int) -> int:
    """Return how many findings the report of the last night has not; all, where there was no night."""
    try:
        return len(compare(read_document(BASELINE), read_document(report)).new)
    except OrdealError:
        return findings


def _outputs(*, findings: int, new: int, edges: int, exit_code: int) -> None:
    values = {"findings": findings, "new": new, "edges": edges, "exit-code": exit_code, "report-path": REPORTS}
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as file:
        file.writelines(f"{name}={value}\n" for name, value in values.items())


def comment() -> int:
    """Write the comment, or write it anew."""
    report = REPORTS / "ordeal.json"
    if not report.is_file():
        return 0
    body = f"{MARK}\n{markdown(read_document(report), COMMENT_BYTES_MAX)}"
    repository, number = os.environ["GITHUB_REPOSITORY"], os.environ["ORDEAL_PULL_REQUEST"]
    own = f'.[] | select(.body | startswith("{MARK}")) | .id'
    comments = f"repos/{repository}/issues/{int(number)}/comments"
    known = _gh(["api", comments, "--paginate", "--jq", own]).split()
    if known:
        place, method = f"repos/{repository}/issues/comments/{int(known[0])}", "PATCH"
    else:
        place, method = comments, "POST"
    _gh(["api", place, "--method", method, "--field", "body=@-"], body)
    return 0


def _gh(arguments: Sequence[str], text: str = "") -> str:
    done = subprocess.run(["gh", *arguments], input=text, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


if __name__ == "__main__":
    sys.exit({"explore": explore, "comment": comment}[sys.argv[1]]())
