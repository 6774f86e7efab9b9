"""pluggy: plugins that come and go, compared with the order that their marks ask for."""

import pluggy
from hypothesis import strategies as st

from ordeal.model import Pair, op

REQUIREMENTS, MODULES = "pluggy==1.7.0", ["pluggy"]
spec, impl = pluggy.HookspecMarker("p"), pluggy.HookimplMarker("p")


class Spec:
    @spec
    def say(self):
        pass


class Plugin:
    def __init__(self, number, mark):
        self.number, self.mark = number, mark
        marked = impl(tryfirst=mark == "first", trylast=mark == "last")

        @marked
        def say():
            return number

        self.say = say


class Registered(Pair):
    model = list
    count = 0

    def impl():
        manager = pluggy.PluginManager("p")
        manager.add_hookspecs(Spec)
        return manager

    @op(mark=st.sampled_from(["first", "", "last"]), weight=2)
    def register(self, mark):
        self.count += 1
        plugin = Plugin(self.count, mark)
        self.impl.register(plugin, str(self.count))
        self.model.append(plugin)

    @op(which=st.integers(0, 9))
    def unregister(self, which):
        if self.model:
            plugin = self.model.pop(which % len(self.model))
            assert self.impl.unregister(plugin) is plugin

    @op(which=st.integers(0, 9))
    def without(self, which):
        if self.model:
            plugin = self.model[which % len(self.model)]
            rest = self.impl.subset_hook_caller("say", [plugin])
            assert rest() == [number for number in self.order() if number != plugin.number], "subset"

    @op(number=st.integers(1, 12))
    def block(self, number):
        if number > self.count:
            self.impl.set_blocked(str(number))
            assert self.impl.register(Plugin(number, ""), str(number)) is None
            self.impl.unblock(str(number))

    def order(self):
        """Who registered last is called first, except that of those to be called last it is the last one."""
        marked = {
            mark: [plugin.number for plugin in self.model if plugin.mark == mark] for mark in ("first", "", "last")
        }
        return marked["first"][::-1] + marked[""][::-1] + marked["last"]

    def view(self):
        return (self.impl.hook.say(), len(self.impl.get_plugins())), (self.order(), len(self.model))


CLEAN = [Registered]
