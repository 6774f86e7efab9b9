"""What lies outside, recorded: runs once against the real thing, and later without it."""
