"""A mail-order shop: orders, card payments, stock, returns and the books."""
