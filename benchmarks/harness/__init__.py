"""What the benchmark scripts share: the machine they ran on, tables, peers in environments of their own."""
