"""Draws what a scaling benchmark measured as SVG: throughputs with their spread, the fitted law, and the ideal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from ordeal._engine.formatting import one_line

if TYPE_CHECKING:
    from ordeal.scaling.law import Measurement
    from ordeal.scaling.trials import ScalingResult

_WIDTH, _HEIGHT = 720, 464
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 696, 64, 384
_TICKS_MAX = 6
_CURVE_POINTS = 96
# The ideal may rise far above all that was measured; beyond this much of it the measurements would lie at the bottom.
_IDEAL_SHOWN = 1.6

# A viewer that knows no media queries shows the light colours.
_STYLE = """
  .page { fill: #ffffff } .grid { stroke: #e3e3e8 } .axis { stroke: #6b6b76 }
  text { fill: #2b2b33; font: 13px system-ui, sans-serif } .title { font-size: 15px; font-weight: 600 }
  .minor { fill: #5c5c68; font-size: 12px }
  .ideal { stroke: #8a8a96; stroke-dasharray: 6 5 } .law { stroke: #c2410c; stroke-width: 2 }
  .spread { stroke: #1d4ed8; stroke-width: 1.5 } .point { fill: #1d4ed8 } path, line { fill: none }
  @media (prefers-color-scheme: dark) {
    .page { fill: #16161a } .grid { stroke: #2e2e36 } .axis { stroke: #9a9aa6 }
    text { fill: #ececf1 } .minor { fill: #b4b4c0 }
    .ideal { stroke: #8f8f9c } .law { stroke: #fb923c } .spread { stroke: #7aa2ff } .point { fill: #7aa2ff }
  }
"""


def scaling_svg(result: ScalingResult) -> str:
    """Return the plot as an SVG document, ending in a newline. Nothing in it lies beyond what was measured."""
    frame = _Frame(result.analysis.measurements, _ideal_of_one(result))
    title = f"{result.test_class}: {result.plan.metric} per second by workers"
    elements = [
        f'<rect class="page" width="{_WIDTH}" height="{_HEIGHT}"/>',
        _text(_LEFT, 28, _shortened(title), "title"),
        _text(_LEFT, 47, _subtitle(result), "minor"),
        *frame.grid(),
        _text((_LEFT + _RIGHT) / 2, _BOTTOM + 42, "workers", anchor="middle"),
        _rotated(20, (_TOP + _BOTTOM) / 2, f"{result.plan.metric}/s"),
        *frame.ideal(),
        *_law_path(result, frame),
        *(element for measurement in result.analysis.measurements for element in frame.marks(measurement)),
        *_legend(result),
    ]
    body = "\n".join(f"  {element}" for element in elements)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}"'
        f' role="img">\n  <title>{_escaped(title)}</title>\n  <style>{_STYLE}  </style>\n{body}\n</svg>\n'
    )


def _ideal_of_one(result: ScalingResult) -> float:
    """The throughput of one worker that the ideal multiplies: by the fit, else as measured."""
    analysis = result.analysis
    return analysis.measurements[0].mean if analysis.law is None or analysis.fit is None else analysis.fit.single


def _subtitle(result: ScalingResult) -> str:
    law, trials = result.analysis.law, result.plan.repeat
    if law is None:
        return "inconclusive: no law is drawn"
    measured = f"{trials} trial{'' if trials == 1 else 's'} of {result.plan.seconds:g}s each"
    return f"{law.regime}: sigma {law.sigma:.4f}, kappa {law.kappa:.6f}; {measured}"


class _Frame:
    """The axes: where a number of workers and a throughput lie on the page."""

    def __init__(self, measurements: Sequence[Measurement], of_one: float) -> None:
        self._of_one = of_one
        self._most = measurements[-1].workers
        highest = max(measurement.spread.high for measurement in measurements)
        self._x_ticks = [tick for tick in _ticks(self._most, whole=True) if tick <= self._most]
        self._y_ticks = _ticks(max(1.05 * highest, min(of_one * self._most, _IDEAL_SHOWN * highest)))
        self._x_end = self._most * 1.03
        self._y_end = self._y_ticks[-1]

    def x(self, workers: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * workers / self._x_end

    def y(self, throughput: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * throughput / self._y_end

    def grid(self) -> list[str]:
        """Lines for the throughputs, a mark for each number of workers, and what they stand for."""
        elements = []
        for value in self._y_ticks:
            kind = "grid" if value else "axis"
            elements.append(_line(kind, (_LEFT, self.y(value)), (_RIGHT, self.y(value))))
            elements.append(_text(_LEFT - 10, self.y(value) + 4, f"{value:,.12g}", "minor", anchor="end"))
        for value in self._x_ticks:
            elements.append(_line("axis", (self.x(value), _BOTTOM), (self.x(value), _BOTTOM + 5)))
            elements.append(_text(self.x(value), _BOTTOM + 21, f"{value:g}", "minor", anchor="middle"))
        return elements

    def ideal(self) -> list[str]:
        """As many times the throughput of one as there are workers, as far as the page goes."""
        end = min(float(self._most), self._y_end / self._of_one)
        return [_line("ideal", (self.x(0), self.y(0)), (self.x(end), self.y(end * self._of_one)))]

    def marks(self, measurement: Measurement) -> list[str]:
        """A point for the mean, and a bar from the lowest to the highest trial."""
        x, (low, high) = self.x(measurement.workers), measurement.spread
        bar = [_line("spread", (x, self.y(low)), (x, self.y(high)))]
        bar += [_line("spread", (x - 5, self.y(end)), (x + 5, self.y(end))) for end in (low, high)]
        point = f'<circle class="point" cx="{x:.1f}" cy="{self.y(measurement.mean):.1f}" r="4.5"/>'
        return [*(bar if low < high else []), point]


def _ticks(highest: float, *, whole: bool = False) -> list[float]:
    """Round numbers from 0 to the first that is not below ``highest``, a few of them."""
    raw = highest / _TICKS_MAX
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * (1 - 1e-9))
    if whole:
        step = max(1.0, step)
    count = math.ceil(highest / step - 1e-9)
    return [number * step for number in range(count + 1)]


def _law_path(result: ScalingResult, frame: _Frame) -> list[str]:
    law, fit = result.analysis.law, result.analysis.fit
    if law is None or fit is None:
        return []
    most = result.analysis.measurements[-1].workers
    counts = [1 + (most - 1) * i / _CURVE_POINTS for i in range(_CURVE_POINTS + 1)]
    points = (f"{frame.x(count):.1f} {frame.y(fit.single * law.capacity(count)):.1f}" for count in counts)
    return [f'<path class="law" d="M{" L".join(points)}"/>']


def _legend(result: ScalingResult) -> Iterable[str]:
    """What the marks mean, in a line below the axes: a curve may come to lie anywhere above it."""
    entries = [("point", "measured, lowest to highest"), ("ideal", "ideal: N times one worker")]
    if result.analysis.law is not None:
        entries.insert(1, ("law", "Universal Scaling Law, fitted"))
    for number, (kind, words) in enumerate(entries):
        x, y = _LEFT + 212 * number, _HEIGHT - 14
        if kind == "point":
            yield _line("spread", (x + 12, y - 8), (x + 12, y + 8))
            yield f'<circle class="point" cx="{x + 12}" cy="{y}" r="4.5"/>'
        else:
            yield _line(kind, (x, y), (x + 24, y))
        yield _text(x + 32, y + 4, words, "minor")


def _line(kind: str, start: tuple[float, float], end: tuple[float, float]) -> str:
    return f'<line class="{kind}" x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"/>'


def _text(x: float, y: float, words: str, kind: str = "", *, anchor: str = "start") -> str:
    shown = f' class="{kind}"' if kind else ""
    return f'<text{shown} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{_escaped(words)}</text>'


def _rotated(x: float, y: float, words: str) -> str:
    return f'<text transform="translate({x} {y}) rotate(-90)" text-anchor="middle">{_escaped(words)}</text>'


def _shortened(words: str) -> str:
    """What a line of the page has room for."""
    return one_line(words, limit=60)


def _escaped(words: str) -> str:
    # Characters that cannot be printed have no place in XML either.
    return escape(one_line(words))
