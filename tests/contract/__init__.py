"""What a rule machine means: every check runs under Hypothesis and under the Explorer."""
