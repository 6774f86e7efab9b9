"""The only code that touches Hypothesis' internals: what a machine is, how arguments are drawn, what a run needs."""
