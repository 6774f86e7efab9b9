"""Turns results and errors into the text that people read and the JSON that programs read."""

from __future__ import annotations

from ordeal.report.exploration import (
    exploration_report,
    failure_text,
    json_report,
    progress_line,
    reachable_call,
    replay_hint,
    session_header,
    summary_text,
    swarm_text,
    trace_steps,
)
from ordeal.report.replay import ablation_text, replay_header, replay_json, replay_outcome, replay_steps, shrunk_text
from ordeal.report.words import (
    capped,
    counted,
    describe_error,
    error_message,
    error_text,
    indented,
    name_list,
    one_line,
    program_lines,
    safe_lines,
    short_names,
)

__all__ = [
    "ablation_text",
    "capped",
    "counted",
    "describe_error",
    "error_message",
    "error_text",
    "exploration_report",
    "failure_text",
    "indented",
    "json_report",
    "name_list",
    "one_line",
    "program_lines",
    "progress_line",
    "reachable_call",
    "replay_header",
    "replay_hint",
    "replay_json",
    "replay_outcome",
    "replay_steps",
    "safe_lines",
    "session_header",
    "short_names",
    "shrunk_text",
    "summary_text",
    "swarm_text",
    "trace_steps",
]
