"""What several workers explore in ``workers.py``, and the processes in which that is measured."""
