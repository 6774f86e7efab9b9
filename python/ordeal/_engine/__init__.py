"""The private engine behind the author's library; each room is a folder that imports only rooms below it."""
