"""Reports: results as text for people and as JSON for programs, made only from data."""
