"""The libraries whose mutants are hunted: the newest release of each, in a folder of its own, and its machine."""

from dataclasses import dataclass
from pathlib import Path

from harness.peers import folder_with

# Hypothesis draws constants that it finds in modules outside of such a folder, and these are no modules of a project.
PACKAGES = "site-packages"


@dataclass(frozen=True, slots=True)
class Library:
    """A library on the package index.

    Attributes:
        package: its name there.
        machine: the module in ``mutants.machines``.
        module: what it is imported as, and what the engines may trace.
        files: the files that are mutated, from its folder on; those that the machine is about.
        requires: packages that it imports.
    """

    package: str
    machine: str
    module: str
    files: tuple[str, ...]
    requires: tuple[str, ...] = ()

    def folder(self) -> Path:
        """The folder with its newest release, made at the first call.

        Raises:
            PeerError: it cannot be installed.
        """
        return folder_with(f"mutants/{self.package}/{PACKAGES}", "--no-compile", self.package, *self.requires)

    def release(self) -> str:
        """Its name and version."""
        return next(path.stem.replace("-", " ") for path in self.folder().glob(f"{self.package}-*.dist-info"))


LIBRARIES = (
    Library("bidict", "bidict_ordered", "bidict", ("bidict/_base.py", "bidict/_bidict.py", "bidict/_orderedbase.py")),
    Library("boltons", "boltons_multidict", "boltons", ("boltons/dictutils.py", "boltons/cacheutils.py")),
    Library("cachetools", "cachetools_caches", "cachetools", ("cachetools/__init__.py",)),
    Library(
        "h11", "h11_ends", "h11", ("h11/_connection.py", "h11/_readers.py", "h11/_receivebuffer.py", "h11/_state.py")
    ),
    Library("hpack", "hpack_ends", "hpack", ("hpack/hpack.py", "hpack/table.py")),
    Library(
        "intervaltree", "intervaltree_tree", "intervaltree", ("intervaltree/node.py", "intervaltree/intervaltree.py")
    ),
    Library("pygtrie", "pygtrie_trie", "pygtrie", ("pygtrie.py",)),
    Library("pyrsistent", "pyrsistent_vector", "pyrsistent", ("pyrsistent/_pvector.py", "pyrsistent/_pmap.py")),
    Library("tinydb", "tinydb_table", "tinydb", ("tinydb/table.py", "tinydb/queries.py", "tinydb/utils.py")),
    Library("zict", "zict_buffer", "zict", ("zict/buffer.py", "zict/lru.py", "zict/utils.py", "zict/common.py")),
)


def library_named(package: str) -> Library:
    """The library of that name."""
    return next(each for each in LIBRARIES if each.package == package)
