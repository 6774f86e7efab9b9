"""Small projects, one for each way to lay out a program and each plugin of pytest that its tests may use."""
