"""Objects of the program that are touched after its rules: exceptions, arguments, classes, finalisers."""

from __future__ import annotations

import ctypes
import gc
import itertools
import os
import signal
import sys
import threading
import time
from typing import Any, NoReturn

from hypothesis import strategies as st
from hypothesis.errors import InvalidDefinition
from hypothesis.stateful import rule

from ordeal.errors import MachineError

from .base import HARMFUL, Attack, attack

KIND = "objects of the program"


def _loop() -> NoReturn:
    while True:
        pass


class Endless(Exception):
    """Takes for ever to say what it is."""

    def __str__(self) -> str:
        return str(_loop())


@attack(KIND, "raises an exception whose `__str__` loops")
class TextLoops(Attack):
    def harm(self) -> None:
        raise Endless


@attack(KIND, "raises an exception whose `__str__` loops in C")
class TextLoopsInC(Attack):
    def harm(self) -> None:
        class EndlessInC(Exception):
            def __str__(self) -> str:
                return str(sum(itertools.repeat(0)))

        raise EndlessInC


@attack(KIND, "raises an exception whose `__str__` catches whatever is to end it")
class TextCatchesAll(Attack):
    def harm(self) -> None:
        class Stubborn(Exception):
            def __str__(self) -> str:
                end = time.monotonic() + 3
                while time.monotonic() < end:
                    try:
                        time.sleep(3)
                    except BaseException:  # noqa: BLE001
                        continue
                return "at last"

        raise Stubborn


@attack(KIND, "raises an exception whose `__str__` exits")
class TextExits(Attack):
    def harm(self) -> None:
        class Leaving(Exception):
            def __str__(self) -> str:
                return str(os._exit(4))

        raise Leaving


@attack(KIND, "raises an exception whose `__str__` raises KeyboardInterrupt")
class TextInterrupts(Attack):
    def harm(self) -> None:
        class Pressing(Exception):
            def __str__(self) -> str:
                raise KeyboardInterrupt

        raise Pressing


@attack(KIND, "raises an exception whose text is not a plain `str`")
class TextIsStrange(Attack):
    def harm(self) -> None:
        class Text(str):
            __slots__ = ()

            def __getitem__(self, key: Any) -> str:
                _loop()

            def __len__(self) -> int:
                raise KeyboardInterrupt

        class Strange(Exception):
            def __str__(self) -> str:
                return Text("strange")

        raise Strange


@attack(KIND, "raises the last of 100,000 chained exceptions")
class LongChain(Attack):
    def harm(self) -> None:
        error: Exception = LookupError("first")
        for number in range(100_000):
            following = LookupError(str(number))
            following.__context__ = error
            error = following
        raise error


@attack(KIND, "raises an exception that is its own cause")
class CircularChain(Attack):
    def harm(self) -> None:
        one, other = LookupError("one"), LookupError("other")
        one.__cause__, other.__cause__ = other, one
        raise one


@attack(KIND, "raises a group of 50,000 exceptions")
class WideGroup(Attack):
    def harm(self) -> None:
        raise ExceptionGroup("many", [LookupError(str(number)) for number in range(50_000)])


@attack(KIND, "raises an exception with a message of 100 MB")
class LongMessage(Attack):
    def harm(self) -> None:
        raise LookupError("x" * 100_000_000)


@attack(KIND, "raises an exception with 50,000 notes")
class ManyNotes(Attack):
    def harm(self) -> None:
        error = LookupError("noted")
        for number in range(50_000):
            error.add_note(f"note {number}")
        raise error


@attack(KIND, "raises an exception whose notes loop")
class NotesLoop(Attack):
    def harm(self) -> None:
        class Notes:
            def __iter__(self) -> Any:
                _loop()

        error = LookupError("noted")
        error.__notes__ = Notes()  # type: ignore[assignment]
        raise error


class Nameless(type):
    """The classes that it makes have no names to give."""

    def __getattribute__(cls, name: str) -> Any:
        if name in ("__name__", "__qualname__", "__module__"):
            raise RuntimeError("no name")
        return super().__getattribute__(name)


@attack(KIND, "raises an exception whose class raises when asked for its name")
class NamelessClass(Attack):
    def harm(self) -> None:
        hidden: Any = Nameless("Hidden", (Exception,), {})
        raise hidden


@attack(KIND, "raises an exception whose class has a name of 10 MB")
class LongName(Attack):
    def harm(self) -> None:
        raise type("E" * 10_000_000, (Exception,), {})


@attack(KIND, "raises an exception whose class is in no module")
class NoModule(Attack):
    def harm(self) -> None:
        raise type("Astray", (Exception,), {"__module__": 5})


@attack(KIND, "raises an exception that is false, unequal to itself and cannot be hashed")
class ContraryError(Attack):
    def harm(self) -> None:
        class Contrary(Exception):
            def __bool__(self) -> bool:
                raise RuntimeError("neither")

            def __eq__(self, other: object) -> bool:
                _loop()

            def __hash__(self) -> int:
                raise RuntimeError("no hash")

        raise Contrary


@attack(KIND, "fails with the argument whose `repr` loops")
class ReprLoops(Attack):
    def harm(self) -> None:
        """The rule below does it."""

    @rule(value=st.builds(type("Shy", (), {"__repr__": lambda _self: _loop()})), number=st.integers(0, 9))
    def meet(self, value: object, number: int) -> None:
        if self.walked >= 2 and number == HARMFUL:
            raise LookupError("met")


@attack(KIND, "fails with an argument whose `repr` has 100 MB")
class ReprIsLong(Attack):
    def harm(self) -> None:
        """The rule below does it."""

    @rule(value=st.builds(type("Long", (), {"__repr__": lambda _self: "x" * 100_000_000})), number=st.integers(0, 9))
    def meet(self, value: object, number: int) -> None:
        if self.walked >= 2 and number == HARMFUL:
            raise LookupError("met")


@attack(KIND, "leaves a machine whose `__del__` loops")
class FinaliserLoops(Attack):
    is_struck = False

    def harm(self) -> None:
        self.is_struck = True

    def __del__(self) -> None:
        if self.is_struck:
            _loop()


@attack(KIND, "leaves a machine whose `__del__` loops in C")
class FinaliserLoopsInC(Attack):
    is_struck = False

    def harm(self) -> None:
        self.is_struck = True

    def __del__(self) -> None:
        if self.is_struck:
            sum(itertools.repeat(0))


@attack(KIND, "leaves a machine whose `__del__` exits")
class FinaliserExits(Attack):
    is_struck = False

    def harm(self) -> None:
        self.is_struck = True

    def __del__(self) -> None:
        if self.is_struck:
            os._exit(5)


@attack(KIND, "fails, and its frames keep an object whose `__del__` loops")
class FinaliserInFrame(Attack):
    def harm(self) -> None:
        kept = type("Kept", (), {"__del__": lambda _self: _loop()})()
        raise LookupError("kept", id(kept))


@attack(KIND, "leaves a circle of objects whose finalisers complain when the collector comes")
class FinaliserInCircle(Attack):
    def harm(self) -> None:
        class Circle:
            def __del__(self) -> None:
                raise KeyboardInterrupt

        for _ in range(100):
            one = Circle()
            one.itself = one  # type: ignore[attr-defined]
        gc.set_threshold(1)


@attack(KIND, "has a thread raise an exception in the main one, 50 ms later")
class LateException(Attack):
    def harm(self) -> None:
        main = threading.main_thread().ident or 0

        def late() -> None:
            time.sleep(0.05)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(main), ctypes.py_object(LookupError))

        threading.Thread(target=late, daemon=True).start()


@attack(KIND, "has a thread raise KeyboardInterrupt in the main one, 50 ms later")
class LateInterrupt(Attack):
    def harm(self) -> None:
        main = threading.main_thread().ident or 0

        def late() -> None:
            time.sleep(0.05)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(main), ctypes.py_object(KeyboardInterrupt))

        threading.Thread(target=late, daemon=True).start()


@attack(KIND, "has a timer whose handler raises, at any time from then on")
class TimerRaises(Attack):
    def harm(self) -> None:
        def ring(*_: object) -> None:
            raise LookupError("rung")

        signal.signal(signal.SIGVTALRM, ring)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.02, 0.02)


@attack(KIND, "fails in code that says it is from a pipe nobody writes to")
class SourceIsPipe(Attack):
    def harm(self) -> None:
        path = f"pipe-{os.getpid()}"
        if not os.path.exists(path):  # noqa: PTH110
            os.mkfifo(path)
        exec(compile("raise LookupError('from a pipe')", path, "exec"))


@attack(KIND, "raises Hypothesis' InvalidDefinition")
class RaisesInvalidDefinition(Attack):
    def harm(self) -> None:
        raise InvalidDefinition("by itself")


@attack(KIND, "raises ordeal's MachineError")
class RaisesMachineError(Attack):
    def harm(self) -> None:
        raise MachineError("by itself")


@attack(KIND, "raises a BaseException of its own")
class RaisesBaseException(Attack):
    def harm(self) -> None:
        class Own(BaseException):
            pass

        raise Own


@attack(KIND, "raises GeneratorExit")
class RaisesGeneratorExit(Attack):
    def harm(self) -> None:
        raise GeneratorExit


@attack(KIND, "fails 900 calls deep")
class DeepFailure(Attack):
    def harm(self) -> None:
        def dive(depth: int) -> None:
            if not depth:
                raise LookupError("deep")
            dive(depth - 1)

        sys.setrecursionlimit(3_000)
        dive(900)
