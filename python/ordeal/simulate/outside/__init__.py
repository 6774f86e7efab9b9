"""The outside of a simulated run, as the test declares it: the answers of web services and child processes."""
