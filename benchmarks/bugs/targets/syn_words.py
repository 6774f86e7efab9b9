"""Three words that stand nowhere in the program's text must be said in order; only a comparison shows each of them."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from bugs.synthetic.shell import Shell, known_words


class Machine(RuleBasedStateMachine):
    """One session; nobody but the owner may empty the mailbox."""

    def __init__(self) -> None:
        super().__init__()
        self.shell = Shell()
        self.is_owner = False

    @rule(word=st.text(max_size=12))
    def say(self, word: str) -> None:
        self.shell.say(str(word))
        assert self.shell.mail or self.is_owner, "a stranger has emptied the mailbox"

    @rule()
    def log_out(self) -> None:
        if self.shell.mail:
            self.shell.login(False)
            self.is_owner = False


def reproduce() -> None:
    machine = Machine()
    for word in known_words():
        machine.say(word=word)
