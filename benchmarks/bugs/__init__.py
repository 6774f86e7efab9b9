"""A suite of bugs that real libraries once had, and of planted ones, for engines that test rule machines."""
