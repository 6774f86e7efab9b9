"""Entities grouped by the components they have: each group, an archetype, holds its entities in one row each."""


class Archetype:
    """The entities that have exactly these components, and the values of those, a column each."""

    def __init__(self, components):
        self.components = tuple(components)
        self.entities = []
        self.columns = {component: [] for component in self.components}
        self.row_of = {}

    def add(self, entity, values):
        """Add an entity. Components without a value start at 0."""
        self.row_of[entity] = len(self.entities)
        self.entities.append(entity)
        for component, column in self.columns.items():
            column.append(values.get(component, 0))

    def values(self, entity):
        row = self.row_of[entity]
        return {component: column[row] for component, column in self.columns.items()}

    def remove(self, entity):
        """Remove an entity: the last row takes its place, so that none has to be shifted."""
        row = self.row_of.pop(entity)
        last = self.entities.pop()
        for column in self.columns.values():
            value = column.pop()
            if row < len(column):
                column[row] = value
        if last != entity:
            self.entities[row] = last


def move(entity, source, destination):
    """Move an entity to another archetype, with the values of the components that both have."""
    if source is not destination:
        destination.add(entity, source.values(entity))
        source.remove(entity)
