#include "core/coverage/features.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/coverage/edge.h"

namespace ordeal {
namespace {

constexpr std::array<std::string_view, kFeatureKinds> kNames{
    "edge",     "hit count", "edge of rule", "rule pair", "bundle size", "bundle pair", "state hash",
    "distance", "target",    "event",        "task step", "task order",  "decision",    "magnitude"};

// By kind, in sixteenths of a new edge. A distance and a target have their own energy, see Learning::keep(). Orders and
// decisions are so frequent that with the weight of a task's step they would hide how far tasks came.
constexpr std::array<std::uint32_t, kFeatureKinds> kWeights{
    Features::kWeightOfEdge,  // edge
    2,                        // hit count
    8,                        // edge of a rule
    8,                        // pair of rules
    8,                        // bundle size
    4,                        // pair of bundle sizes
    16,                       // state hash
    16,                       // distance
    16,                       // target
    16,                       // event
    8,                        // step of a task
    1,                        // order of tasks
    1,                        // decision
    4,                        // magnitude
};

// How many runs pass before a kind can be too frequent: in the first ones nearly everything is new.
constexpr std::uint64_t kRunsOfGrace = 32;
// How many features of a kind a run may bring before each counts for less.
constexpr std::uint64_t kNewOfRunMax = 2;
constexpr std::uint8_t kUnknownSize = UINT8_MAX;

// Kinds are the indexes of the arrays here.
std::size_t index(FeatureKind kind) noexcept {
  ORDEAL_DCHECK(static_cast<std::size_t>(kind) < kFeatureKinds, "no kind has number " << static_cast<int>(kind));
  return static_cast<std::size_t>(kind);
}

// One table for all kinds: the kind goes into the hash.
std::uint64_t hash_of(FeatureKind kind, std::uint64_t key) noexcept {
  return combine_keys(key, static_cast<std::uint64_t>(kind));
}

}  // namespace

std::int64_t rung_of(double value) noexcept {
  int exponent = 0;
  const double size = std::min(std::numeric_limits<double>::max(), std::abs(value));  // NaN: the most
  const double part = std::frexp(size, &exponent);                                    // in [0.5, 1), or 0
  if (part == 0) {
    return 0;
  }
  constexpr int kLowest = 1100;  // below the least exponent of a double, so that rungs of small values are positive
  constexpr int kRungs = 1024;   // for each power of two
  const auto rung =
      (static_cast<std::int64_t>(exponent + kLowest) * kRungs) + static_cast<std::int64_t>((part - 0.5) * (2 * kRungs));
  return value < 0 ? -rung : rung;
}

double rounded_down(double value) noexcept {
  constexpr int kRungs = 64;
  int exponent = 0;
  const double part = std::frexp(value, &exponent);
  return std::ldexp(std::trunc(part * (2 * kRungs)) / (2 * kRungs), exponent);
}

// The names are part of the options, so that they stay as they are.
FeatureKind feature_named(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) {
    throw ConfigError("no kind of feature is named \"" + std::string(name) + "\"");
  }
  return static_cast<FeatureKind>(found - kNames.begin());
}

// Sizes of bundles belong to a run: an empty bundle has shown nothing yet.
void Features::begin_run(std::uint64_t run) {
  run_ = static_cast<std::uint32_t>(run);
  sizes_.fill(kUnknownSize);
  begin_step();
}

// Reports of an unfinished step are dropped.
void Features::begin_step() noexcept {
  step_ = {};
  shown_count_ = 0;
}

// If known: counts the run. If new: remembers it, while there is room, and weighs it.
void Features::see(FeatureKind kind, std::uint64_t key) {
  if (!has(kind)) {
    return;
  }
  const std::uint64_t hash = hash_of(kind, key);
  if (const auto known = frequencies_.find(hash); known != frequencies_.end()) {
    known.value().frequency.in_run(run_);
    return;
  }
  if (remembered_[index(kind)] >= kOfKindMax) {
    return;
  }
  ++remembered_[index(kind)];
  ORDEAL_DCHECK(remembered_[index(kind)] <= kOfKindMax, "features of a kind: " << remembered_[index(kind)]);
  Seen seen{.frequency = {}, .feature = {kind, key}};
  seen.frequency.in_run(run_);
  frequencies_.emplace(hash, seen);
  if (const std::uint32_t weight = weight_of(kind, 1); weight > 0) {
    ++step_.count;
    step_.weight += weight;
    show(seen.feature);
  }
}

// Without a run: how frequent it is here will show later.
bool Features::import_feature(const Feature& feature) {
  const std::uint64_t hash = hash_of(feature.kind, feature.key);
  if (!has(feature.kind) || remembered_[index(feature.kind)] >= kOfKindMax || frequencies_.contains(hash)) {
    return false;
  }
  ++remembered_[index(feature.kind)];
  frequencies_.emplace(hash, Seen{.frequency = {}, .feature = feature});
  return true;
}

// An edge is counted elsewhere, so it adds weight but no count.
void Features::add_new(FeatureKind kind, std::uint32_t count) noexcept {
  if (count == 0 || !has(kind)) {
    return;
  }
  if (const std::uint32_t weight = weight_of(kind, count); weight > 0) {
    step_.count += kind == FeatureKind::kEdge ? 0 : count;
    step_.weight += weight;
  }
}

// An edge always has the same weight.
std::uint32_t Features::weight_of(FeatureKind kind, std::uint32_t count) noexcept {
  if (kind == FeatureKind::kEdge) {
    return kWeights[index(kind)] * count;
  }
  std::uint64_t& novelty = new_features_[index(kind)];
  novelty += count;
  const std::uint64_t of_run = novelty / (kNewOfRunMax * (run_ + kRunsOfGrace));
  const auto halvings = static_cast<std::uint32_t>(std::bit_width(of_run));
  return halvings < 32 ? (kWeights[index(kind)] * count) >> halvings : 0;
}

// The first few are enough to show why a checkpoint was kept.
void Features::show(const Feature& feature) noexcept {
  if (shown_count_ < kShownMax) {
    shown_[shown_count_++] = feature;
  }
}

// By powers of two, like hit counts: a bundle of 1,000 values behaves like one of 1,001. The last size in the run is
// cached, as most steps leave a bundle unchanged.
void Features::bundle_size(std::uint32_t bundle, std::size_t size) {
  const auto bits = static_cast<std::uint8_t>(std::bit_width(size));
  const bool is_paired = bundle < kPairedBundlesMax;
  if (is_paired && std::exchange(sizes_[bundle], bits) == bits) {
    return;  // this run has already shown it
  }
  see(FeatureKind::kBundleSize, (static_cast<std::uint64_t>(bundle) << 8U) | bits);
  if (is_paired && has(FeatureKind::kBundlePair)) {
    bundles_ = std::max(bundles_, bundle + 1);
    see_pairs(bundle);
  }
}

// O(bundles), at most kPairedBundlesMax of them. The pair is packed with the lower bundle first, so that it is one
// feature from both sides.
void Features::see_pairs(std::uint32_t bundle) {
  ORDEAL_DCHECK(bundles_ <= kPairedBundlesMax, "bundles=" << bundles_);
  for (std::uint32_t other = 0; other < bundles_; ++other) {
    if (other != bundle && sizes_[other] != kUnknownSize) {
      const auto [low, high] = std::minmax(bundle, other);
      const std::uint64_t pair = (static_cast<std::uint64_t>(low) << 24U) | (static_cast<std::uint64_t>(high) << 16U) |
                                 (static_cast<std::uint64_t>(sizes_[low]) << 8U) | sizes_[high];
      see(FeatureKind::kBundlePair, pair);
    }
  }
}

// A label's first value is its start and no improvement.
bool Features::target(std::uint64_t label, double value) {
  if (!has(FeatureKind::kTarget) || !std::isfinite(value)) {
    return false;
  }
  const std::int64_t rung = rung_of(value);
  ORDEAL_DCHECK((rung < 0) == (value < 0) || rung == 0, "rung=" << rung << " value=" << value);
  if (const auto known = best_.find(label); known != best_.end()) {
    const bool is_higher = rung > known->second;
    known.value() = std::max(rung, known->second);
    return is_higher;
  }
  if (best_.size() >= kOfKindMax) {
    return false;
  }
  best_.emplace(label, rung);
  return true;
}

// Empties the step: reports from here on belong to another one.
NewFeatures Features::take_step() noexcept { return std::exchange(step_, NewFeatures{}); }

// Zero for a feature that only another session saw.
std::uint64_t Features::runs_of(const Feature& feature) const noexcept {
  const auto known = frequencies_.find(hash_of(feature.kind, feature.key));
  return known == frequencies_.end() ? 0 : known->second.frequency.runs;
}

// O(features). For reports, not for every run.
SampleCounts Features::sample_counts(std::uint64_t runs) const {
  std::vector<FeatureFrequency> frequencies;
  frequencies.reserve(frequencies_.size());
  for (const auto& [hash, seen] : frequencies_) {
    frequencies.push_back(seen.frequency);
  }
  return count_sample(frequencies, runs);
}

// Sorted, so that equal states are equal bytes: a hash table has no fixed order.
FeaturesState Features::save() const {
  FeaturesState state{.entries = {}, .targets = {}, .novelty = new_features_};
  state.entries.reserve(frequencies_.size());
  for (const auto& [hash, seen] : frequencies_) {
    state.entries.push_back({seen.feature, seen.frequency});
  }
  std::ranges::sort(state.entries, {}, [](const FeaturesState::Entry& entry) {
    return std::tuple(entry.feature.kind, entry.feature.key);
  });
  for (const auto& [label, rung] : best_) {
    state.targets.push_back({label, rung});
  }
  std::ranges::sort(state.targets, {}, &FeaturesState::Best::label);
  return state;
}

// Adds to what is there.
void Features::restore(const FeaturesState& state) {
  for (const auto& [feature, frequency] : state.entries) {
    const bool is_new = frequencies_.emplace(hash_of(feature.kind, feature.key), Seen{frequency, feature}).second;
    remembered_[index(feature.kind)] += is_new ? 1U : 0U;
  }
  for (const auto& [label, rung] : state.targets) {
    best_[label] = rung;
  }
  new_features_ = state.novelty;
}

// By pairs of bits of the number of runs: without a logarithm, so that it is the same on every machine.
std::uint32_t frequency_class(std::uint64_t runs) noexcept {
  return std::min(kFrequencyClassMax, static_cast<std::uint32_t>(std::bit_width(runs)) / 2);
}

}  // namespace ordeal
