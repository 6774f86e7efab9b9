"""What lies outside of a simulated run, and what is declared of it: the answers of web services and child processes."""
