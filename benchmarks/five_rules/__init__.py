"""A machine of five rules over a small program, and what runs it: one module for each engine that is measured."""
