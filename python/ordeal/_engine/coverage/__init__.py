"""Which code of the program under test ran: targets, gaps, constants, and what comparisons show."""
