"""Code that runs first in interpreters that tests start, because this folder is on their path."""
