"""The pytest plugin: chaos runs, replays of saved seeds, the session seed. Loaded by ``_ordeal_pytest`` when needed."""
