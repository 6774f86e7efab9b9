"""The machines, a module for each target: ``Machine``, ``reproduce()`` and, where it has any, ``FAULTS``."""
