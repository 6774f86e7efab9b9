"""Masks secrets by rule, before anything is written: by the name of what holds them, by their form, and by value."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, unquote_plus

#: Stands for a secret. It means the same in a URL, in JSON and in a header; in a record it fits any text.
MASKED = "MASKED"
#: Shorter values are masked where they stand; to replace them everywhere would spoil the rest.
_CHARS_MIN = 6

_NAME = (
    r"passw(?:or)?d|passphrase|pwd|secret|token(?!s|[-_]?(?:type|count|limit|expir))|credential|api[-_]?key"
    r"|access[-_]?key|private[-_]?key|authorization|signature|session[-_]?id|cookie|csrf|xsrf|jwt|bearer|otp"
)
_SECRET_NAME = re.compile(rf"(?:{_NAME})|(?:^|[-_])(?:auth|sig|sid)$|^session$", re.IGNORECASE)
_COOKIE = re.compile(r"((?:^|;)\s*+(?!(?:path|domain|expires|max-age|samesite)=)[^=;]+=)([^;]*)", re.IGNORECASE)
# Each has what stays as its first group, and the secret as its second. Bounds keep long texts from taking long.
_FORMS = [
    re.compile(form, re.IGNORECASE)
    for form in (
        r"(\b(?:bearer|basic|digest)\s+)([A-Za-z0-9._~+/=-]{6,})",
        r"(\b[a-z][a-z0-9+.-]{0,20}://)([^\s/?#@\"'<>]+)(?=@)",
        # Assigned: in a query, a form, an environment, a file of settings, or a header within a text; an option.
        rf"((?:{_NAME})[\w-]{{0,40}}[\"']?(?:\s*[:=]\s*|\s+(?=\S*\d))[\"']?)([^\s\"'&,;<>]+)",
        rf"((?:^|\s)-[\w-]{{0,40}}(?:{_NAME})[\w-]{{0,40}}\s+['\"]?)([^\s'\"]+)",
        # XML, and a part of a form.
        rf"(<[\w:-]{{0,40}}(?:{_NAME})[\w-]{{0,40}}>)([^<]+)",
        rf"(name=\"[^\"]{{0,40}}(?:{_NAME})[^\"]{{0,40}}\"(?:\r?\n[^\r\n]+)*\r?\n\r?\n)([^\r\n]+)",
        # What is known by how it looks: JSON Web Tokens, keys of large services, and private keys.
        r"(\b)(eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*|(?:gh[pousr]|github_pat|glpat|xox[abprs]|[sr]k)[-_][\w-]{10,})",
        r"(\b)(AKIA[A-Z0-9]{16}|AIza[\w-]{35})",
        r"(-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----)([\s\S]*?)(?=-----END)",
    )
]


def is_secret_name(name: str) -> bool:
    """Return True if what has this name is a secret."""
    return _SECRET_NAME.search(name) is not None


class Masks:
    """Masks the texts of one record, and remembers each secret, to mask it anywhere else."""

    def __init__(self, more: Iterable[str] = ()) -> None:
        """``more`` are regular expressions of further names and values."""
        self._more = [re.compile(each) for each in more]
        self._known: set[str] = set()
        self.learn(os.environ)

    def learn(self, environment: Mapping[Any, Any]) -> None:
        """Remember the secrets of an environment."""
        for name, value in environment.items():
            if is_secret_name(str(name)) and name not in ("PWD", "OLDPWD"):  # these are folders
                self._note(str(value))

    def _note(self, value: str) -> str:
        scheme, _, token = value.partition(" ")
        if scheme.lower() == "basic":
            decoded = base64.b64decode(token + "===").decode("utf-8", "replace")
            self._note(decoded.partition(":")[2])
        for secret in (value, token, unquote_plus(value)):
            if len(secret) >= _CHARS_MIN and secret != MASKED:
                self._known.add(secret)
        return MASKED

    def named(self, name: str, value: str) -> str:
        """Return the value of a header, a field or a variable, masked as its name says."""
        if name.lower().endswith("cookie"):
            return _COOKIE.sub(self._masked, value)
        is_secret = is_secret_name(name) or any(each.search(name) for each in self._more)
        return self._note(value) if is_secret else self.text(value)

    def text(self, text: str) -> str:
        """Return a text without secrets. JSON is read; in all else their forms are looked for."""
        if text[:1] in ("{", "["):
            try:
                read = json.loads(text)
                masked = self.each(read)
                text = text if masked == read else json.dumps(masked)
            except (ValueError, RecursionError):
                pass
        for form in _FORMS:
            text = form.sub(self._masked, text)
        for each in self._more:
            text = each.sub(lambda found: self._note(found[0]), text)
        return text

    def _masked(self, found: re.Match[str]) -> str:
        return found[1] + self._note(found[2])

    def each(self, value: Any, name: str = "") -> Any:
        """Return a JSON value with each text in it masked."""
        if isinstance(value, dict):
            return {key: self.each(each, key) for key, each in value.items()}
        if isinstance(value, list):
            return [self.each(each, name) for each in value]
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and is_secret_name(name)
        return self.named(name, str(value)) if is_number or isinstance(value, str) else value

    def line(self, text: str) -> str:
        """Return a line of JSON without the secrets that are known by now, also as a URL or JSON writes them."""
        for value in sorted(self._known, key=len, reverse=True):
            for form in {value, quote(value), quote(value, safe=""), json.dumps(value)[1:-1]}:
                text = text.replace(form, MASKED).replace(json.dumps(form)[1:-1], MASKED)
        return text


def fits(recorded: str, now: str) -> bool:
    """Return True if two texts are the same, where what was masked may be anything."""
    if MASKED not in recorded:
        return recorded == now
    first, *middle, last = recorded.split(MASKED)
    at, end = len(first), len(now) - len(last)
    if at > end or not now.startswith(first) or not now.endswith(last):
        return False
    for piece in middle:
        found = now.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True
