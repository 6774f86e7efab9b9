"""The files that a module is made of."""

from __future__ import annotations

from pathlib import Path

from ordeal._base.imports import files_behind


def test_files_are_followed_through_every_form_of_import(tmp_path: Path) -> None:
    for name, text in {
        "tests/test_it.py": "import app.core\nfrom tests import helper\n",
        "tests/helper.py": "import json\n",
        "src/app/__init__.py": "",
        "src/app/core.py": "from . import parts\nfrom .deep import inner\nimport core_of_nothing\n",
        "src/app/parts.py": "def late():\n    from app.rare import thing\n",
        "src/app/rare.py": "thing = 1\nimport app.core\n",
        "src/app/deep/__init__.py": "from ..up import *\n",
        "src/app/deep/inner.py": "this is not Python\n",
        "src/app/up.py": "",
        "src/app/unused.py": "",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = files_behind(["tests.test_it"], [tmp_path, tmp_path / "src"])
    everything = {path.resolve() for path in tmp_path.rglob("*.py")}
    assert everything - found == {(tmp_path / "src/app/unused.py").resolve()}
    assert files_behind(["no.such", "json"], [tmp_path]) == set()
