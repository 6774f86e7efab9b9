"""Runs asyncio programs under the decisions of a schedule: the loop, the search of schedules, and their failures."""
