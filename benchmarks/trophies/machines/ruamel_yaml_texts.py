"""ruamel.yaml: a document that is edited and written, compared with what it means."""

import copy
import io

from hypothesis import strategies as st
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from ordeal.model import Pair, op
from trophies.trophy import Trophy

REQUIREMENTS = "ruamel.yaml==0.19.1"
MODULES = ["ruamel.yaml.comments", "ruamel.yaml.emitter", "ruamel.yaml.serializer", "ruamel.yaml.representer"]
TEXTS = ["a: 1 # c\nb:\n  - x\n  - y # d\n", "a:\n  # first\n  - 1\n", "c: >\n  f\n  g\n", "a: |\n  t\n\n  u\n"]
keys = st.sampled_from("abcd")


def written(data):
    out = io.StringIO()
    YAML().dump(data, out)
    return out.getvalue()


class Edited(Pair):
    def impl():
        return YAML().load(TEXTS[0])

    def model():
        return YAML(typ="safe", pure=True).load(TEXTS[0])

    @op(text=st.sampled_from(TEXTS))
    def load(self, text):
        self.impl, self.model = YAML().load(text), YAML(typ="safe", pure=True).load(text)

    @op(key=keys, value=st.sampled_from([1, "x", "y\nz", [1], {"a": 1}]))
    def put(self, key, value):
        self.impl[key], self.model[key] = copy.deepcopy(value), copy.deepcopy(value)

    @op(key=keys)
    def delete(self, key):
        if key in self.model:
            del self.impl[key], self.model[key]

    @op(key=keys)
    def comment(self, key):
        if key in self.model:
            self.impl.yaml_add_eol_comment("eol", key)

    @op()
    def flow(self):
        self.impl.fa.set_flow_style()

    @op()
    def copy(self):
        self.impl = copy.deepcopy(self.impl)

    def view(self):
        text = written(self.impl)
        try:
            return YAML(typ="safe", pure=True).load(text), self.model
        except YAMLError:
            raise AssertionError(f"written so that it does not parse: {text!r}") from None


def folds():
    data = YAML().load("c: >\n  f\n  g\n")
    data.fa.set_flow_style()
    out = io.StringIO()
    YAML().dump(data, out)
    assert out.getvalue() == '{c: "f\\a g\\n"}\n'  # expected "f g\n"


def twins():
    twin = copy.deepcopy(YAML().load("a:\n  # first\n  - 1\n"))
    once, again = io.StringIO(), io.StringIO()
    YAML().dump(twin, once)
    assert once.getvalue() == "a:\n  # first\n- 1\n"
    YAML().dump(twin, again)
    assert again.getvalue() == "a: -\n  1\n"  # does not parse


def comments():
    data = YAML().load("a:\n  # first\n  - 1\n")
    data.yaml_add_eol_comment("eol", "a")  # TypeError: 'CommentToken' object is not iterable


TROPHIES = [
    Trophy(
        "ruamel_yaml_fold",
        "a folded text that is written in another style holds the marks of its folds, which are BEL characters",
        "The data that is written is the data that was read.",
        Edited,
        r"the views differ.*\\x07",
        folds,
        known="its tracker was not searched",
    ),
    Trophy(
        "ruamel_yaml_copy",
        "to write a deep copy with a comment before a list changes it, so that the next text does not parse",
        "To write changes nothing, and what is written can be read.",
        Edited,
        "does not parse",
        twins,
        known="its tracker was not searched",
    ),
    Trophy(
        "ruamel_yaml_comment",
        "`yaml_add_eol_comment` on a key with a comment before its block raises TypeError",
        "It adds a comment at the end of the line.",
        Edited,
        "is not iterable",
        comments,
        "TypeError",
        known="issue 29 of yamkix looks like it; its own tracker was not searched",
    ),
]
