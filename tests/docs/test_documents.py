"""Runs what the documentation shows: every fenced block of the Markdown files, in the order in which it is read.

Python blocks of one file share their names and run in an empty folder. Shell blocks must parse, console blocks by
what is typed in them, and a TOML block must be valid: one with [[tests]] as a whole ordeal.toml. So must a YAML block:
what it says to Kubernetes must fit the schema of that.
"""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser
from sybil.typing import Parser
from tests.warm_python import run_module

from ordeal.config.settings_file import load_config

ROOT = Path(__file__).parent.parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])

# Blocks of other languages are there to be looked at: output, C++, file trees.
SHOWN_ONLY = {"", "text", "cpp", "json"}


def shell_error(text: str) -> str | None:
    """What bash says about a text that it cannot parse. Nothing of it is run."""
    done = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
    return done.stderr or None


def typed(text: str) -> str:
    """The commands of a console block: the lines behind a prompt, with their continuations."""
    commands: list[str] = []
    continued = False
    for line in text.splitlines():
        if line.startswith("$ ") or continued:
            commands.append(line.removeprefix("$ "))
            continued = line.endswith("\\")
    return "\n".join(commands)


def check_shell(example: Example) -> str | None:
    return shell_error(example.parsed)


def check_console(example: Example) -> str | None:
    commands = typed(example.parsed)
    return shell_error(commands) if commands else "no line starts with '$ ': call the block text, as nothing is typed"


def check_toml(example: Example) -> None:
    if "tests" in tomllib.loads(example.parsed):
        Path("ordeal.toml").write_text(example.parsed, "utf-8")
        load_config("ordeal.toml")


def yaml_error(text: str) -> str | None:
    """What is wrong with the documents of a YAML text. Those with an ``apiVersion`` are meant for Kubernetes."""
    try:
        for document in yaml.safe_load_all(text):
            if isinstance(document, dict) and "apiVersion" in document:
                kubernetes_validate.validate(document, kubernetes_validate.latest_version(), strict=True)
    except kubernetes_validate.SchemaNotFoundError as error:
        return str(error.message)
    except (yaml.YAMLError, kubernetes_validate.ValidationError) as error:
        return str(error)
    return None


def check_yaml(example: Example) -> str | None:
    return yaml_error(example.parsed)


PARSERS: list[Parser] = [
    PythonCodeBlockParser(),
    CodeBlockParser("bash", check_shell),
    CodeBlockParser("console", check_console),
    CodeBlockParser("toml", check_toml),
    CodeBlockParser("yaml", check_yaml),
]
CHECKED = {"python", "bash", "console", "toml", "yaml"}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_blocks_of(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    document = Sybil(parsers=PARSERS, path=str(path.parent), pattern=path.name).parse(path)
    # Classes in a document ask for the module they are from.
    document.namespace["__name__"] = "document"
    # What a page does not show may start pytest, and the command line, without an interpreter of its own for each.
    document.namespace["run_module"] = run_module
    for example in document.examples():
        example.evaluate()


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_block_names_a_known_language(path: Path) -> None:
    inside = False
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            inside = not inside
            language = line.strip().removeprefix("```")
            assert not inside or language in CHECKED | SHOWN_ONLY, f"{path.name}:{number}: {language} is not checked"


def relative_links(path: Path) -> list[str]:
    """The targets of a document's links to other files of the project."""
    targets = []
    for line in path.read_text("utf-8").splitlines():
        for part in line.split("](")[1:]:
            target = part.split(")")[0].split("#")[0]
            if target and "://" not in target:
                targets.append(target)
    return targets


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    missing = [target for target in relative_links(path) if not (path.parent / target).exists()]
    assert not missing, f"{path.name} links to files that do not exist: {missing}"


def test_console_blocks_are_read_by_their_prompts() -> None:
    assert (
        typed("$ make test\nall good\n$ ordeal explore \\\n    -v\nno failures")
        == "make test\nordeal explore \\\n    -v"
    )


def test_a_broken_shell_block_is_an_error() -> None:
    assert shell_error("make test") is None
    assert "syntax error" in (shell_error("if true; then") or "")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("a: [1", "expected"),
        ("apiVersion: batch/v1\nkind: Job\nspec: {template: {spec: {containers: []}}, parallelism: many}", "many"),
        ("apiVersion: batch/v1\nkind: Job\nspec: {template: {spec: {containers: []}}, parallel: 3}", "parallel"),
        ("apiVersion: batch/v1\nkind: Jib", "Jib"),
    ],
)
def test_a_broken_yaml_block_is_an_error(text: str, error: str) -> None:
    assert re.search(error, yaml_error(text) or "")


def test_a_sound_yaml_block_is_none() -> None:
    assert yaml_error("on: [push]\n---\napiVersion: v1\nkind: Service\nmetadata: {name: x}") is None
