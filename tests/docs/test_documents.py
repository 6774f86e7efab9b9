"""Runs what the documentation shows: every fenced block of the Markdown files, in the order in which it is read.

Python blocks of one file share their names and run in an empty folder. Shell blocks must parse, console blocks by
what is typed in them, and a TOML block must be valid: one with [[tests]] as a whole ordeal.toml. So must a YAML block:
what it says to Kubernetes must fit the schema of that.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser
from sybil.typing import Parser
from tests.warm_python import run_module

from ordeal._base.live_threads import has_gil
from ordeal.config.settings_file import load_config

ROOT = Path(__file__).parent.parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])

# Blocks of other languages are there to be looked at: output, C++, file trees.
SHOWN_ONLY = {"", "text", "cpp", "json"}


#: The output below a block of Python.
BELOW = r"(?:```)?\s*(?:<!---.*?-->\s*)?```text\n(.*?)```"
#: First lines of outputs that another test makes, or that need another computer, another Python, or a person.
SHOWN_ELSEWHERE = {
    "# .gitignore",
    "$ ordeal benchmark --max-workers 8",
    "$ ordeal compare main",
    "$ ordeal dashboard",
    "$ ordeal explore",  # and a page whose name is the time
    "$ ordeal gate --changed main",
    "$ ordeal report diff monday.json tuesday.json",
    "$ ordeal seeds pull redis://store.example.org:6379/0",
    '$ python3.14t -c "import sys, ordeal; print(sys._is_gil_enabled())"',
    # tests/examples/test_missing_invariant.py
    "shop/inventory.py:30  Inventory.reserve  survived  delete_statement  1e4ffe8c87dd",
    "    @invariant()",
    "promises_can_be_kept             7        3  stock.reserved, stock.on_hand",
    "killed, in 3 steps: AssertionError: more units are promised than there are",
}


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


class Page:
    """What the hidden blocks of a page use: its other blocks, and commands that run in its folder."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._text = path.read_text("utf-8")
        self.used: set[str] = set()

    def page_path(self) -> Path:
        return self._path

    def page_text(self) -> str:
        return self._text

    def block(self, language: str, number: int = 1) -> str:
        """Return the text of the nth block of a language."""
        found = self._text.split(f"```{language}\n")[number].split("```")[0]
        self.used.add(found)
        return found

    def outputs(self) -> list[str]:
        """Return the blocks that show more than what a reader types."""
        found = re.findall(r"^```(console|text)\n(.*?)^```", self._text, re.DOTALL | re.MULTILINE)
        command = re.compile(r"^\$ (?:.*\\\n)*.*$", re.MULTILINE)
        shown = [text for language, text in found if language == "text" or command.sub("", text).strip()]
        return [text for text in shown if not text.startswith("Saturation: ")]

    def save_blocks(self, *names: str) -> None:
        """Write the first blocks of Python into files of these names, which can be imported from then on."""
        for number, name in enumerate(names, 1):
            Path(name).write_text(self.block("python", number), "utf-8")
        sys.path.insert(0, str(Path.cwd()))
        importlib.invalidate_caches()

    @staticmethod
    def run(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a module of Python by its name, such as ordeal, without starting an interpreter for it."""
        path = os.pathsep.join(filter(None, sys.path))
        fixed = {"PYTHONPATH": path, "COLUMNS": "80", "PYTHONDONTWRITEBYTECODE": "1"}
        return run_module(*words, environment={**os.environ, **fixed, **variables})

    def run_pytest(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run pytest with the plugin of ordeal and no other, whether ordeal is installed or used from its sources."""
        alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
        return self.run("pytest", "-p", "_ordeal_pytest", *words, **alone, **variables)

    @staticmethod
    def shows(output: str, shown: str) -> bool:
        """Return True if each line that is shown is in the output, in that order; but for counts, times and hashes."""
        of_pytest = r".* in [\d.]+s( =+)?|platform .*|rootdir: .*|plugins: .*"
        left_out = re.compile(rf"\$ .*|\.\.\.|  \[\d+s\] .*|\s*Saturation: .*|{of_pytest}|[\s^]*")
        counts = r"\b\d[\d,]* (?=runs?|steps|edges|checkpoints)|(?<=[Rr]un )\d+"
        changing = re.compile(rf"{counts}|\b\d+(\.\d+)? ?s\b|(?<=seed-)[0-9a-f]{{12}}")
        expected = [changing.sub("N", line) for line in shown.splitlines() if not left_out.fullmatch(line)]
        lines = (changing.sub("N", line).rstrip() for line in output.splitlines())
        return all(any(line == found for found in lines) for line in expected)

    @staticmethod
    def printed(*done: subprocess.CompletedProcess[str]) -> str:
        """Return what a terminal shows of commands: the report comes before the last line of the rest."""
        both = [(each.stdout, each.stderr.splitlines(keepends=True)) for each in done]
        return "".join("".join([*rest[:-1], report, *rest[-1:]]) for report, rest in both)


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
    page = Page(path)
    for name in ("page_path", "page_text", "block", "save_blocks", "run", "run_pytest", "shows", "printed"):
        document.namespace[name] = getattr(page, name)
    before = [*sys.path]
    try:
        for example in document.examples():
            if "faults.memory" in example.document.text[example.start : example.end] and not has_gil():
                continue
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                example.evaluate()
            # What a block prints may stand below it.
            below = re.match(BELOW, page.page_text()[example.end :], re.DOTALL)
            if below and printed.getvalue():
                assert page.shows(printed.getvalue(), below[1]), f"{printed.getvalue()}\nis not\n{below[1]}"
                page.used.add(below[1])
    finally:
        sys.path[:] = before
        for name, module in [*sys.modules.items()]:
            if str(getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
                del sys.modules[name]
    unchecked = [
        text for text in page.outputs() if text not in page.used and text.splitlines()[0] not in SHOWN_ELSEWHERE
    ]
    assert not unchecked or ROOT / "docs" not in path.parents, f"{path.name} shows what no block checks: {unchecked}"


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
