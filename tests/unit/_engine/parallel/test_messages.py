"""What workers tell arrives as it was, and nothing else is taken for it."""

from __future__ import annotations

import pytest

from ordeal._engine.isolation.channel import ChannelError, Value
from ordeal._engine.parallel.messages import (
    unpack_keys,
)


@pytest.mark.parametrize("data", [b"1234567", b"123456789", "12345678", 8, None, True])
def test_damaged_keys_are_refused(data: Value) -> None:
    with pytest.raises(ChannelError, match="damaged"):
        unpack_keys(data)
