"""A device that is armed and then unlocked with a code of 32 bits, which it compares byte by byte."""

from bugs.synthetic import is_repaired

TRIES_MAX = 20


class Device:
    """It takes a number of wrong codes, and is to be armed again after that."""

    def __init__(self) -> None:
        self.armed = False
        self.tries = 0
        self.open = False
        self.wiped = False

    def arm(self) -> None:
        self.armed = True
        self.tries = 0

    def disarm(self) -> None:
        self.armed = False

    def unlock(self, code: int) -> bool:
        if not self.armed:
            return False
        self.tries += 1
        if self.tries > TRIES_MAX:
            self.armed = False
            return False
        if code & 0xFF != 0xD3:
            return False
        if (code >> 8) & 0xFF != 0x91:
            return False
        if (code >> 16) & 0xFF != 0x4E:
            return False
        if (code >> 24) & 0xFF != 0xB7:
            return False
        self.open = True
        return True

    def write(self, block: int) -> None:
        if self.open and block == 0 and not is_repaired():
            self.wiped = True
