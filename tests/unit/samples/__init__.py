"""What tests of several rooms try things on: machines, modules, stores, a shop."""
