"""The engine behind the author's library: private, each room a folder that imports only rooms below it."""
