// Strategy nodes that choose one of several: elements of a collection, or strategies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "bindings/compiled/compiled_strategy.h"

namespace ordeal::bindings {

// The outcome of a choice: a value, a value that a filter rejected, or an exception.
enum class Outcome : std::uint8_t { kValue, kNotSatisfied, kError };

// The maps and filters that a strategy applies to the chosen value, in order. For one thread at a time.
class Transformations {
 public:
  struct Step {
    bool is_filter;
    py::object function;

    [[nodiscard]] int traverse(const Visitor& see) const { return see.all(function); }
  };

  Transformations() = default;
  explicit Transformations(std::vector<Step> steps) noexcept : steps_(std::move(steps)) {}

  [[nodiscard]] bool empty() const noexcept { return steps_.empty(); }
  // Replaces the owned reference `value` by the result; unless the outcome is a value, it is released.
  Outcome apply(PyObject*& value) const noexcept;
  [[nodiscard]] int traverse(const Visitor& see) const { return see.all(steps_); }

 private:
  std::vector<Step> steps_;
};

// Draws an index in [0, size) like Hypothesis; nothing with an exception.
std::optional<std::int64_t> draw_index(DrawContext& run, std::int64_t size);
// Records this index as if it had been drawn.
bool force_index(DrawContext& run, std::int64_t index);

struct ChosenElement {
  std::int64_t index;
  PyObject* value;  // owned; null unless the outcome is a value
  Outcome outcome;
};

// The number of times that Hypothesis tries before it gives up on a filter.
inline constexpr std::int64_t kFilterTries = 3;

// Chooses an element that satisfies a filter like Hypothesis: three tries, then any element that satisfies it.
// `get(index)` returns a ChosenElement.
template <typename Get>
ChosenElement draw_filtered(DrawContext& run, std::int64_t size, const Get& get) {
  constexpr std::int64_t kFilterCallsMax = 10'000;
  const ChosenElement error{0, nullptr, Outcome::kError};
  std::set<std::int64_t> bad;
  for (std::int64_t i = 0; i < kFilterTries; ++i) {
    const auto index = draw_index(run, size);
    if (!index) {
      return error;
    }
    if (bad.contains(*index)) {
      continue;
    }
    const ChosenElement element = get(*index);
    if (element.outcome != Outcome::kNotSatisfied) {
      return element;
    }
    bad.insert(*index);
  }
  const std::int64_t good_max = std::min(size - static_cast<std::int64_t>(bad.size()), kFilterCallsMax - kFilterTries);
  if (good_max == 0) {
    return {0, nullptr, Outcome::kNotSatisfied};
  }
  const auto speculative = draw_index(run, good_max);
  if (!speculative) {
    return error;
  }
  std::vector<std::pair<std::int64_t, py::object>> allowed;
  for (std::int64_t i = 0; i < std::min(size, kFilterCallsMax - kFilterTries); ++i) {
    if (bad.contains(i)) {
      continue;
    }
    const ChosenElement element = get(i);
    if (element.outcome == Outcome::kError) {
      return error;
    }
    if (element.outcome == Outcome::kValue) {
      allowed.emplace_back(i, py::reinterpret_steal<py::object>(element.value));
      if (std::cmp_greater(allowed.size(), *speculative)) {
        return force_index(run, i) ? ChosenElement{i, allowed.back().second.release().ptr(), Outcome::kValue} : error;
      }
    }
  }
  if (allowed.empty()) {
    return {0, nullptr, Outcome::kNotSatisfied};
  }
  const auto chosen = draw_index(run, static_cast<std::int64_t>(allowed.size()));
  if (!chosen) {
    return error;
  }
  auto& [index, value] = allowed[static_cast<std::size_t>(*chosen)];
  return force_index(run, index) ? ChosenElement{index, value.release().ptr(), Outcome::kValue} : error;
}

// From an immutable sequence. `is_position`: drawn as a position, which is uniform for any size.
StrategyNodePtr sampled_node(py::object elements, bool is_position);
StrategyNodePtr filtered_sample_node(py::object elements, Transformations transformations);
// The value of a strategy that has only one, transformed.
StrategyNodePtr transformed_node(py::object value, Transformations transformations);

// A branch that draws from a bundle is skipped while the bundle is empty; the name is null for others.
struct Branch {
  StrategyNodePtr node;
  py::object bundle;

  [[nodiscard]] int traverse(const Visitor& see) const { return see.all(node, bundle); }
};

// `chooses_one`: even a single branch is a choice.
StrategyNodePtr one_of_node(std::vector<Branch> branches, bool chooses_one);

}  // namespace ordeal::bindings
