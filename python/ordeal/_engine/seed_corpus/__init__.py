"""The folder of saved seeds: names, reading, writing, replaying."""
