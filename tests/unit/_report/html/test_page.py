"""The page of a report: what it shows, that no text of the program becomes markup, and that floods stay small."""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, override

import msgspec
import pytest

from ordeal._base.limits import ITEMS_MAX
from ordeal._engine.runs.events import ClassStarted, Event, Found, NewEdges, Progress, SessionBegun
from ordeal._engine.trace_view.view import (
    CodeSpot,
    FailShare,
    LaneEvent,
    PartChange,
    PassingRun,
    SourceView,
    StepView,
    SuspiciousLine,
    Swallowed,
    TraceView,
    Variation,
)
from ordeal._report.html.page import command_of, render_page
from ordeal.errors import ConfigError

_PAYLOADS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<iframe src=javascript:alert(1)>",
    "<style>*{display:none}</style>",
    "<a href='javascript:alert(1)'>x</a>",
    "<body onload=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<base href=//evil>",
    "<meta http-equiv=refresh content=0>",
    "<link rel=stylesheet href=//evil>",
    "<math><mtext></mtext></math>",
    "<template><script>1</script></template>",
    "<form action=//evil><button>",
    "<object data=//evil>",
    "{{ 7 * 7 }}{% for x in y %}",
    "${7*7}#{7*7}",
    "&lt;script&gt;&#60;",
    "\x1b[31m\x00\x08\u202e",
    "`'\"><!--",
)
_WRAPPERS = ("{}", '">{}', "'>{}", "--!>{}", "</pre>{}", "</style>{}", "</title>{}", "]]>{}", "\\u003c{}", "{0}{0}")
HOSTILE = [wrapper.format(payload) for wrapper, payload in itertools.product(_WRAPPERS[:9], _PAYLOADS)] + [
    payload + payload for payload in _PAYLOADS
]

CLASS = "tests.bank:Bank"


class Tags(HTMLParser):
    """Counts the tags of a page, and notes attributes that load or run something."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.active: list[tuple[str, str]] = []
        self.texts: list[str] = []
        self.feed(page)

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        for name, value in attrs:
            leads_within = (tag, name) == ("a", "href") and str(value).startswith("#")
            loads = name in ("href", "src", "srcdoc", "action", "data", "xlink:href") and not leads_within
            if name.startswith("on") or loads:
                self.active.append((tag, f"{name}={value}"))

    @override
    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def failure(text: str = "boom", **changes: Any) -> dict[str, Any]:
    line = {"file": text, "line": 3, "function": text, "code": text}
    values = {
        "id": "5ad946",
        "error_type": "AssertionError",
        "error_message": text,
        "step": 2,
        "run_id": 3,
        "bucket": text,
        "place": {"kind": "invariant", "name": text, "at": line, "raised_at": line, "asserted": [text]},
        "broken_by": [text],
        "count": 4,
        "flaky": False,
        "flaky_reason": "",
        "shrunk": True,
        "weights": {},
        "active_faults": [text],
        "necessary_faults": {text: True},
        "rule_log": [text],
        "trace_steps": 2,
        "trace_path": None,
        "seed_path": None,
        "program": text,
    }
    return {**values, **changes}


def result(*failures: dict[str, Any], text: str = "plain", **changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "test_class": CLASS,
        "rng_seed": 42,
        "total_runs": 10,
        "total_steps": 50,
        "unique_edges": 7,
        "checkpoints": 1,
        "checkpoints_saved": 1,
        "rejected_runs": 0,
        "unconfirmed": 0,
        "inconclusive": {"reason": text, "hint": text},
        "stopped_reason": "max_runs",
        "target_modules": [text],
        "imported_modules": [text],
        "snapshot_kind": "copy",
        "discovery": {"next_run_max": 0.01, "unseen": 1},
        "telemetry": {
            "swarm": {"summary": ""},
            "runs": {"starts": {text: 3}},
            "behavior": {
                "lines_covered": 3,
                "lines_total": 4,
                "missed_lines": {text: [1, 2]},
                "covered_lines": {},
                "coverage_gaps": [{"file": text, "line": 1, "code": text}],
            },
        },
        "seed_replays": [{"name": text, "path": text, "status": "reproduced", "message": text}],
        "properties": [
            {"name": text, "type": "always", "passes": 1, "failures": 0, "evidence_status": status}
            for status in ("PASS", "FAIL", "NOT EXERCISED")
        ],
        "reliability_cells": [
            {"operation": text, "fault": text, "name": text, "hits": 1, "passes": 1, "failures": 0, "status": "PASS"}
        ],
        "faults": [{"name": text, "runs": 1, "calls": 0, "hits": 0}],
        "notes": [text],
        "failures": list(failures),
        "known": [
            {"entry": text, "id": "1", "bucket": text, "error_type": text, "error_message": text, "count": 1},
        ],
        "timing": {"duration_seconds": 1.0, "runs_per_second": 10.0},
    }
    return {**values, **changes}


def document(*results: dict[str, Any], **options: Any) -> dict[str, Any]:
    return {"schema_version": 1, "options": {"seed": 42, **options}, "results": list(results)}


def view(text: str = "text", steps: int = 3) -> TraceView:
    step = StepView(
        kind="rule",
        name="rule",
        arguments={"value": text},
        draws=[text],
        result=text,
        faults_on=[text],
        fired=[text],
        output=text,
        changes=[PartChange(text, None, text), PartChange(f"{text}2", text, None)],
        new_lines=[CodeSpot(text, 1, text)],
        swallowed=[Swallowed(text, text)],
    )
    toggle = StepView(kind="fault_toggle", name=f"+{text}", faults_on=[text])
    passing = TraceView(start={text: text}, steps=[toggle, *[msgspec.structs.replace(step, result="")] * (steps - 1)])
    return TraceView(
        start={text: text},
        steps=[toggle, *[step] * (steps - 2), msgspec.structs.replace(step, failed=True)],
        sources=[
            SourceView(name=text, file=text, line=1, text=text),
            SourceView(name=text, file=text, line=1, text=text, failed=1),
        ],
        traceback=text,
        chances=[FailShare(steps=n, runs=64, failed=n) for n in range(min(steps, 40) + 1)],
        decided_at=[1],
        variations=[Variation(1, text, text)],
        lanes=[LaneEvent(text, text, f"{text}2")],
        suspicious=[SuspiciousLine(text, 1, text, text, 9, 9, 1, 8)],
        passing=PassingRun(step=2, argument=text, view=passing, at=list(range(steps))),
    )


def events(text: str = "text") -> list[Event]:
    session = SessionBegun(
        elapsed=0, schema_version=1, run_id=text, started=text, version=text, classes=[CLASS], options={text: text}
    )
    figures = [NewEdges(elapsed=0.1 * n, runs=n, edges=n) for n in range(1, 500)]
    found = Found(elapsed=0.2, id=text, bucket=text, error=text, run_id=1, steps=1)
    last = Progress(elapsed=60, runs=9, steps=9, edges=499, checkpoints=1, findings=1, runs_per_second=1)
    return [session, ClassStarted(elapsed=0, test_class=CLASS), *figures, found, last]


def page_of(text: str) -> str:
    shown = document(result(failure(text), text=text), config=text)
    return render_page(shown, views={"5ad946": view(text)}, events=events(text))


@pytest.fixture(scope="module")
def harmless() -> Tags:
    return Tags(page_of("harmless"))


def test_two_hundred_hostile_texts_stay_texts(harmless: Tags) -> None:
    assert len(set(HOSTILE)) == 200
    # All at once, each in a failure of its own, and a few alone in all places.
    failures = [failure(text, id=str(number)) for number, text in enumerate(HOSTILE)]
    views = {str(number): view(text) for number, text in enumerate(HOSTILE[:60])}
    together = Tags(render_page(document(*[result(each, text=each["bucket"]) for each in failures]), views=views))
    assert not together.active
    assert set(together.tags) <= set(harmless.tags)
    for text in HOSTILE[::40]:
        page = page_of(f"{text}\r\x85\u2028\ud800\ufffe")
        assert page.translate({10: None, 9: None}).isprintable()
        alone = Tags(page)
        assert not alone.active
        assert alone.tags["script"] == 1
        differing = {tag for tag in alone.tags if alone.tags[tag] != harmless.tags[tag]}
        assert differing <= {"span", "br"}  # colours of source, and nothing else


def test_nothing_is_loaded_and_only_the_script_of_the_page_runs(harmless: Tags) -> None:
    assert not harmless.active
    assert not {"link", "img", "iframe", "object", "base", "form"} & set(harmless.tags)
    page = page_of("harmless")
    assert "http" not in page.replace("http://www.w3.org/", "").replace("http-equiv", "")
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page


def test_lines_open_in_the_editor_that_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORDEAL_EDITOR", "vscode")
    page = page_of("a b.py")
    assert f'<a href="vscode://file{Path.cwd()}/a%20b.py:3"><code>a b.py:3</code></a>' in page
    monkeypatch.setenv("ORDEAL_EDITOR", "javascript:alert(1)//{file}")
    with pytest.raises(ConfigError, match="names no editor"):
        page_of("text")


def test_what_broke_comes_first_with_where_values_and_command() -> None:
    broken = failure(
        "promised 2, open 3",
        place={
            "kind": "invariant",
            "name": "agree",
            "at": {"file": "shop.py", "line": 142, "function": "agree", "code": ""},
            "raised_at": None,
            "asserted": ["assert 2 == 3"],
        },
        trace_path="t.json",
        necessary_faults={"timeout(a.b)": True, "slow": False},
        active_faults=["timeout(a.b)", "slow"],
    )
    page = render_page(document(result(broken)), views={"5ad946": view("1")})
    order = [
        "1 finding in Bank",
        "AssertionError: promised 2, open 3",
        "assert 2 == 3",
        "<code>shop.py:142</code> <small>in agree (invariant)</small>",
        "needed: timeout; on, not needed: slow",
        "<h4>First difference",
        "<h4>Program",
        "ordeal replay 5ad946",
        "<h4>Suspicious lines",
        "<h4>Step by step",
        "<summary>Traceback",
    ]
    places = [page.index(text) for text in order]
    assert places == sorted(places)


def test_a_step_has_its_source_and_what_the_passing_run_has(harmless: Tags) -> None:
    page = page_of("harmless")
    assert 'href="#t-5ad946-2"' in page
    assert 'id="t-5ad946-2"' in page
    assert page.count('id="t-5ad946-2"') == 1
    assert "In the run that passes" in page
    # Each step that is shown at its side closes the one before.
    assert page.count('<details name="steps-5ad946"') == 4


def test_a_known_failure_and_a_flaky_one_are_told_from_a_new_one() -> None:
    seeds = [{"name": "a", "path": "seeds/a.json", "status": "reproduced", "message": ""}]
    shown = result(
        failure(id="1", seed_path="seeds/a.json"), failure(id="2"), failure(id="3", flaky=True), seed_replays=seeds
    )
    badges = re.findall(r'class="badge (\w+)" title="[^"]+">(\w+)<', render_page(document(shown)))
    assert badges == [("known", "known"), ("new", "new"), ("flaky", "flaky")]


def test_kinds_of_runs_have_the_words_of_the_terminal_and_words_of_the_trade_are_explained() -> None:
    telemetry = {**result()["telemetry"], "runs": {"starts": {"fresh": 3, "leaning": 1}, "swarm": {}}}
    page = render_page(document(result(telemetry=telemetry)))
    assert "<dt>Runs</dt><dd>75% fresh, 25% from a checkpoint with changed arguments</dd>" in page
    assert re.search(r'<dt title="[^"]+">Checkpoints kept</dt>', page)


def test_all_of_a_suspicious_line_is_shown_and_figures_stand_below_their_names() -> None:
    page = render_page(document(result(failure())), views={"5ad946": view()})
    table = page[page.index('<table class="suspicious">') :].partition("</table>")[0]
    assert "text:1</code><br><code>text</code></td>" in table
    faults = page[page.index("<summary>Faults</summary>") :].partition("</thead>")[0]
    assert faults.count('class="number"') == 3


def test_without_findings_it_says_so() -> None:
    page = render_page(document(result(inconclusive=None, notes=[])))
    assert "No findings in Bank" in page
    assert "No failures were found." in page


def test_a_step_that_was_not_recorded_has_a_reason() -> None:
    page = render_page(document(result(failure())), views={"5ad946": TraceView(reason="the failure ends its process")})
    assert "Not shown step by step: the failure ends its process." in page


def test_three_findings_are_small_and_so_is_a_long_trace() -> None:
    text = "value = {'A1': 'DELIVERED'}"
    failures = [failure(text, id=str(number)) for number in range(3)]
    short = render_page(document(result(*failures)), views={str(n): view(text, 15) for n in range(3)}, events=events())
    assert len(short.encode()) < 400_000
    one = render_page(document(result(failures[0])), views={"0": view(text, 15)})
    without = render_page(document(result(failures[0])))
    assert len(one) - len(without) < 200_000
    long = render_page(document(result(failures[0])), views={"0": view(text, 1000)})
    assert len(long.encode()) < 2_000_000


def test_a_long_trace_has_few_elements_and_all_of_the_text() -> None:
    texts = view("seen", 1_000)
    long = Tags(render_page(document(result(failure())), views={"5ad946": texts}))
    # A page opens as fast as it has few elements: no tables, and nothing to open inside of a step.
    assert sum(long.tags.values()) < 30_000
    assert long.tags["details"] < 1_020
    assert long.tags["table"] < 10
    said = " ".join("".join(long.texts).split())
    for text in ("Drew seen", "Fault fired: seen", "Swallowed: seen raised at seen", "seen: absent \u2192 seen"):
        assert text in said
    assert "seen2: seen \u2192 gone" in said
    assert "1 line run for the first time in this trace: seen:1 seen" in said


def test_of_ten_thousand_findings_most_are_rows() -> None:
    shown = result(*[failure("a failure like many", id=f"{number:06x}") for number in range(10_000)])
    page = render_page(document(shown))
    assert len(page.encode()) < 4_000_000
    assert page.count('class="finding"') == ITEMS_MAX
    assert "00270f" in page


def test_the_same_report_makes_the_same_page() -> None:
    assert page_of("text") == page_of("text")


def test_properties_that_failed_come_first_and_the_environment_is_named() -> None:
    page = render_page(document(result()), events=events("1.2.3"))
    table = page[page.index("<h3>Properties") :]
    assert table.index("FAIL") < table.index("NOT EXERCISED") < table.index("PASS")
    environment = page[page.index('<h2 id="environment">') :]
    for name in ("ordeal", "Run", "Began", "Python", "Hypothesis", "System", "Processors", "<code>seed</code>"):
        assert f"<dt>{name}</dt>" in environment


@pytest.mark.parametrize(
    ("options", "command"),
    [
        ({}, ""),
        ({"seed": 7, "max_time": 5.0, "target_modules": ["shop"]}, "ordeal explore --seed 7 --max-time 5"),
        (
            {"classes": ["test_shop:ShopChaos"], "target_modules": ["shop"], "max_runs": 9, "config": "ordeal.toml"},
            "ordeal explore test_shop:ShopChaos -t shop --max-runs 9",
        ),
        ({"classes": 3, "target_modules": None, "config": "other.toml"}, "ordeal explore -c other.toml"),
    ],
)
def test_the_command_is_the_one_that_ran(options: dict[str, object], command: str) -> None:
    assert command_of(options) == command
