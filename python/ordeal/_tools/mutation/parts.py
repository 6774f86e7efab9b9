"""Joins the parts of a judgement that several machines have made, each its own, through a store that they share."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing

import msgspec

from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.running import Judgement
from ordeal._tools.mutation.saved import Saved, encoded
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import Verdict
from ordeal.errors import StoreError
from ordeal.store.backend import Backend, ShardName, Span, UnreachableError, Unreadable, new_name
from ordeal.store.open import open_backend, shown_address
from ordeal.store.shard import HEADER, ShardReader, framed

_PART_BYTES_MAX = 1 << 26
_PARTS_MAX = 10_000


class _Part(msgspec.Struct):
    part: int
    parts: int
    seconds: float
    cpu_seconds: float
    saved: Saved


def namespace_of(sources: Sequence[Source], mutants: Sequence[Mutant], tests: Sequence[str], parts: int) -> str:
    """Return what all parts of the same work share: the program, its mutants, and how the tests are started."""
    digest = hashlib.sha256(f"{parts} {list(tests)!r}".encode())
    for source in sources:
        digest.update(f"\0{source.shown}\0".encode() + hashlib.sha256(source.text).digest())
    for mutant in mutants:
        digest.update(mutant.id.encode())
    return f"mutate {digest.hexdigest()}"


def joined(
    address: str, namespace: str, mutants: Sequence[Mutant], judgement: Judgement, part: int, parts: int
) -> tuple[Judgement, list[int]]:
    """Publish a part, and return what is known of all ``mutants``, with the numbers of the parts that are missing.

    Of a part that was judged twice, the later one counts. What is no part, or damaged, is left alone.

    Raises:
        StoreError: the address is wrong, or the store does not answer.
    """
    try:
        with closing(open_backend(address, namespace)) as backend:
            own = _Part(part, parts, judgement.seconds, judgement.cpu_seconds, encoded("", judgement))
            _publish(backend, own)
            found = {each.part: each for each in _published(backend) if each.parts == parts and 1 <= each.part <= parts}
    except UnreachableError as error:
        raise StoreError(f"the store {shown_address(address)} does not answer: {error}", hint="try it again") from None
    whole = Judgement(left_out=judgement.left_out)
    verdicts: dict[str, Verdict] = {}
    for each in found.values():
        one = each.saved.judgement()
        verdicts |= {verdict.mutant.id: verdict for verdict in one.verdicts}
        whole.tests = max(whole.tests, one.tests)
        whole.names += [name for name in one.names if name not in whole.names]
        whole.flaky += [name for name in one.flaky if name not in whole.flaky]
        whole.seconds, whole.cpu_seconds = whole.seconds + each.seconds, whole.cpu_seconds + each.cpu_seconds
    note = "in a part that is not there yet"
    whole.verdicts = [verdicts.get(mutant.id, Verdict(mutant, "not run", note=note)) for mutant in mutants]
    return whole, [number for number in range(1, parts + 1) if number not in found]


def _publish(backend: Backend, part: _Part) -> None:
    token = new_name()
    name = ShardName(backend.claim(token, None), token)
    backend.write(name, 0, HEADER + framed(zlib.compress(msgspec.json.encode(part))))


def _published(backend: Backend) -> Iterator[_Part]:
    """Yield the parts that can be read, the latest last."""
    shards = sorted(backend.survey().items())[-_PARTS_MAX:]
    spans = [Span(name, 0, min(state.size, _PART_BYTES_MAX)) for name, state in shards]
    for data in backend.read(spans):
        for record in [] if isinstance(data, Unreadable) else ShardReader().feed(data)[0]:
            try:
                text = zlib.decompressobj().decompress(record, _PART_BYTES_MAX)
                yield msgspec.json.decode(text, type=_Part)
            except (zlib.error, ValueError, msgspec.MsgspecError, RecursionError):
                continue
