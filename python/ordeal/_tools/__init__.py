"""What runs the engine on a project: mutants judged by its tests, a first machine written, a machine examined."""
