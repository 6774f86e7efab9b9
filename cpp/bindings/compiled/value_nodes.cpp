#include "bindings/compiled/value_nodes.h"

#include <cmath>
#include <string>
#include <utility>

#include "bindings/casts/choice_cast.h"
#include "core/draw/value_draws.h"
#include "core/tape/wide_integer.h"

namespace ordeal::bindings {
namespace {

class Integers final : public StrategyNode {
 public:
  Integers(std::int64_t low, std::int64_t high) noexcept : low_(low), high_(high) {}

  PyObject* draw_value(DrawContext& run) const override {
    if (!run.may_choose()) {
      return nullptr;
    }
    const std::int64_t value = run.source().integer(low_, high_, 0);
    return run.count(integer_size(value)) ? PyLong_FromLongLong(value) : nullptr;
  }

 private:
  std::int64_t low_;
  std::int64_t high_;
};

PyObject* counted(DrawContext& run, const Choice& integer) {
  if (!integer.is_big()) {
    return run.count(integer_size(integer.number)) ? PyLong_FromLongLong(integer.number) : nullptr;
  }
  // As many bytes as its magnitude and a sign bit need.
  return run.count(sized(1 + (magnitude_bits(integer) / 8))) ? choice_to_python(integer).release().ptr() : nullptr;
}

class OpenIntegers final : public StrategyNode {
 public:
  OpenIntegers(std::optional<std::int64_t> low, std::optional<std::int64_t> high) noexcept : low_(low), high_(high) {}

  PyObject* draw_value(DrawContext& run) const override {
    if (!run.may_choose()) {
      return nullptr;
    }
    return counted(run, draw_open_integer(run.source(), low_, high_, 0));
  }

 private:
  std::optional<std::int64_t> low_;
  std::optional<std::int64_t> high_;
};

// Bounds beyond 64 bits.
class WideIntegers final : public StrategyNode {
 public:
  WideIntegers(Wide low, Wide high) noexcept : low_(low), high_(high) {}

  PyObject* draw_value(DrawContext& run) const override {
    return run.may_choose() ? counted(run, draw_wide_integer(run.source(), low_, high_, 0)) : nullptr;
  }

 private:
  Wide low_;
  Wide high_;
};

class Booleans final : public StrategyNode {
 public:
  PyObject* draw_value(DrawContext& run) const override {
    if (!run.may_choose()) {
      return nullptr;
    }
    const bool value = run.source().boolean(0.5);
    return run.count(kBooleanSize) ? PyBool_FromLong(value ? 1 : 0) : nullptr;
  }
};

// Each draw makes a new object, even for NaN: the same object twice would be equal in a list.
class Floats final : public StrategyNode {
 public:
  Floats(double low, double high, bool allow_nan, double smallest_nonzero) noexcept
      : low_(low), high_(high), smallest_nonzero_(smallest_nonzero), allow_nan_(allow_nan) {}

  PyObject* draw_value(DrawContext& run) const override {
    if (!run.may_choose()) {
      return nullptr;
    }
    const double value = run.source().real(low_, high_, allow_nan_, smallest_nonzero_);
    return run.count(kFloatSize) ? PyFloat_FromDouble(value) : nullptr;
  }

 private:
  double low_;
  double high_;
  double smallest_nonzero_;
  bool allow_nan_;
};

class Bytes final : public StrategyNode {
 public:
  Bytes(std::int64_t low, std::int64_t high) noexcept : low_(low), high_(high) {}

  PyObject* draw_value(DrawContext& run) const override {
    if (!run.may_choose()) {
      return nullptr;
    }
    const std::string bytes = draw_bytes(run.source(), low_, high_);
    return run.count(sized(bytes.size()))
               ? PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size()))
               : nullptr;
  }

 private:
  std::int64_t low_;
  std::int64_t high_;
};

class Constant final : public StrategyNode {
 public:
  explicit Constant(py::object value) noexcept : value_(std::move(value)) {}

  PyObject* draw_value(DrawContext& /*run*/) const override { return Py_NewRef(value_.ptr()); }
  [[nodiscard]] int traverse(const Visitor& see) const override { return see.all(value_); }

 private:
  py::object value_;
};

constexpr std::size_t kYear = 0;
constexpr std::size_t kMonth = 1;
constexpr std::size_t kDay = 2;
constexpr CalendarParts kLeast{1, 1, 1, 0, 0, 0, 0};
constexpr CalendarParts kMost{9999, 12, 31, 23, 59, 59, 999'999};
constexpr std::int64_t kSimplestYear = 2000;
constexpr std::int64_t kUsPerDay = std::int64_t{86'400} * 1'000'000;

std::int64_t days_in_month(std::int64_t year, std::int64_t month) noexcept {
  constexpr std::array<std::int64_t, 12> kDays{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return kDays.at(static_cast<std::size_t>(month - 1)) + (is_leap && month == 2 ? 1 : 0);
}

// Days since 1 March of the year 0, and back. Years begin in March here, so that the leap day is the last of its year.
std::int64_t days_of(std::int64_t year, std::int64_t month, std::int64_t day) noexcept {
  const std::int64_t y = month <= 2 ? year - 1 : year;
  const std::int64_t months = month <= 2 ? month + 9 : month - 3;
  return (y * 365) + (y / 4) - (y / 100) + (y / 400) + (((153 * months) + 2) / 5) + day - 1;
}

void set_date(CalendarParts& parts, std::int64_t days) noexcept {
  constexpr std::int64_t kDaysPerEra = 146'097;  // 400 years
  const std::int64_t era = days / kDaysPerEra;
  const std::int64_t in_era = days % kDaysPerEra;
  const std::int64_t year = (in_era - (in_era / 1460) + (in_era / 36'524) - (in_era / 146'096)) / 365;
  const std::int64_t in_year = in_era - ((365 * year) + (year / 4) - (year / 100));
  const std::int64_t months = ((5 * in_year) + 2) / 153;
  parts[kDay] = in_year - (((153 * months) + 2) / 5) + 1;
  parts[kMonth] = months < 10 ? months + 3 : months - 9;
  parts[kYear] = year + (400 * era) + (parts[kMonth] <= 2 ? 1 : 0);
}

std::int64_t microseconds_of(const CalendarParts& parts) noexcept {
  const std::int64_t seconds = (((parts[3] * 60) + parts[4]) * 60) + parts[5];
  return (days_of(parts[kYear], parts[kMonth], parts[kDay]) * kUsPerDay) + (seconds * 1'000'000) + parts[6];
}

CalendarParts parts_of(std::int64_t microseconds) noexcept {
  CalendarParts parts{};
  set_date(parts, microseconds / kUsPerDay);
  std::int64_t rest = microseconds % kUsPerDay;
  parts[6] = rest % 1'000'000;
  rest /= 1'000'000;
  parts[5] = rest % 60;
  parts[4] = rest / 60 % 60;
  parts[3] = rest / 3600;
  return parts;
}

PyObject* call_with(const py::object& make, const std::int64_t* parts, std::size_t count, PyObject* tail = nullptr,
                    PyObject* names = nullptr) noexcept {
  constexpr std::size_t kPartsMax = 8;
  std::array<PyObject*, kPartsMax + 1> arguments{};
  std::size_t made = 0;
  while (made < count && (arguments.at(made) = PyLong_FromLongLong(parts[made])) != nullptr) {
    ++made;
  }
  PyObject* value = nullptr;
  if (made == count) {
    arguments.at(count) = tail;
    value = PyObject_Vectorcall(make.ptr(), arguments.data(), count, names);
  }
  while (made > 0) {
    Py_DECREF(arguments.at(--made));
  }
  return value;
}

class Calendar final : public StrategyNode {
 public:
  Calendar(py::object make, const CalendarRange& range, TrickyTimes tricky)
      : make_(std::move(make)), range_(range), tricky_(std::move(tricky)) {}

  PyObject* draw_value(DrawContext& run) const override {
    if (tricky_.p > 0) {
      if (!run.may_choose()) {
        return nullptr;
      }
      const bool is_tricky = run.source().boolean(tricky_.p);
      if (!run.count(kBooleanSize)) {
        return nullptr;
      }
      if (is_tricky && !tricky_.instants.empty()) {
        return draw_tricky(run);
      }
    }
    return draw_between(run, range_.low, range_.high);
  }
  [[nodiscard]] int traverse(const Visitor& see) const override { return see.all(make_); }

 private:
  PyObject* draw_tricky(DrawContext& run) const {
    const auto last = static_cast<std::int64_t>(tricky_.instants.size()) - 1;
    const auto instant = choose(run, 0, last, static_cast<std::int64_t>(tricky_.simplest));
    if (!instant) {
      return nullptr;
    }
    const auto width = choose(run, 0, static_cast<std::int64_t>(tricky_.widths_us.size()) - 1, 0);
    if (!width) {
      return nullptr;
    }
    const std::int64_t low = microseconds_of(range_.low);
    const std::int64_t high = microseconds_of(range_.high);
    const std::int64_t at = microseconds_of(tricky_.instants.at(static_cast<std::size_t>(*instant)));
    const std::int64_t center = std::min(std::max(at, low), high);
    const std::int64_t reach = tricky_.widths_us.at(static_cast<std::size_t>(*width));
    return draw_between(run, parts_of(center - std::min(reach, center - low)),
                        parts_of(center + std::min(reach, high - center)));
  }

  PyObject* draw_between(DrawContext& run, const CalendarParts& low, const CalendarParts& high) const {
    std::array<std::int64_t, std::tuple_size_v<CalendarParts> + 1> parts{};
    bool at_low = true;
    bool at_high = true;
    for (std::size_t i = range_.first; i < range_.end; ++i) {
      const std::int64_t least = at_low ? low.at(i) : kLeast.at(i);
      std::int64_t most = at_high ? high.at(i) : kMost.at(i);
      if (i == kDay && !at_high) {
        most = days_in_month(parts[kYear], parts[kMonth]);
      }
      const auto value = choose(run, least, most, i == kYear ? kSimplestYear : 0);
      if (!value) {
        return nullptr;
      }
      parts.at(i) = *value;
      at_low = at_low && *value == least;
      at_high = at_high && *value == most;
    }
    const std::size_t count = range_.end - range_.first;
    if (!range_.has_fold) {
      return call_with(make_, &parts.at(range_.first), count);
    }
    const auto fold = choose(run, 0, 1, 0);
    if (!fold) {
      return nullptr;
    }
    static PyObject* const kFold = py::make_tuple("fold").release().ptr();
    return call_with(make_, &parts.at(range_.first), count, *fold == 0 ? zero() : one(), kFold);
  }

  // Small integers live for ever; these are kept alive in addition.
  static PyObject* zero() {
    static PyObject* const kZero = PyLong_FromLong(0);
    return kZero;
  }
  static PyObject* one() {
    static PyObject* const kOne = PyLong_FromLong(1);
    return kOne;
  }

  py::object make_;
  CalendarRange range_;
  TrickyTimes tricky_;
};

class Timedeltas final : public StrategyNode {
 public:
  using Parts = std::array<std::int64_t, 3>;

  Timedeltas(py::object make, const Parts& low, const Parts& high) noexcept
      : make_(std::move(make)), low_(low), high_(high) {}

  PyObject* draw_value(DrawContext& run) const override {
    constexpr Parts kTimedeltaLeast{-999'999'999, 0, 0};
    constexpr Parts kTimedeltaMost{999'999'999, 86'399, 999'999};
    Parts parts{};
    bool at_low = true;
    bool at_high = true;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::int64_t least = at_low ? low_.at(i) : kTimedeltaLeast.at(i);
      const std::int64_t most = at_high ? high_.at(i) : kTimedeltaMost.at(i);
      const auto value = choose(run, least, most, 0);
      if (!value) {
        return nullptr;
      }
      parts.at(i) = *value;
      at_low = at_low && *value == least;
      at_high = at_high && *value == most;
    }
    return call_with(make_, parts.data(), parts.size());
  }
  [[nodiscard]] int traverse(const Visitor& see) const override { return see.all(make_); }

 private:
  py::object make_;
  Parts low_;
  Parts high_;
};

}  // namespace

StrategyNodePtr integers_node(std::int64_t low, std::int64_t high) { return std::make_shared<Integers>(low, high); }

StrategyNodePtr open_integers_node(std::optional<std::int64_t> low, std::optional<std::int64_t> high) {
  return std::make_shared<OpenIntegers>(low, high);
}

StrategyNodePtr wide_integers_node(Wide low, Wide high) { return std::make_shared<WideIntegers>(low, high); }

StrategyNodePtr booleans_node() { return std::make_shared<Booleans>(); }

StrategyNodePtr floats_node(double low, double high, bool allow_nan, double smallest_nonzero) {
  return std::make_shared<Floats>(low, high, allow_nan, smallest_nonzero);
}

StrategyNodePtr bytes_node(std::int64_t low, std::int64_t high) { return std::make_shared<Bytes>(low, high); }

StrategyNodePtr constant_node(py::object value) { return std::make_shared<Constant>(std::move(value)); }

StrategyNodePtr calendar_node(py::object make, const CalendarRange& range, TrickyTimes tricky) {
  return std::make_shared<Calendar>(std::move(make), range, std::move(tricky));
}

StrategyNodePtr timedelta_node(py::object make, const std::array<std::int64_t, 3>& low,
                               const std::array<std::int64_t, 3>& high) {
  return std::make_shared<Timedeltas>(std::move(make), low, high);
}

}  // namespace ordeal::bindings
