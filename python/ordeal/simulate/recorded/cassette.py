"""Cassettes of vcrpy as records: its reader runs nothing of them, and here they are bounded and checked."""

from __future__ import annotations

from typing import Any

from vcr.serialize import deserialize
from vcr.serializers import yamlserializer

from ordeal._base.formatting import one_line
from ordeal._base.limits import DEPTH_MAX
from ordeal.errors import TraceError
from ordeal.simulate.recorded.record_file import Entry, http_reply

# Here it only names the parts of the text, one by one.
yaml = yamlserializer.yaml


def read_cassette(data: bytes, where: str) -> list[Entry]:
    """Return the answers of a cassette; ``where`` names it in errors.

    Raises:
        TraceError: it is damaged, or of another version.
    """
    version, depth, loader = None, 0, getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        before = None
        for event in yaml.parse(data, Loader=loader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEPTH_MAX:
                raise TraceError(f"{where} nests lists or objects too deeply")
            version = getattr(event, "value", None) if depth == 1 and before == "version" else version
            before = getattr(event, "value", None)
        if version != "1":
            hint = "convert it as the documentation of vcrpy says, or record it again"
            raise TraceError(f"{where} is a cassette of version {version!r:.50}; version 1 is read", hint=hint)
        requests, replies, *_ = deserialize(data.decode("utf-8"), yamlserializer)
        return [_entry(*each) for each in zip(requests, replies, strict=True)]
    except (yaml.YAMLError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise TraceError(f"{where} cannot be read as a cassette: {one_line(str(error))}") from None


def _entry(request: Any, reply: Any) -> Entry:
    content = (reply.get("body") or {}).get("string") or b""
    headers = {
        str(name): [str(each) for each in (values if isinstance(values, list) else [values])]
        for name, values in (reply.get("headers") or {}).items()
    }
    body = content if isinstance(content, bytes) else str(content).encode()
    status = reply["status"]
    answer = http_reply(int(status["code"]), str(status.get("message") or ""), headers, body)
    # vcrpy compares no more than these either, unless it is asked to.
    return Entry(kind="http", request={"method": str(request.method), "url": str(request.uri)}, reply=answer)
