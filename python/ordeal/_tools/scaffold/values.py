"""Which values a parameter may take: candidates by its annotation, its default and its name, the likeliest first.

Each candidate is the text of a strategy and of a type for the file that is written, and a function that draws a value
to try it with. Names in capitals are constants of the written file.
"""

from __future__ import annotations

import ast
import contextlib
import datetime
import decimal
import fractions
import inspect
import io
import keyword
import pathlib
import re
import sys
import tempfile
import types
import typing
import uuid
from collections import abc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, get_args, get_origin

import ordeal._native as _native
from ordeal._base.python_source import in_double_quotes
from ordeal.chaos import ChaosTest


class Draws:
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


Sampler = Callable[[Draws], Any]

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
#: Definitions in the written file, if they are used: few values, so that calls meet those of earlier ones again.
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
    "FUNCTIONS": "st.sampled_from([callback, failing_callback])",
    "AMOUNTS": "st.decimals(-100, 100, places=2)",
    "DAYS": "st.dates(date(2000, 1, 1), date(2030, 1, 1))",
}


#: The argument of a constructor whose objects keep files: a path in a folder that the machine makes for each run.
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
    plain: Candidate | None = None  # the values without None, for one with it


def callback(*_args: object, **_kwargs: object) -> int:
    """Stand in for the functions that calls take."""
    return 1


class CallbackError(Exception):
    """What a function raises that a call takes."""


def failing_callback(*_args: object, **_kwargs: object) -> int:
    """Stand in for the functions that calls take, and fail."""
    raise CallbackError


def _integers(low: int, high: int) -> Sampler:
    return lambda rng: rng.randint(low, high)


def _lists(item: Sampler, most: int = 6) -> Sampler:
    return lambda rng: [item(rng) for _ in range(rng.randint(0, most))]


def _texts(rng: Draws) -> str:
    return "".join(rng.choice("ab 1.") for _ in range(rng.randint(0, 6)))


def _names(rng: Draws) -> str:
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
FUNCTION = Candidate("FUNCTIONS", "Callable[..., int]", lambda rng: rng.choice([callback, failing_callback]))
BOOL = Candidate("st.booleans()", "bool", lambda rng: rng.random() < 0.5)
FLOAT = Candidate("st.floats(-100, 100)", "float", lambda rng: 200 * rng.random() - 100)
SHARE = Candidate("st.floats(0.05, 0.95)", "float", lambda rng: 0.05 + 0.9 * rng.random())
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
PLACE = Candidate('st.just(Path("file.txt"))', "Path", lambda _: pathlib.Path("file.txt"), ("pathlib:Path",))
PATTERN = Candidate("NAMES.map(re.compile)", "re.Pattern[str]", lambda rng: re.compile(_names(rng)), ("re:",))
TEXT_FILE = Candidate("st.builds(StringIO, TEXTS)", "StringIO", lambda rng: io.StringIO(_texts(rng)), ("io:StringIO",))
BYTE_FILE = Candidate(
    "st.builds(BytesIO, st.binary(max_size=6))", "BytesIO", lambda rng: io.BytesIO(BYTES.draw(rng)), ("io:BytesIO",)
)
ITERATOR = Candidate(
    "LISTS.map(iter)", "Iterator[int]", lambda rng: iter(LIST.draw(rng)), ("collections.abc:Iterator",)
)
CONTEXT = Candidate(
    "st.builds(nullcontext)", "nullcontext[None]", lambda _: contextlib.nullcontext(), ("contextlib:nullcontext",)
)
INI = Candidate(
    r'st.sampled_from(["[a]\nx=1\n", "[a]\nx=1\ny = 2\n[b]\nx=3\n", ""])',
    "str",
    lambda rng: rng.choice(["[a]\nx=1\n", "[a]\nx=1\ny = 2\n[b]\nx=3\n", ""]),
)
DATES = Candidate(
    "st.datetimes(datetime(2000, 1, 1), datetime(2030, 1, 1))",
    "datetime",
    lambda rng: datetime.datetime(2000 + rng.randint(0, 29), rng.randint(1, 12), rng.randint(1, 28)),
)
DELTAS = Candidate(
    "st.timedeltas(timedelta(0), timedelta(days=3))",
    "timedelta",
    lambda rng: datetime.timedelta(seconds=rng.randint(0, 3 * 86_400)),
)

#: The candidates for a parameter about which nothing is known.
ANYTHING = (KEY, NAME, LIST, PAIRS, DICT, RECORD, BYTES, CALLBACK)

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
    "Iterator": (ITERATOR,),
    "Collection": (LIST,),
    "Mapping": (DICT, RECORD),
    "MutableMapping": (DICT, RECORD),
    "Callable": (CALLBACK,),
    "datetime": (DATES,),
    "timedelta": (DELTAS,),
    "PathLike": (PATH,),
    "Path": (PLACE,),
    "PurePath": (PLACE,),
    "Pattern": (PATTERN,),
    "IO": (TEXT_FILE, BYTE_FILE),
    "TextIO": (TEXT_FILE,),
    "BinaryIO": (BYTE_FILE,),
    "AbstractContextManager": (CONTEXT,),
    "ContextManager": (CONTEXT,),
    "Any": ANYTHING,
    "object": ANYTHING,
    "Hashable": (KEY, NAME),
}
#: Endings of names of functions that a call takes.
_FUNCTIONS = frozenset(
    {
        *("func", "fn", "function", "callable", "callback", "cb", "hook", "predicate", "cond", "factory", "job"),
        *("receiver", "getsizeof", "handler", "listener", "observer", "visitor", "reducer", "initializer", "mapper"),
        *("formatter", "converter", "validator", "serializer", "deserializer", "encoder", "decoder", "hasher"),
        *("comparator", "getter", "setter", "loader", "dumper", "resolver", "combiner", "transformer", "processor"),
    }
)
#: Words in a name, and what it then probably holds.
_BY_NAME: tuple[tuple[frozenset[str], tuple[Candidate, ...]], ...] = (
    (frozenset({"maxsize", "max", "size", "capacity", "limit", "maxlen", "length"}), (POSITIVE, SIZE)),
    (frozenset({"width", "height", "depth", "rows", "lines", "columns", "cols"}), (POSITIVE, SIZE)),
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
    (frozenset({"rate", "ratio", "share", "probability", "prob", "confidence", "fraction", "alpha"}), (SHARE,)),
    (frozenset({"flag", "reverse", "inclusive", "strict"}), (BOOL,)),
    (frozenset({"dt", "date", "time", "when"}), (DATES,)),
)


def candidates(name: str, annotation: str, default: object) -> list[Candidate]:
    """Return what a parameter may take; without an annotation or a default these are empty as for ``inspect``."""
    words = set(name.lower().strip("_*").split("_")) | {name.lower().strip("_*")}
    named = [each for known, several in _BY_NAME if words & known for each in several]
    if words & _FUNCTIONS:
        named = [CALLBACK]
    typed = known_values(annotation)
    if typed and re.fullmatch(r"_?[A-Z]{1,3}(_co|_contra)?", annotation.strip()):
        return list(dict.fromkeys([*named, *ANYTHING]))  # a type variable
    if typed:
        # The name decides among the values of a type.
        plain = {each.type.removesuffix(" | None") for each in typed}
        fitting = [each for each in named if each.type in plain]
        both = [optional(each) for each in fitting] if NONE in typed else []
        found = [*both, *fitting, *typed]
    elif default is None:
        # A parameter that may be None is often a function, or something that few callers pass.
        return [each for each in named if each is not CALLBACK]
    else:
        known = ANYTHING if default is inspect.Parameter.empty else _BY_TYPE.get(type(default).__name__, ())
        found = [*named, *known]
    return list(dict.fromkeys(found))


def is_place(name: str, annotation: str) -> bool:
    """Return True if a parameter of a constructor may be the place for files."""
    words = set(name.lower().strip("_").split("_"))
    typed = set(re.findall(r"\w+", annotation))
    return bool(words & _PLACE_WORDS or typed & {"Path", "PathLike", "StrPath"}) and (
        not typed or bool(typed & {"str", "bytes", "Path", "PathLike", "StrPath", "Any", "object"})
    )


def places(folder: str) -> list[Candidate]:
    """Return a new folder below ``folder``, and a file that does not exist in a new folder."""

    def new(_: Draws) -> str:
        return tempfile.mkdtemp(dir=folder)

    return [Candidate("FOLDER", "str", new), Candidate("FILE", "str", lambda rng: f"{new(rng)}/data")]


def is_bundle(strategy: str) -> bool:
    """Return True if a strategy is a bundle of the machine: constants are in capitals, others are calls."""
    return strategy.isidentifier() and strategy.islower()


def known_values(annotation: str) -> list[Candidate]:
    """Return the values for an annotation, if they do not depend on the parameter's name."""
    try:
        return _of_node(ast.parse(annotation.strip(), mode="eval").body)
    except (SyntaxError, ValueError):
        return []


def _of_node(node: ast.expr) -> list[Candidate]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _or_none([*_of_node(node.left), *_of_node(node.right)])
    if isinstance(node, ast.Constant):
        if node.value is None:
            return [NONE]
        return known_values(node.value) if isinstance(node.value, str) else []
    if isinstance(node, ast.Subscript):
        base = _last(node.value)
        inner = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        if base in ("Optional", "Union"):
            return _or_none([*(each for part in inner for each in _of_node(part)), *([NONE] * (base == "Optional"))])
        if base == "Literal":
            values = [each.value for each in inner if isinstance(each, ast.Constant)]
            listed = ", ".join(in_double_quotes(value) if type(value) is str else repr(value) for value in values)
            return [
                Candidate(f"st.sampled_from([{listed}])", "object", lambda rng: rng.choice(values) if values else None)
            ]
        if base in ("Annotated", "Final", "ClassVar"):
            return _of_node(inner[0])
        if (
            base in ("list", "Sequence", "Iterable", "Collection", "tuple", "set")
            and inner
            and _last(inner[0]) == "str"
        ):
            return [NAME_LIST]
        return list(_BY_TYPE.get(base, ()))
    name = _last(node)
    if name in _BY_TYPE:
        return list(_BY_TYPE[name])
    # A type variable stands for anything: T, KT, _VT.
    return [KEY, NAME] if name.strip("_").isupper() and len(name.strip("_")) <= 3 else []


def _or_none(parts: list[Candidate]) -> list[Candidate]:
    values = [each for each in parts if each is not NONE]
    if NONE not in parts:
        return values
    return [NONE, *(optional(each) for each in values)]


def optional(candidate: Candidate) -> Candidate:
    """Return the values of a candidate, and None."""

    def draw(rng: Draws) -> Any:
        return None if rng.random() < 0.5 else candidate.draw(rng)

    return Candidate(
        f"st.none() | {candidate.strategy}", f"{candidate.type} | None", draw, candidate.imports, candidate
    )


def listed(candidate: Candidate, *, only_one: bool = False) -> Candidate:
    """Return short lists of the values of a candidate."""
    sizes = "min_size=1, max_size=1" if only_one else "max_size=4"
    draw = (lambda rng: [candidate.draw(rng)]) if only_one else _lists(candidate.draw, 4)
    strategy = f"st.lists({candidate.strategy}, {sizes})"
    return Candidate(strategy, f"list[{candidate.type}]", draw, candidate.imports)


def _last(node: ast.expr) -> str:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    # The old names of typing for what is built in.
    return name.lower() if name in ("Dict", "FrozenSet", "List", "Set", "Tuple") else name


#: Makes a candidate for objects of a class, or nothing.
Build = Callable[[type], "Candidate | None"]


_STANDARD: dict[type, Candidate] = {
    datetime.date: Candidate("DAYS", "date", lambda rng: DATES.draw(rng).date(), imports=("datetime:date",)),
    datetime.time: Candidate(
        "st.times()",
        "time",
        lambda rng: datetime.time(rng.randint(0, 23), rng.randint(0, 59)),
        imports=("datetime:time",),
    ),
    decimal.Decimal: Candidate(
        "AMOUNTS",
        "Decimal",
        lambda rng: decimal.Decimal(rng.randint(-10_000, 10_000)) / 100,
        imports=("decimal:Decimal",),
    ),
    fractions.Fraction: Candidate(
        "st.fractions(-5, 5, max_denominator=8)",
        "Fraction",
        lambda rng: fractions.Fraction(rng.randint(-40, 40), rng.randint(1, 8)),
        imports=("fractions:Fraction",),
    ),
    uuid.UUID: Candidate(
        "st.uuids()", "UUID", lambda rng: uuid.UUID(int=rng.randint(0, 2**62)), imports=("uuid:UUID",)
    ),
}
_LISTS = frozenset({list, tuple, set, frozenset, abc.Sequence, abc.Iterable, abc.Collection, abc.MutableSequence})
_SETS = frozenset({set, frozenset})
_TABLES = frozenset({dict, abc.Mapping, abc.MutableMapping})


class NothingGivenError(Exception):
    """A call takes an object, but no earlier call has returned one."""


def hints_of(function: Any) -> Mapping[str, Any]:
    """Return the types of the parameters of a function or class; none where an annotation cannot be evaluated."""
    return annotated(inspect.getattr_static(function, "__init__") if isinstance(function, type) else function)


def annotated(owner: Any) -> Mapping[str, Any]:
    """Return the types of what ``owner`` itself annotates."""
    try:
        return typing.get_type_hints(owner)
    except Exception:  # noqa: BLE001 - an annotation is code of the package under trial
        return {}


def typed(kind: Any, build: Build) -> list[Candidate]:
    """Return values of a type that a class of the program or of the standard library is part of; else nothing."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (typing.Union, types.UnionType):
        found = [each for part in parts if part is not types.NoneType for each in typed(part, build) or _plain(part)]
        special = any(typed(part, build) for part in parts)
        return [optional(each) if types.NoneType in parts else each for each in found] if special else []
    if origin in _LISTS and parts and (inner := typed(parts[0], build)):
        return [listed(inner[0]), listed(inner[0], only_one=True)] if origin not in _SETS else []
    if origin in _TABLES and len(parts) == 2 and (inner := typed(parts[1], build)):
        each, values = inner[0], inner[0].draw
        draw = lambda rng: {NAME.draw(rng): values(rng) for _ in range(rng.randint(0, 4))}  # noqa: E731
        strategy = f"st.dictionaries(NAMES, {each.strategy}, max_size=4)"
        return [Candidate(strategy, f"dict[str, {each.type}]", draw, each.imports)]
    if not isinstance(kind, type) or origin is not None:
        return []
    if typing.is_typeddict(kind):
        return _record(kind, build)
    if kind in _STANDARD:
        return [_STANDARD[kind]]
    if is_own(kind) and (made := build(kind)) is not None:
        return [made]
    return []


def is_own(kind: Any) -> bool:
    """Return True if a type is a class of the user's, so that only its objects will do."""
    return (
        isinstance(kind, type)
        and get_origin(kind) is None
        and kind.__module__.partition(".")[0] not in sys.stdlib_module_names
        and not getattr(kind, "_is_protocol", False)
        and not typing.is_typeddict(kind)
    )


def needs_own(kind: Any) -> bool:
    """Return True if values of a type are, or may be, objects of somebody's class; a choice among members is none."""
    if get_origin(kind) in (typing.Union, types.UnionType):
        return any(map(needs_own, get_args(kind)))
    return is_own(kind) and not (issubclass(kind, Enum) and len(kind) > 1)


def handle(kind: type, path: str, given: Callable[[type], list[Any]]) -> Candidate:
    """Return the objects of a class that earlier calls have returned, which ``given`` lists; ``path`` imports it."""
    name = bundle_name(kind)

    def draw(rng: Draws) -> Any:
        found = given(kind)
        if not found:
            raise NothingGivenError(f"it takes a {kind.__name__}, which could not be made")
        return rng.choice(found)

    return Candidate(name, kind.__name__, draw, (path,))


#: Names that no method of the written class may have: those of its base class, and those that its body uses.
_TAKEN = frozenset(
    {
        *dir(ChaosTest),
        # of its objects, and the names that unittest and the versions of Hypothesis have there
        *("activate", "bundles", "folder", "initialize_rules", "invariants", "name_counter", "names_list"),
        *("names_to_values", "rules", "runTest", "settings", "simulated", "subject"),
        *("Bundle", "initialize", "invariant", "islice", "multiple", "rule", "st", "suppress"),
    }
)


def free(name: str) -> str:
    """Return a name that neither Python nor a machine uses."""
    if name in _TAKEN or keyword.iskeyword(name) or name == "self":
        return f"{name}_"
    return name


def bundle_name(kind: type) -> str:
    """Return what the bundle for the objects of a class is called."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kind.__name__).lower().strip("_")
    return free(f"{name[:-1]}ies" if name.endswith("y") else f"{name}es" if name.endswith("s") else f"{name}s")


def members(kind: type[Enum], path: str) -> Candidate | None:
    """Return the members of an enumeration; ``path`` is where it is imported from."""
    found = list(kind)[:1_000]
    if not found:
        return None
    return Candidate(f"st.sampled_from({kind.__name__})", kind.__name__, lambda rng: rng.choice(found), imports=(path,))


def _record(kind: type, build: Build) -> list[Candidate]:
    """Return dicts with the keys that a ``TypedDict`` requires."""
    hints = annotated(kind)
    required = sorted(kind.__required_keys__)  # type: ignore[attr-defined]
    parts = {name: (typed(hints.get(name), build) or _plain(hints.get(name)))[:1] for name in required}
    if not parts or not all(parts.values()):
        return []
    chosen = {name: found[0] for name, found in parts.items()}
    fields = ", ".join(f'"{name}": {found.strategy}' for name, found in chosen.items())
    return [
        Candidate(
            f"st.fixed_dictionaries({{{fields}}})",
            "dict[str, object]",
            lambda rng: {name: found.draw(rng) for name, found in chosen.items()},
            imports=tuple(path for found in chosen.values() for path in found.imports),
        )
    ]


def _plain(kind: Any) -> list[Candidate]:
    return known_values(kind.__name__) if isinstance(kind, type) else []
