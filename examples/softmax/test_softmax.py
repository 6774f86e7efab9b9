"""What must hold of shares, whatever the scores: said with invariants, tried with arguments made from the hints."""

from softmax import softmax

from ordeal.invariants import bounded, finite
from ordeal.quickcheck import quickcheck

shares = finite & bounded(0, 1)


@quickcheck
def test_shares_are_shares(scores: list[float]) -> None:
    shares(softmax(scores))
