"""The sending side of a radio link: numbers frames, and keeps those that wait for an acknowledgement."""

from ordeal.assertions import sometimes_ge

NUMBERS = 256  # a frame has one byte for its number


class Link:
    """Frames are numbered from 0 to 255, and then from 0 again."""

    def __init__(self) -> None:
        self.waiting: dict[int, str] = {}
        self._next = 0

    def send(self, payload: str) -> int:
        """Send a frame and keep it until it is acknowledged; returns its number."""
        number = self._next
        sometimes_ge(number, NUMBERS - 1, "the numbers start over")
        self._next = (number + 1) % NUMBERS
        self.waiting[number] = payload  # the planted bug: what waited under this number is forgotten
        return number

    def acknowledge(self, number: int) -> None:
        """The other side has the frame."""
        del self.waiting[number]
