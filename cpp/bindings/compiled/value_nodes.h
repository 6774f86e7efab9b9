// Strategy nodes of single values: numbers, booleans, bytes, constants, dates and times.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "bindings/compiled/compiled_strategy.h"
#include "core/tape/wide_integer.h"

namespace ordeal::bindings {

StrategyNodePtr integers_node(std::int64_t low, std::int64_t high);
// A missing bound is open.
StrategyNodePtr open_integers_node(std::optional<std::int64_t> low, std::optional<std::int64_t> high);
// At most kWideMax from zero.
StrategyNodePtr wide_integers_node(Wide low, Wide high);
StrategyNodePtr booleans_node();
StrategyNodePtr floats_node(double low, double high, bool allow_nan, double smallest_nonzero);
StrategyNodePtr bytes_node(std::int64_t low, std::int64_t high);
StrategyNodePtr constant_node(py::object value);

// The parts of a date or a time in order: year, month, day, hour, minute, second, microsecond.
using CalendarParts = std::array<std::int64_t, 7>;

// The parts from `first` up to but excluding `end`, as a whole between those of `low` and `high`. With `has_fold`, a
// fold of 0 or 1 follows.
struct CalendarRange {
  CalendarParts low;
  CalendarParts high;
  std::size_t first;
  std::size_t end;
  bool has_fold;
};

// The instants near which Hypothesis likes to draw: their positions, the simplest one, and how far a draw strays.
struct TrickyTimes {
  double p = 0;
  std::vector<CalendarParts> instants;
  std::size_t simplest = 0;
  std::vector<std::int64_t> widths_us;
};

// Dates, times, and datetimes without a timezone. `tricky` only for datetimes; p = 0 disables it.
StrategyNodePtr calendar_node(py::object make, const CalendarRange& range, TrickyTimes tricky);
// Days, seconds and microseconds. Each has its own bounds while the parts before it are at theirs.
StrategyNodePtr timedelta_node(py::object make, const std::array<std::int64_t, 3>& low,
                               const std::array<std::int64_t, 3>& high);

}  // namespace ordeal::bindings
