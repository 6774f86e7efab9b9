"""The dashboard: pages of all runs of a project, which follow one that goes on. It only reads their files."""
