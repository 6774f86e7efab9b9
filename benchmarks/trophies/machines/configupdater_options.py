"""configupdater: a file that is edited, compared with the dictionary that it means."""

import configparser

from configupdater import ConfigUpdater
from configupdater.block import AssignMultilineValueError
from hypothesis import strategies as st

from ordeal.model import Pair, op
from trophies.trophy import Trophy

REQUIREMENTS, MODULES = "configupdater==4.1.1", ["configupdater"]
names = st.sampled_from("abC")


class Options(Pair):
    model = dict

    def impl():
        config = ConfigUpdater()
        config.read_string("[s]\n")
        return config

    @op(name=names, value=st.sampled_from(["1", "x y", "", "1\n2"]))
    def put(self, name, value):
        try:
            self.impl["s"][name] = value
        except AssignMultilineValueError:
            return
        self.model[name.lower()] = value

    @op(name=names)
    def remove(self, name):
        assert self.impl.remove_option("s", name) == (self.model.pop(name.lower(), None) is not None)

    def view(self):
        parser = configparser.ConfigParser(interpolation=None)
        parser.read_string(str(self.impl))
        return dict(parser["s"]), self.model


def assigns():
    config = ConfigUpdater()
    config.read_string("[s]\n")
    config["s"]["a"] = "1\n2"  # an option that is there already would raise AssignMultilineValueError
    assert str(config) == "[s]\na = 1\n2\n"
    ConfigUpdater().read_string(str(config))  # ParsingError


TROPHIES = [
    Trophy(
        "configupdater_multiline",
        "a new option with a value of two lines is written so that the file does not parse",
        "A value of several lines is refused with an error, or written so that it can be read.",
        Options,
        "contains parsing errors",
        assigns,
        "ParsingError",
        known="issue 87 is near",
    ),
]
