"""Builds the site of the documentation from the Markdown files as they lie, with Sphinx: `make docs` calls it.

usage: python tools/docs_site.py FOLDER, with the Python of tools/docs-environment

The files are copied beside each other before Sphinx sees them: those of docs/, the examples and the files of the root.
What it would need in them besides is made here: the tables of contents are the lists of docs/index.md, and the pages of
the API are made of the public modules. A warning is an error.
"""

from __future__ import annotations

import ast
import os
import posixpath
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
#: Pages of the root of the repository, by the place that they get on the site.
PROJECT = {
    "README.md": "project/readme.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changes.md",
    "benchmarks/RESULTS.md": "project/measurements.md",
}
LINK = re.compile(r"\]\(([^()\s]+)\)")
ITEM = re.compile(r"^- \[([^\]]+)\]\(([^()#]+\.md)\)")
PICTURE = re.compile(r"^!\[([^\]]*)\]\(([^()\s]+\.png)\)$", re.MULTILINE)
FENCE = re.compile(r"^\s*```")
#: The directives of a page of the API are reStructuredText, as docstrings are.
AUTOMODULE = """# `{name}`

```{{eval-rst}}
.. automodule:: {name}
   :members:
   :show-inheritance:
   :exclude-members: {elsewhere}
```
"""
CONF = '''"""Written by tools/docs_site.py."""

import ordeal.result.exploration
import ordeal.result.failure
from ordeal._base import property_tracker, trace_file

# Signatures name what only type checkers import there.
for module in (ordeal.result.exploration, ordeal.result.failure):
    vars(module).update(vars(trace_file) | vars(property_tracker) | vars(module))

project = "ordeal"
copyright = "the authors of ordeal"
version = release = {version!r}
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
html_theme = "furo"
html_title = "ordeal " + version
html_copy_source = False
html_show_sourcelink = False
myst_heading_anchors = 4
myst_links_external_new_tab = False
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
default_role = "code"
autodoc_typehints = "both"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90
pygments_style = "friendly"
pygments_dark_style = "github-dark"
'''


@dataclass(frozen=True, slots=True)
class Section:
    """A heading of the index, with the titles and the files that its list names."""

    title: str
    pages: tuple[tuple[str, str], ...]


def places(root: Path = ROOT) -> dict[str, str]:
    """For each Markdown file of the site, by its path in the repository, its path on the site."""
    found = {name: place for name, place in PROJECT.items() if (root / name).exists()}
    for path in sorted(root.glob("docs/**/*.md")):
        found[path.relative_to(root).as_posix()] = path.relative_to(root / "docs").as_posix()
    for path in sorted([*root.glob("examples/README.md"), *root.glob("examples/*/README.md")]):
        name = "index" if path.parent.name == "examples" else path.parent.name
        found[path.relative_to(root).as_posix()] = f"examples/{name}.md"
    return found


def relinked(text: str, source: str, known: Mapping[str, str], root: Path = ROOT) -> tuple[str, dict[str, str]]:
    """Return a page with its links as they are on the site, and the files that it links to which are no pages of it.

    The files are given by their path in the repository, with their path on the site.
    """
    files: dict[str, str] = {}

    def at_its_place(match: re.Match[str]) -> str:
        target, hash_sign, anchor = match[1].partition("#")
        if not target or "://" in target or target.startswith("mailto:"):
            return match[0]
        meant = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if (root / meant).is_dir():
            meant = posixpath.join(meant, "README.md")
        if meant in known:
            place = known[meant]
        elif (root / meant).is_file():
            place = meant.removeprefix("docs/") if meant.startswith("docs/") else f"files/{meant}"
            # Sphinx takes any other Markdown file for a page that no list names.
            place += ".txt" if place.endswith(".md") else ""
            files[meant] = place
        else:
            return match[0]
        here = posixpath.dirname(known[source]) or "."
        return f"]({posixpath.relpath(place, here)}{hash_sign}{anchor})"

    lines, inside = [], False
    for line in text.splitlines():
        inside ^= bool(FENCE.match(line))
        lines.append(line if inside else LINK.sub(at_its_place, line))
    return "\n".join(lines) + "\n", files


def in_both_lights(text: str, folder: Path) -> tuple[str, list[Path]]:
    """Return a page whose pictures change with the light of the reader, and the pictures that this takes.

    A picture ``report.png`` is that of light pages where ``report-dark.png`` lies next to it, and the other way round
    where ``trace-light.png`` does.
    """
    taken: list[Path] = []

    def both(match: re.Match[str]) -> str:
        shown = folder / match[2]
        for light, dark in ((shown, named(shown, "dark")), (named(shown, "light"), shown)):
            if light.is_file() and dark.is_file():
                taken.extend([light, dark])
                return "\n".join(
                    f"```{{image}} {Path(match[2]).with_name(path.name)}\n:alt: {match[1]}\n:class: only-{kind}\n```\n"
                    for kind, path in (("light", light), ("dark", dark))
                )
        return match[0]

    return PICTURE.sub(both, text), taken


def named(path: Path, light: str) -> Path:
    """Return the path of the same picture in another light."""
    return path.with_stem(f"{path.stem}-{light}")


def sections(index: str) -> list[Section]:
    """Return the headings of the index whose lists name pages."""
    found: list[tuple[str, list[tuple[str, str]]]] = []
    for line in index.splitlines():
        if line.startswith("## "):
            found.append((line.removeprefix("## ").partition(":")[0], []))
        elif found and (item := ITEM.match(line)):
            found[-1][1].append((item[1], item[2]))
    return [Section(title, tuple(pages)) for title, pages in found if pages]


def tables_of_contents(index: str, extra: Mapping[str, list[tuple[str, str]]]) -> str:
    """Return the directives that make the navigation; ``extra`` are pages of a section that no list names."""
    parts = []
    for section in sections(index):
        pages = [*section.pages, *extra.get(section.title, [])]
        entries = "\n".join(f"{title} <{place.removesuffix('.md')}>" for title, place in pages)
        parts.append(f"\n```{{toctree}}\n:hidden:\n:caption: {section.title}\n\n{entries}\n```\n")
    return "".join(parts)


def public_modules(package: Path = ROOT / "python/ordeal") -> Iterator[str]:
    """Yield the modules that say what is public in them, but for those whose names the package above them has too."""
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        names = parts[:-1] if parts[-1] == "__init__" else parts
        if names and not any(name.startswith("_") for name in names) and (own := exported(path)):
            above = path.parent / "__init__.py"
            if path == above or not own <= exported(above):
                yield ".".join(("ordeal", *names))


def exported(path: Path) -> set[str]:
    """The names in the ``__all__`` of a file."""
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def described_elsewhere(name: str, modules: Sequence[str], package: Path = ROOT / "python/ordeal") -> list[str]:
    """Return the public names of a module that it has from another of ``modules``, or from another library."""
    path = package.joinpath(*name.split(".")[1:])
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    public = exported(path)
    return sorted(
        alias.name
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module in modules or not str(node.module).startswith("ordeal"))
        for alias in node.names
        if alias.name in public
    )


def stage(folder: Path) -> None:
    """Write the sources of the site, as Sphinx takes them, into an empty folder."""
    known = places()
    files: dict[str, str] = {}
    for name, place in known.items():
        source = ROOT / name
        text, linked = relinked(source.read_text("utf-8"), name, known)
        if source.is_relative_to(ROOT / "docs"):
            text, pictures = in_both_lights(text, source.parent)
            linked |= {
                each.relative_to(ROOT).as_posix(): each.relative_to(ROOT / "docs").as_posix() for each in pictures
            }
        files |= linked
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    for name, place in files.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / place)
    modules = list(public_modules())
    (folder / "api").mkdir()
    for name in modules:
        (folder / "api" / f"{name}.md").write_text(
            AUTOMODULE.format(name=name, elsewhere=", ".join(described_elsewhere(name, modules))), "utf-8"
        )
    listed = "".join(f"- [`{name}`]({name}.md)\n" for name in modules)
    toctree = "\n".join(modules)
    contents = f"```{{toctree}}\n:hidden:\n\n{toctree}\n```\n"
    opening = "# API\n\nThe public modules, from their docstrings.\n"
    (folder / "api/index.md").write_text(f"{opening}\n{listed}\n{contents}", "utf-8")
    index = folder / "index.md"
    examples = [place for place in known.values() if place.startswith("examples/") and place != "examples/index.md"]
    contents = tables_of_contents(index.read_text("utf-8"), {"Reference": [("API", "api/index.md")]})
    index.write_text(index.read_text("utf-8") + contents, "utf-8")
    with (folder / "examples/index.md").open("a", encoding="utf-8") as file:
        entries = "\n".join(Path(place).stem for place in examples)
        file.write(f"\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n")
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    (folder / "conf.py").write_text(CONF.format(version=version), "utf-8")


def main() -> int:
    """Build the site into the folder that is named on the command line."""
    folder = Path(sys.argv[1]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "source").mkdir(parents=True)
    stage(folder / "source")
    command = [sys.executable, "-m", "sphinx", "--quiet", "-W", "--keep-going", "-b", "html", "source", "html"]
    # Sphinx keeps the time of the build out of the pages where this is set.
    environment = {"SOURCE_DATE_EPOCH": "0", **os.environ}
    done = subprocess.run(command, cwd=folder, check=False, env=environment)
    if done.returncode == 0:
        print(folder / "html/index.html")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
