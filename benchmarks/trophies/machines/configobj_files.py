"""configobj: what is written must be read as the same."""

from configobj import ConfigObj
from hypothesis import strategies as st

from ordeal.model import RoundTrip, op
from trophies.trophy import Trophy

REQUIREMENTS, MODULES = "configobj==5.0.9", ["configobj"]


class Keys(RoundTrip):
    """Options with unusual names."""

    impl, view = ConfigObj, ConfigObj.dict
    names, values = st.text("ab =:", min_size=1, max_size=3), st.text("ab", max_size=2)

    def dump(self, impl):
        return "\n".join(impl.write())

    def load(self, dumped):
        return ConfigObj(dumped.split("\n"))

    @op(name=names, value=values)
    def put(self, name, value):
        self.impl[name] = value

    @op(name=names)
    def remove(self, name):
        self.impl.pop(name, None)


class Values(Keys):
    """Options with unusual values."""

    names, values = st.sampled_from("ab"), st.text("a'\"\n", max_size=5)

    @op(name=names, value=values)
    def put(self, name, value):
        self.impl[name] = value


def equals_sign():
    config = ConfigObj()
    config["a=b"] = "v"
    assert ConfigObj(config.write()).dict() == {"a": "b = v"}


def quotes():
    config = ConfigObj()
    config["a"] = "'''\n\""
    text = "\n".join(config.write())
    ConfigObj(text.split("\n"))  # ParseError


TROPHIES = [
    Trophy(
        "configobj_key",
        "a key with an equals sign is written without quotes, and is read as another key with another value",
        "Keys that need quotes are written with quotes, as values are.",
        Keys,
        "loaded shows",
        equals_sign,
        known="issue 273, open",
    ),
    Trophy(
        "configobj_quotes",
        "some values of several lines with both kinds of quotes are written so that the file does not parse",
        "A value that cannot be quoted safely is refused with an error; the others can be read.",
        Values,
        "cannot be loaded",
        quotes,
        "ParseError",
        known="pull request 140 repaired others",
    ),
]
