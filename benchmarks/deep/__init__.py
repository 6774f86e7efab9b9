"""A machine that never comes to an end, which `soak.py` explores at the greatest depth."""
