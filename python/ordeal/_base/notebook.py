"""Shows values in notebooks: a title, facts, a table and code as HTML, in which every text is escaped."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from ordeal._base.formatting import one_line, program_lines

ROWS_MAX = 50

_TEMPLATE = """\
<div class="ordeal"><strong>{{ title }}</strong>
{% if facts %}<table>{% for what, value in facts %}<tr><th style="text-align:left">{{ what }}</th>\
<td style="text-align:left">{{ value }}</td></tr>{% endfor %}</table>{% endif %}
{% if rows %}<table>
<thead><tr>{% for name in columns %}<th style="text-align:left">{{ name }}</th>{% endfor %}</tr></thead>
<tbody>{% for row in rows %}<tr>{% for cell in row %}<td style="text-align:left">{{ cell }}</td>{% endfor %}</tr>\
{% endfor %}</tbody></table>{% endif %}
{% if more %}<p>{{ more }}</p>{% endif %}
{% if code %}<pre>{{ code }}</pre>{% endif %}
</div>
"""


@cache
def _template() -> Any:
    # Loaded late: outside a notebook nobody needs it.
    return importlib.import_module("jinja2").Environment(autoescape=True).from_string(_TEMPLATE)


def notebook_html(
    title: str,
    *,
    facts: Iterable[tuple[str, str]] = (),
    columns: Sequence[str] = (),
    rows: Sequence[Sequence[str]] = (),
    code: str = "",
) -> str:
    """Return what a notebook shows; facts without a value are left out, and of many rows the first are shown."""
    shown = [[one_line(cell) for cell in row] for row in rows[:ROWS_MAX]]
    html: str = _template().render(
        title=one_line(title),
        facts=[(what, one_line(value)) for what, value in facts if value],
        columns=columns,
        rows=shown,
        more=f"and {len(rows) - ROWS_MAX} more" if len(rows) > ROWS_MAX else "",
        code="\n".join(program_lines(code)) if code else "",
    )
    return html
