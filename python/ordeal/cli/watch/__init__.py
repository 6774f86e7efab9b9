"""What ``--watch`` does: replays saved failures after each save of a file, and explores while none fails."""
