"""Arguments of rules, brought into their range whatever an engine hands over."""


def within(number: int, count: int) -> int:
    """``number`` as an index below ``count``; the same where it is one already.

    The public ordeal changes arguments past the bounds of their strategies; such a call is to be as good as another.
    """
    return int(number) % count
