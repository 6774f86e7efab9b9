// Weights for the operations of a run: some are left out, and the others differ in how often they are picked.
//
// Pure functions, for the owner of the generator; the picker is immutable. Weights differ within a run and not only
// between runs, because the ratio between two rules decides whether a container fills up or stays empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/rng.h"

namespace ordeal {

// How a run draws its swarm configuration.
enum class SwarmDistribution : std::uint8_t {
  kOff,          // every rule and fault is on
  kCoinFlip,     // a coin for each fault; at least one is on
  kUniformSize,  // how many are on is uniform from 1 to all; rules that are on get weights
  kHypothesis,   // one probability for the run, with which each rule and fault is left out; at least one rule is on
};

// What is known about an operation before any draw.
struct Operation {
  static constexpr std::uint32_t kWeightMax = 100;  // of drawn weights
  static constexpr std::uint32_t kBaseMax = 1000;

  std::uint32_t base = 1;          // multiplies the drawn weight
  std::uint32_t cap = kWeightMax;  // the largest weight that is drawn
  bool always_on = false;

  friend bool operator==(const Operation&, const Operation&) = default;
};

// A subset of `count` elements whose size is uniform from 1 to all; subsets of equal size are equally likely.
std::vector<bool> draw_by_size(Rng& rng, std::size_t count);

// A subset from which each element is left out with the same probability, drawn from 0, 1/255, ..., 254/255.
std::vector<bool> draw_by_share(Rng& rng, std::size_t count);

// draw_by_size among the operations that are not always on, plus those that are.
std::vector<bool> draw_kept(Rng& rng, std::span<const Operation> operations);

// A weight for each operation: uniform from 1 to its cap, times its base; 0 if it is not kept.
std::vector<std::uint32_t> draw_weights(Rng& rng, std::span<const Operation> operations, const std::vector<bool>& kept);

// Picks an index in proportion to its weight, in constant time. The same draws give the same picks on every platform.
// Immutable, so threads may share it.
class RulePicker {
 public:
  static constexpr std::size_t kOperationsMax = 65'536;

  // ConfigError if no weight is above zero, or there are too many.
  explicit RulePicker(std::span<const std::uint32_t> weights);

  // Draws from `rng` once.
  std::size_t pick(Rng& rng) const noexcept { return at(rng.below(range_)); }
  // For a number drawn elsewhere: `unit` is uniform in [0, 1).
  [[nodiscard]] std::size_t pick_at(double unit) const noexcept {
    const auto position = static_cast<std::uint64_t>(unit * static_cast<double>(range_));
    return at(position < range_ ? position : range_ - 1);
  }

 private:
  // The alias method (Walker 1974; Vose 1991) with integers, so that rounding shifts no weight.
  struct Column {
    std::uint64_t threshold = 0;  // of `total_`: below it the column stands for itself
    std::uint32_t alias = 0;
  };

  [[nodiscard]] std::size_t at(std::uint64_t position) const noexcept {
    const std::uint64_t column = position / total_;
    const Column& drawn = columns_[column];
    return position % total_ < drawn.threshold ? column : drawn.alias;
  }

  std::uint64_t total_ = 0;
  std::uint64_t range_ = 0;  // columns * total_
  std::vector<Column> columns_;
};

}  // namespace ordeal
