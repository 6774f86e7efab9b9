"""The ground room: text, limits, reading what others wrote. Every other room may import it; it imports none of them."""
