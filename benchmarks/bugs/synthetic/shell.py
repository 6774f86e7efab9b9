"""A line-oriented session: words that it knows, in an order that it wants."""

from hashlib import blake2b

from bugs.synthetic import is_repaired

# The words are kept as digests, so that they stand nowhere in the program as text before it computes them.
_DIGESTS = ("hello", "mailbox", "purge")


def known_words() -> tuple[str, ...]:
    """The words of the session, made from the name of each step."""
    return tuple(f"{blake2b(step.encode(), digest_size=3).hexdigest()}" for step in _DIGESTS)


class Shell:
    """Three words in order empty the mailbox, which only its owner may do."""

    def __init__(self) -> None:
        self.words = known_words()
        self.stage = 0
        self.is_owner = False
        self.mail = 3

    def login(self, owner: bool) -> None:
        self.is_owner = owner

    def say(self, word: str) -> str:
        if self.stage == 0 and word == self.words[0]:
            self.stage = 1
            return "welcome"
        if self.stage == 1 and word == self.words[1]:
            self.stage = 2
            return "mailbox open"
        if self.stage == 2 and word == self.words[2]:
            self.stage = 0
            if self.is_owner or not is_repaired():
                self.mail = 0
            return "purged"
        return "what?"
