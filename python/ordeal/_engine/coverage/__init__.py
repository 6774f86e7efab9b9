"""Which code of the program under test ran: targets, gaps, constants, and observed comparisons."""
