"""Moves an entity between all pairs of archetypes, in every small state that these can be in."""

from archetypes import Archetype, move

from ordeal import exhaustive

COMPONENTS = ["position", "speed", "health", "name"]


def fill(archetype, first, count):
    for entity in range(first, first + count):
        archetype.add(entity, dict.fromkeys(archetype.components, entity))


@exhaustive.test
def test_a_moved_entity_keeps_what_both_archetypes_have(g):
    source = Archetype(g.subset(COMPONENTS))
    destination = Archetype(g.subset(COMPONENTS))
    fill(source, 0, g.range(1, 3))
    fill(destination, 10, g.range(0, 2))
    entity = g.pick(source.entities)
    stay = [other for other in source.entities if other != entity]

    move(entity, source, destination)

    shared = set(source.components) & set(destination.components)
    assert destination.values(entity) == {c: entity if c in shared else 0 for c in destination.components}
    for other in stay:
        assert source.values(other) == dict.fromkeys(source.components, other)
