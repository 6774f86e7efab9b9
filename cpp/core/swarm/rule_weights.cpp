#include "core/swarm/rule_weights.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "core/base/check.h"
#include "core/base/error.h"

namespace ordeal {
namespace {

// The number of probabilities: i / 255 for i below 255. At 255 everything would be left out.
constexpr std::uint64_t kShares = 255;

}  // namespace

// The first `size` steps of a Fisher-Yates shuffle, in a fixed order of draws.
std::vector<bool> draw_by_size(Rng& rng, std::size_t count) {
  std::vector<bool> kept(count, false);
  if (count == 0) {
    return kept;
  }
  const std::size_t size = 1 + rng.below(count);
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = 0; i < size; ++i) {
    std::swap(order[i], order[i + rng.below(count - i)]);
    kept[order[i]] = true;
  }
  return kept;
}

// One probability for all, so that runs with very few rules and runs with nearly all are both common.
std::vector<bool> draw_by_share(Rng& rng, std::size_t count) {
  const double left_out = static_cast<double>(rng.below(kShares)) / static_cast<double>(kShares);
  std::vector<bool> kept(count, false);
  for (std::vector<bool>::reference one : kept) {
    one = !rng.chance(left_out);
  }
  return kept;
}

// Operations that are always on do not count towards the size.
std::vector<bool> draw_kept(Rng& rng, std::span<const Operation> operations) {
  const auto optional = std::ranges::count_if(operations, [](const Operation& one) { return !one.always_on; });
  const std::vector<bool> drawn = draw_by_size(rng, static_cast<std::size_t>(optional));
  std::vector<bool> kept(operations.size(), true);
  std::size_t next = 0;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (!operations[i].always_on) {
      kept[i] = drawn[next++];
    }
  }
  ORDEAL_DCHECK(next == drawn.size(), "drawn=" << drawn.size() << " used=" << next);
  return kept;
}

// A rule that is left out draws nothing.
std::vector<std::uint32_t> draw_weights(Rng& rng, std::span<const Operation> operations,
                                        const std::vector<bool>& kept) {
  ORDEAL_CHECK(operations.size() == kept.size(), "operations=" << operations.size() << " kept=" << kept.size());
  std::vector<std::uint32_t> weights(operations.size(), 0);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (kept[i]) {
      weights[i] = static_cast<std::uint32_t>(1 + rng.below(operations[i].cap)) * operations[i].base;
    }
  }
  return weights;
}

// Vose's way to fill the columns: a small weight fills its column with a part of a large one. O(weights).
RulePicker::RulePicker(std::span<const std::uint32_t> weights) : columns_(weights.size()) {
  if (weights.size() > kOperationsMax) {
    throw ConfigError("there are " + std::to_string(weights.size()) + " operations; at most " +
                      std::to_string(kOperationsMax) + " are possible");
  }
  total_ = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  if (total_ == 0) {
    throw ConfigError("no operation has a weight above 0");
  }
  range_ = total_ * weights.size();
  std::vector<std::uint64_t> left(weights.size());  // what remains to be placed of each, in parts of a column
  std::vector<std::uint32_t> small;
  std::vector<std::uint32_t> large;
  for (std::uint32_t i = 0; i < weights.size(); ++i) {
    left[i] = std::uint64_t{weights[i]} * weights.size();
    (left[i] < total_ ? small : large).push_back(i);
  }
  // All columns together hold exactly all weights, so while there is a small one there is also a large one.
  while (!small.empty()) {
    ORDEAL_CHECK(!large.empty(), small.size() << " columns are left over");
    const std::uint32_t filled = small.back();
    const std::uint32_t giver = large.back();
    small.pop_back();
    columns_[filled] = {.threshold = left[filled], .alias = giver};
    left[giver] -= total_ - left[filled];
    if (left[giver] < total_) {
      large.pop_back();
      small.push_back(giver);
    }
  }
  for (const std::uint32_t full : large) {
    columns_[full] = {.threshold = total_, .alias = full};
  }
}

}  // namespace ordeal
