// Strategy nodes of lists, tuples and dictionaries.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "bindings/compiled/choice_nodes.h"
#include "bindings/compiled/compiled_strategy.h"

namespace ordeal::bindings {

// How Hypothesis decides whether another element follows. With equal sizes nothing is chosen.
struct SizeRange {
  static constexpr std::int64_t kEndless = INT64_MAX;

  std::int64_t low;
  std::int64_t high;  // kEndless if unbounded
  double p_continue;
};

// What makes the elements of a list unique: a null key is the element itself. With a `suffix`, which draws the other
// parts, elements are tuples whose first part alone must be unique.
struct Uniqueness {
  std::vector<py::object> keys;
  StrategyNodePtr suffix;

  [[nodiscard]] int traverse(const Visitor& see) const { return see.all(keys, suffix); }
};

StrategyNodePtr list_node(StrategyNodePtr element, const SizeRange& sizes);
// `conditions` are the filters of the element's own strategy.
StrategyNodePtr unique_list_node(StrategyNodePtr element, std::vector<py::object> conditions, const SizeRange& sizes,
                                 Uniqueness uniqueness);
// From an immutable sequence, each element at most once. `forces_end`: once all are taken the end is a choice.
StrategyNodePtr unique_sample_node(py::object elements, Transformations transformations, const SizeRange& sizes,
                                   Uniqueness uniqueness, bool forces_end);
StrategyNodePtr tuple_node(std::vector<StrategyNodePtr> elements);
// What some places of an array of `size` hold, and what fills the others: (places, values), and the value of `fill`
// where places are left.
StrategyNodePtr sparse_node(StrategyNodePtr element, StrategyNodePtr fill, std::int64_t size, const SizeRange& sizes);
StrategyNodePtr permutation_node(py::object elements);

using KeyedNode = std::pair<py::object, StrategyNodePtr>;

// A mapping of class `make`. `shuffles`: the order of its keys is drawn too.
StrategyNodePtr fixed_dictionary_node(py::object make, std::vector<KeyedNode> required, std::vector<KeyedNode> optional,
                                      const SizeRange& optional_sizes, bool shuffles);

}  // namespace ordeal::bindings
