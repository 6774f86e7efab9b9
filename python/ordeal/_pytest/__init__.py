"""The pytest plugin: chaos runs, replays of saved seeds, the session seed. ``_ordeal_pytest`` loads it when needed."""
