"""Which values a parameter may take: candidates by its annotation, its default and its name, the likeliest first.

Each candidate is the text of a strategy and of a type for the file that is written, and a function that draws a value
to try it with. Names in capitals are constants of the written file.
"""

from __future__ import annotations

import ast
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ordeal._native as _native


class Chance:
    """The draws of a trial, which are the same each time."""

    def __init__(self, seed: int) -> None:
        self._rng = _native.Rng(seed, "scaffold")

    def random(self) -> float:
        """Return a number from 0 to below 1."""
        return self._rng.random()

    def randint(self, low: int, high: int) -> int:
        """Return a whole number from ``low`` to ``high``."""
        return low + int(self.random() * (high - low + 1))

    def choice[Item](self, items: Sequence[Item]) -> Item:
        """Return one of the items."""
        return items[self.randint(0, len(items) - 1)]


Sampler = Callable[[Chance], Any]

#: The methods behind operators that are tried, with what a program writes for them.
SYMBOLS = {
    "__add__": "+",
    "__sub__": "-",
    "__or__": "|",
    "__and__": "&",
    "__xor__": "^",
    "__eq__": "==",
    "__lt__": "<",
    "__le__": "<=",
    "__mul__": "*",
}
#: What the written file defines if it is used: values that are few, so that calls meet those of earlier ones again.
CONSTANTS = {
    "KEYS": "st.integers(0, 9)",
    "VALUES": "st.integers(-5, 5)",
    "SIZES": "st.integers(0, 8)",
    "NAMES": 'st.sampled_from(["a", "b", "c", "ab"])',
    "TEXTS": 'st.text("ab 1.", max_size=6)',
    "LISTS": "st.lists(VALUES, max_size=6)",
    "PAIRS": "st.lists(st.tuples(KEYS, VALUES), max_size=6)",
    "DICTS": "st.dictionaries(KEYS, VALUES, max_size=6)",
    "RECORDS": "st.dictionaries(NAMES, VALUES, max_size=4)",
    "CALLBACKS": "st.just(callback)",
    "AMOUNTS": "st.decimals(-100, 100, places=2)",
    "DAYS": "st.dates(date(2000, 1, 1), date(2030, 1, 1))",
}


#: What a constructor is given in place of a drawn value when its objects keep files: where they are, in a folder that
#: the machine makes for each run.
PLACES = {"FOLDER": "self.folder.name", "FILE": 'f"{self.folder.name}/data"'}
_PLACE_WORDS = frozenset(
    {"path", "filename", "filepath", "file", "directory", "dir", "dirname", "folder", "root", "location", "storage"}
    | {"database", "db", "base", "basedir", "rootdir", "workdir", "datadir", "fname"}
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """Values that a parameter may take; ``imports`` are what their strategy names, each as ``module:Name``."""

    strategy: str
    type: str
    draw: Sampler
    imports: tuple[str, ...] = ()


def callback(*_args: object, **_kwargs: object) -> int:
    """Stand in for the functions that calls take."""
    return 1


def _integers(low: int, high: int) -> Sampler:
    return lambda rng: rng.randint(low, high)


def _lists(item: Sampler, most: int = 6) -> Sampler:
    return lambda rng: [item(rng) for _ in range(rng.randint(0, most))]


def _texts(rng: Chance) -> str:
    return "".join(rng.choice("ab 1.") for _ in range(rng.randint(0, 6)))


def _names(rng: Chance) -> str:
    return rng.choice(["a", "b", "c", "ab"])


KEY = Candidate("KEYS", "int", _integers(0, 9))
VALUE = Candidate("VALUES", "int", _integers(-5, 5))
SIZE = Candidate("SIZES", "int", _integers(0, 8))
POSITIVE = Candidate("st.integers(1, 8)", "int", _integers(1, 8))
NAME = Candidate("NAMES", "str", _names)
TEXT = Candidate("TEXTS", "str", _texts)
LIST = Candidate("LISTS", "list[int]", _lists(VALUE.draw))
PAIRS = Candidate("PAIRS", "list[tuple[int, int]]", _lists(lambda rng: (KEY.draw(rng), VALUE.draw(rng))))
DICT = Candidate(
    "DICTS", "dict[int, int]", lambda rng: {KEY.draw(rng): VALUE.draw(rng) for _ in range(rng.randint(0, 6))}
)
RECORD = Candidate(
    "RECORDS", "dict[str, int]", lambda rng: {_names(rng): VALUE.draw(rng) for _ in range(rng.randint(0, 4))}
)
CALLBACK = Candidate("CALLBACKS", "Callable[..., int]", lambda _: callback)
BOOL = Candidate("st.booleans()", "bool", lambda rng: rng.random() < 0.5)
FLOAT = Candidate("st.floats(-100, 100)", "float", lambda rng: 200 * rng.random() - 100)
BYTES = Candidate(
    "st.binary(max_size=6)", "bytes", lambda rng: bytes(rng.randint(0, 255) for _ in range(rng.randint(0, 6)))
)
NONE = Candidate("st.none()", "None", lambda _: None)
NAME_LIST = Candidate("st.lists(NAMES, max_size=4)", "list[str]", _lists(_names, 4))
VERSION = Candidate(
    'st.sampled_from(["1.2.3", "1.0.0-rc.1", "2.0.0+build.5", "0.1.0"])',
    "str",
    lambda rng: rng.choice(["1.2.3", "1.0.0-rc.1", "2.0.0+build.5", "0.1.0"]),
)
PATH = Candidate('st.just("file.txt")', "str", lambda _: "file.txt")
INI = Candidate(
    r'st.sampled_from(["[a]\nx=1\n", "[a]\nx=1\ny = 2\n[b]\nx=3\n", ""])',
    "str",
    lambda rng: rng.choice(["[a]\nx=1\n", "[a]\nx=1\ny = 2\n[b]\nx=3\n", ""]),
)
DATES = Candidate(
    "st.datetimes(datetime(2000, 1, 1), datetime(2030, 1, 1))",
    "datetime",
    lambda rng: __import__("datetime").datetime(2000 + rng.randint(0, 29), rng.randint(1, 12), rng.randint(1, 28)),
)
DELTAS = Candidate(
    "st.timedeltas(timedelta(0), timedelta(days=3))",
    "timedelta",
    lambda rng: __import__("datetime").timedelta(seconds=rng.randint(0, 3 * 86_400)),
)

#: What is tried for a parameter of which nothing is known.
ANYTHING = (KEY, NAME, LIST, PAIRS, DICT, RECORD, CALLBACK)

_BY_TYPE: dict[str, tuple[Candidate, ...]] = {
    "int": (VALUE, SIZE, POSITIVE),
    "str": (NAME, TEXT, VERSION),
    "bool": (BOOL,),
    "float": (FLOAT,),
    "complex": (FLOAT,),
    "bytes": (BYTES,),
    "None": (NONE,),
    "NoneType": (NONE,),
    "list": (LIST, NAME_LIST),
    "tuple": (LIST, PAIRS),
    "set": (LIST,),
    "frozenset": (LIST,),
    "dict": (DICT, RECORD),
    "Sequence": (LIST, NAME_LIST),
    "Iterable": (LIST, PAIRS, NAME_LIST),
    "Iterator": (LIST,),
    "Collection": (LIST,),
    "Mapping": (DICT, RECORD),
    "MutableMapping": (DICT, RECORD),
    "Callable": (CALLBACK,),
    "datetime": (DATES,),
    "timedelta": (DELTAS,),
    "PathLike": (PATH,),
    "Path": (PATH,),
    "Any": ANYTHING,
    "object": ANYTHING,
    "Hashable": (KEY, NAME),
}
#: What the name of a function ends in that a call takes.
_FUNCTIONS = frozenset(
    {
        *("func", "fn", "function", "callable", "callback", "cb", "hook", "predicate", "cond", "factory", "job"),
        *("receiver", "getsizeof", "handler", "listener", "observer", "visitor", "reducer", "initializer", "mapper"),
        *("formatter", "converter", "validator", "serializer", "deserializer", "encoder", "decoder", "hasher"),
        *("comparator", "getter", "setter", "loader", "dumper", "resolver", "combiner", "transformer", "processor"),
    }
)
#: The words that a name is made of, and what it then probably holds.
_BY_NAME: tuple[tuple[frozenset[str], tuple[Candidate, ...]], ...] = (
    (frozenset({"maxsize", "max", "size", "capacity", "limit", "maxlen", "length"}), (POSITIVE, SIZE)),
    (frozenset({"index", "idx", "i", "pos", "position", "start", "stop", "offset", "n", "count", "k"}), (VALUE, SIZE)),
    (frozenset({"key", "k"}), (KEY, NAME, CALLBACK)),
    (frozenset({"version", "tag"}), (VERSION, NAME)),
    (frozenset({"path", "filename", "file"}), (PATH,)),
    (frozenset({"name", "project", "label", "prefix", "suffix", "sep", "field", "section"}), (NAME, TEXT)),
    (frozenset({"data", "text", "string", "line", "s"}), (TEXT, INI, LIST, BYTES)),
    (
        frozenset({"items", "iterable", "values", "iterables", "seq", "others", "args", "keys", "elements"}),
        (LIST, PAIRS),
    ),
    (frozenset({"mapping", "dict", "kwargs", "kw", "document", "doc", "fields", "record"}), (RECORD, DICT, PAIRS)),
    (
        frozenset({"documents"}),
        (Candidate("st.lists(RECORDS, max_size=3)", "list[dict[str, int]]", _lists(RECORD.draw, 3)),),
    ),
    (frozenset({"value", "item", "elem", "element", "obj", "default", "x"}), (VALUE, NAME)),
    (frozenset({"seconds", "interval", "timeout", "ttl", "delay"}), (POSITIVE, FLOAT)),
    (frozenset({"flag", "reverse", "inclusive", "strict"}), (BOOL,)),
    (frozenset({"dt", "date", "time", "when"}), (DATES,)),
)


def candidates(name: str, annotation: str, default: object) -> list[Candidate]:
    """Return what a parameter may take; ``default`` is ``...`` for none, and ``annotation`` empty for none."""
    words = set(name.lower().strip("_*").split("_")) | {name.lower().strip("_*")}
    named = [each for known, several in _BY_NAME if words & known for each in several]
    if words & _FUNCTIONS:
        named = [CALLBACK]
    typed = _by_annotation(annotation) if annotation else []
    if typed and re.fullmatch(r"_?[A-Z]{1,3}(_co|_contra)?", annotation.strip()):
        return list(dict.fromkeys([*named, *ANYTHING]))  # a type variable
    if typed:
        # The name decides among the values of a type.
        plain = {each.type.removesuffix(" | None") for each in typed}
        fitting = [each for each in named if each.type in plain]
        both = [optional(each) for each in fitting] if NONE in typed else []
        found = [*both, *fitting, *typed]
    elif default is None:
        # What is left out when it is not given is often a function, or what only a few callers know.
        return [optional(each) for each in named if each is not CALLBACK]
    else:
        found = named + ([] if default is ... else list(_BY_TYPE.get(type(default).__name__, ())))
        found += ANYTHING if default is ... else ()
    return list(dict.fromkeys(found))


def is_place(name: str, annotation: str) -> bool:
    """Return whether a parameter of a constructor may say where files are to be kept."""
    words = set(name.lower().strip("_").split("_"))
    typed = set(re.findall(r"\w+", annotation))
    return bool(words & _PLACE_WORDS or typed & {"Path", "PathLike", "StrPath"}) and (
        not typed or bool(typed & {"str", "bytes", "Path", "PathLike", "StrPath", "Any", "object"})
    )


def places(folder: str) -> list[Candidate]:
    """Return a new folder below ``folder``, and a file that does not exist in a new folder."""

    def new(_: Chance) -> str:
        return tempfile.mkdtemp(dir=folder)

    return [Candidate("FOLDER", "str", new), Candidate("FILE", "str", lambda rng: f"{new(rng)}/data")]


def is_bundle(strategy: str) -> bool:
    """Return whether a strategy is a bundle of the machine: constants are in capitals, others are calls."""
    return strategy.isidentifier() and strategy.islower()


def known_values(annotation: str) -> list[Candidate]:
    """Return the values for an annotation, if there are any whatever the parameter is called."""
    return _by_annotation(annotation)


def _by_annotation(text: str) -> list[Candidate]:
    try:
        tree: ast.expr = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return []
    return _of_node(tree)


def _of_node(node: ast.expr) -> list[Candidate]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _or_none([*_of_node(node.left), *_of_node(node.right)])
    if isinstance(node, ast.Constant):
        if node.value is None:
            return [NONE]
        return _by_annotation(node.value) if isinstance(node.value, str) else []
    if isinstance(node, ast.Subscript):
        base = _last(node.value)
        inner = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        if base in ("Optional", "Union"):
            return _or_none([*(each for part in inner for each in _of_node(part)), *([NONE] * (base == "Optional"))])
        if base == "Literal":
            return [_literal([each.value for each in inner if isinstance(each, ast.Constant)])]
        if base in ("Annotated", "Final", "ClassVar"):
            return _of_node(inner[0])
        return _of_sequence(base, inner) or list(_BY_TYPE.get(base, ()))
    name = _last(node)
    if name in _BY_TYPE:
        return list(_BY_TYPE[name])
    # A type variable stands for anything: T, KT, _VT.
    return [KEY, NAME] if name.strip("_").isupper() and len(name.strip("_")) <= 3 else []


def _of_sequence(base: str, inner: list[ast.expr]) -> list[Candidate]:
    """Return lists of what a sequence of texts holds; nothing for others, which hold small integers."""
    if base in ("list", "Sequence", "Iterable", "Collection", "tuple", "set") and inner and _last(inner[0]) == "str":
        return [NAME_LIST]
    return []


def _or_none(parts: list[Candidate]) -> list[Candidate]:
    values = [each for each in parts if each is not NONE]
    if NONE not in parts:
        return values
    return [NONE, *(optional(each) for each in values)]


def optional(candidate: Candidate) -> Candidate:
    """Return the values of a candidate, and None."""

    def draw(rng: Chance) -> Any:
        return None if rng.random() < 0.5 else candidate.draw(rng)

    return Candidate(f"st.none() | {candidate.strategy}", f"{candidate.type} | None", draw, candidate.imports)


def listed(candidate: Candidate) -> Candidate:
    """Return short lists of the values of a candidate."""
    strategy, kind = f"st.lists({candidate.strategy}, max_size=4)", f"list[{candidate.type}]"
    return Candidate(strategy, kind, _lists(candidate.draw, 4), candidate.imports)


def _literal(values: list[Any]) -> Candidate:
    listed = ", ".join(repr(value).replace("'", '"') for value in values)
    return Candidate(f"st.sampled_from([{listed}])", "object", lambda rng: rng.choice(values) if values else None)


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
