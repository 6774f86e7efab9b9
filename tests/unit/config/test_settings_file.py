"""The settings file: what every key accepts, and the message for everything else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ordeal.config.options import ExplorerConfig, ReportConfig, TestConfig
from ordeal.config.settings_file import OrdealConfig, load_config, load_config_for
from ordeal.errors import ConfigError

TESTS = '[[tests]]\nclass = "tests.test_chaos:MyServiceChaos"\n'
EXAMPLE = 'class = "tests.test_chaos:MyServiceChaos"'


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def load(text: str) -> OrdealConfig:
    Path("ordeal.toml").write_text(text, encoding="utf-8")
    return load_config()


def refusal(text: str) -> tuple[str, str]:
    with pytest.raises(ConfigError) as caught:
        load(text)
    assert caught.value.hint is not None
    assert "\n" not in caught.value.message + caught.value.hint
    return caught.value.message, caught.value.hint


class TestValues:
    def test_defaults(self) -> None:
        only = TestConfig(class_path="tests.test_chaos:MyServiceChaos")
        assert load(TESTS) == OrdealConfig(explorer=ExplorerConfig(), tests=(only,), report=ReportConfig())

    def test_values_have_the_types_of_their_options(self) -> None:
        config = load(f'[explorer]\ntarget_modules = ["a"]\nmax_time = 300\n{TESTS}swarm = true\nrule_timeout = 2\n')
        assert (config.explorer.target_modules, config.tests[0].swarm) == (("a",), True)
        assert (type(config.explorer.max_time), type(config.tests[0].rule_timeout)) == (float, float)

    def test_byte_order_mark_and_windows_newlines(self) -> None:
        Path("ordeal.toml").write_bytes(b"\xef\xbb\xbf" + TESTS.replace("\n", "\r\n").encode())
        assert len(load_config().tests) == 1


@pytest.mark.parametrize(
    ("line", "shown", "expected", "example"),
    [
        ('target_modules = "myapp"', '"myapp"', "a list of module names", '["myapp"]'),
        ('max_time = "abc"', '"abc"', "a number of seconds above 0", "60"),
        ("max_time = nan", "nan", "a number of seconds above 0", "60"),
        ("max_time = true", "true", "a number of seconds above 0", "60"),
        (f"max_time = 1{'0' * 400}", "a number of 1329 bits", "a number of seconds above 0", "60"),
        ("max_runs = 0", "0", "a whole number, 1 or more", "1000"),
        ("seed = 18446744073709551616", "18446744073709551616", "a whole number from 0 to 2**64 - 1", "42"),
        ("max_checkpoints = 65537", "65537", "a whole number from 0 to 65536", "256"),
        ("checkpoint_prob = 7.0", "7.0", "a number from 0 to 1", "0.4"),
        ('checkpoint_strategy = "foo"', '"foo"', 'one of "energy", "uniform", "recent"', '"energy"'),
        ("max_runs = 9223372036854775808", "9223372036854775808", "a whole number, 1 or more", "1000"),
        ("workers = true", "true", "a whole number from 0 (all cores) to 4096", "2"),
        ('share_edges = "yes"', '"yes"', "a boolean", "true"),
        ("rule_timeout = inf", "inf", "a number of seconds", "30.0"),
        ("share_edges = 2026-01-01", "datetime.date(2026, 1, 1)", "a boolean", "true"),
    ],
)
def test_value_of_explorer_that_cannot_be_used(line: str, shown: str, expected: str, example: str) -> None:
    key = line.split(" ")[0]
    assert refusal(f"[explorer]\n{line}\n{TESTS}") == (
        f"`{key}` in [explorer] of ordeal.toml is {shown}, not {expected}",
        f"write {expected}, for example `{key} = {example}`",
    )


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            '[[tests]]\nclass = "t1defs"\n',
            '`class` in [[tests]] number 1 of ordeal.toml is "t1defs", not a class path "module.path:ClassName"',
            f'write a class path "module.path:ClassName", for example `{EXAMPLE}`',
        ),
        (
            "[[tests]]\nsteps_per_run = 3\n",
            "[[tests]] number 1 in ordeal.toml has no `class` key",
            f"add a line such as `{EXAMPLE}`",
        ),
        ("", "no [[tests]] entries in ordeal.toml", f"add `[[tests]]` and below it `{EXAMPLE}`"),
        ("tests = []", "no [[tests]] entries in ordeal.toml", f"add `[[tests]]` and below it `{EXAMPLE}`"),
        (
            '[tests]\nclass = "a:B"\n',
            "`tests` in ordeal.toml is not a list of sections",
            f"write `[[tests]]` and below it `{EXAMPLE}`, with double brackets",
        ),
        ("explorer = 3\n", "`explorer` in ordeal.toml is not a section", "write `[explorer]` on its own line"),
        (
            f"[explorer]\nmaxtime = 3\n{TESTS}",
            "unknown key `maxtime` in [explorer] of ordeal.toml",
            "did you mean `max_time`?",
        ),
        (
            f"{TESTS}clas = 3\n",
            "unknown key `clas` in [[tests]] number 1 of ordeal.toml",
            "did you mean `class`?",
        ),
        (
            f"[explorer]\nngram = 2\n{TESTS}",
            "unknown key `ngram` in [explorer] of ordeal.toml",
            "remove the line: ordeal always follows single edges",
        ),
        (
            f"[explorer]\nverbose = true\n{TESTS}",
            "unknown key `verbose` in [explorer] of ordeal.toml",
            "move the line to [report]",
        ),
        (
            f'[report]\nformat = "xml"\n{TESTS}',
            '`format` in [report] of ordeal.toml is "xml", not one of "text", "json", "both"',
            'write one of "text", "json", "both", for example `format = "text"`',
        ),
        (
            f'[report]\ntraces_dir = "a\\u0000b"\n{TESTS}',
            '`traces_dir` in [report] of ordeal.toml is "a\\x00b", not a folder path',
            'write a folder path, for example `traces_dir = ".ordeal/traces"`',
        ),
        (
            f"[explorers]\n{TESTS}",
            "unknown section [explorers] in ordeal.toml",
            "did you mean `explorer`?",
        ),
        (
            f"max_time = 3\n{TESTS}",
            "key `max_time` in ordeal.toml is outside a section",
            "put it below `[explorer]`",
        ),
        ("class = 'a:B'\n", "key `class` in ordeal.toml is outside a section", "put it below `[[tests]]`"),
        (
            "[explorer]\nmax_time = abc\n",
            "ordeal.toml is not valid TOML: Invalid value (at line 2, column 12)",
            "line 2 is: max_time = abc",
        ),
        (
            "a = [1,",
            "ordeal.toml is not valid TOML: Invalid value (at end of document)",
            "look for a bracket or quote that is not closed, or a value that is not complete",
        ),
        (f"a = {'[' * 100_000}", "ordeal.toml nests brackets too deeply", "write fewer levels"),
        (f"a = {'9' * 5000}", "ordeal.toml holds a number with too many digits", "write a shorter number"),
    ],
)
def test_file_that_cannot_be_used(text: str, message: str, hint: str) -> None:
    assert refusal(text) == (message, hint)


def test_key_with_a_newline_stays_on_one_line() -> None:
    message, _ = refusal(f'[explorer]\n"a\\nb\\u001b" = 1\n{TESTS}')
    assert message == r"unknown key `a\nb\x1b` in [explorer] of ordeal.toml"


class TestFile:
    def test_one_that_may_have_no_end(self) -> None:
        os.mkfifo("pipe")
        for name in ("pipe", "/dev/zero"):
            with pytest.raises(ConfigError) as caught:
                load_config(name)
            assert caught.value.message == f"config file cannot be read: {name}: it is not a regular file"

    def test_one_that_is_larger_than_any_settings(self) -> None:
        Path("ordeal.toml").write_bytes(b"#" * (2**20 + 1))
        with pytest.raises(ConfigError, match=r"config file is larger than 1048576 bytes: ordeal\.toml"):
            load_config()

    def test_a_key_of_twenty_thousand_parts(self) -> None:
        Path("ordeal.toml").write_text(".".join(["a"] * 20_000) + " = 1\n")
        with pytest.raises(ConfigError, match=r"ordeal\.toml has more than 5000 dots"):
            load_config()

    @pytest.mark.parametrize(
        ("path", "message", "hint"),
        [
            ("folder", "is a directory: folder", "name a file, for example `--config folder/ordeal.toml`"),
            ("latin", "is not valid UTF-8: latin", "save the file as UTF-8; the first other byte is in line 2"),
            ("latin/x", "cannot be read: latin/x: Not a directory", "check the path and its rights"),
            ("x" * 300, f"cannot be read: {'x' * 300}: File name too long", "check the path and its rights"),
            ("a\0b", r"cannot be read: a\x00b: embedded null byte", "check the path and its rights"),
        ],
    )
    def test_unreadable(self, path: str, message: str, hint: str) -> None:
        Path("folder").mkdir()
        Path("latin").write_bytes(b"# one\n# caf\xe9\n")
        with pytest.raises(ConfigError) as caught:
            load_config(path)
        assert (caught.value.message, caught.value.hint) == (f"config file {message}", hint)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("test_booking.py::ShowChaos", "test_booking:ShowChaos"),
        ("tests/test_booking.py", "tests.test_booking:ClassName"),
        ("tests/test_booking.py:ShowChaos", "tests.test_booking:ShowChaos"),
        ("ShowChaos", "tests.test_chaos:MyServiceChaos"),
        ("../odd name.py::A", "tests.test_chaos:MyServiceChaos"),
    ],
)
def test_the_hint_is_the_class_path_that_was_meant(
    given: str, meant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as raised:
        load_config_for([given], None)
    assert f"for example `{meant}`" in str(raised.value)


def test_settings_in_a_folder_above_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ordeal.toml").touch()
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    with pytest.raises(ConfigError, match=f"hint: there is one in {tmp_path}: run it there"):
        load_config_for([], None)
