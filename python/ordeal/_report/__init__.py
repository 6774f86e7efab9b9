"""Reports: results as text for people and as JSON for programs, made from data alone."""
