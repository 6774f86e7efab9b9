"""The errors that callers of the shop get when it refuses or cannot finish a request."""


class ShopError(Exception):
    """Any answer of the shop other than success."""


class OutOfStock(ShopError):
    """Fewer units are free than the customer asked for."""


class WrongStatus(ShopError):
    """The order is not in a status that allows this step."""


class PaymentPending(ShopError):
    """The acquirer did not answer; the same call may be made again later."""
