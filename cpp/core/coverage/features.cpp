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

constexpr std::array<std::string_view, kFeatureKinds> kNames{"edge",        "hit count",   "edge of rule", "rule pair",
                                                             "bundle size", "bundle pair", "state hash",   "distance",
                                                             "target",      "event"};

// By kind, in sixteenths of a new edge. A distance and a target have an energy of their own, see Session::keep().
constexpr std::array<std::uint32_t, kFeatureKinds> kWorth{
    Features::kWorthOfEdge,  // edge
    2,                       // hit count
    8,                       // edge of a rule
    8,                       // pair of rules
    8,                       // bundle size
    4,                       // pair of bundle sizes
    16,                      // state hash
    16,                      // distance
    16,                      // target
    16,                      // event
};

// A kind is let off so many runs before it brings too much: nearly everything is new in the first ones.
constexpr std::uint64_t kRunsOfGrace = 32;
// What a run may bring of a kind before it is worth less.
constexpr std::uint64_t kNewsOfRunMax = 2;
constexpr std::uint8_t kUnknownSize = UINT8_MAX;

std::size_t index(FeatureKind kind) noexcept { return static_cast<std::size_t>(kind); }

std::uint64_t hash_of(FeatureKind kind, std::uint64_t key) noexcept {
  return combine_keys(key, static_cast<std::uint64_t>(kind));
}

}  // namespace

std::int64_t rung_of(double value) noexcept {
  int exponent = 0;
  const double size = std::min(std::numeric_limits<double>::max(), std::abs(value));  // NaN: the most
  const double part = std::frexp(size, &exponent);  // in [0.5, 1), or 0
  if (part == 0) {
    return 0;
  }
  constexpr int kLowest = 1100;  // below the least exponent of a double, so that rungs of small values are above zero
  constexpr int kRungs = 1024;   // for each power of two
  const auto rung =
      (static_cast<std::int64_t>(exponent + kLowest) * kRungs) + static_cast<std::int64_t>((part - 0.5) * (2 * kRungs));
  return value < 0 ? -rung : rung;
}

FeatureKind feature_named(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) {
    throw ConfigError("no kind of feature is named \"" + std::string(name) + "\"");
  }
  return static_cast<FeatureKind>(found - kNames.begin());
}

void Features::begin_run(std::uint64_t run) {
  run_ = static_cast<std::uint32_t>(run);
  sizes_.fill(kUnknownSize);
  begin_step();
}

void Features::begin_step() noexcept {
  step_ = {};
  shown_count_ = 0;
}

void Features::see(FeatureKind kind, std::uint64_t key) {
  if (!has(kind)) {
    return;
  }
  const std::uint64_t hash = hash_of(kind, key);
  if (const auto known = sightings_.find(hash); known != sightings_.end()) {
    known.value().sighting.in_run(run_);
    return;
  }
  if (remembered_[index(kind)] >= kOfKindMax) {
    return;
  }
  ++remembered_[index(kind)];
  Seen seen{.sighting = {}, .feature = {kind, key}};
  seen.sighting.in_run(run_);
  sightings_.emplace(hash, seen);
  if (const std::uint32_t worth = worth_of(kind, 1); worth > 0) {
    ++step_.count;
    step_.worth += worth;
    show(seen.feature);
  }
}

bool Features::adopt(const Feature& feature) {
  const std::uint64_t hash = hash_of(feature.kind, feature.key);
  if (!has(feature.kind) || remembered_[index(feature.kind)] >= kOfKindMax || sightings_.contains(hash)) {
    return false;
  }
  ++remembered_[index(feature.kind)];
  sightings_.emplace(hash, Seen{.sighting = {}, .feature = feature});
  return true;
}

void Features::fresh(FeatureKind kind, std::uint32_t count) noexcept {
  if (count == 0 || !has(kind)) {
    return;
  }
  if (const std::uint32_t worth = worth_of(kind, count); worth > 0) {
    step_.count += kind == FeatureKind::kEdge ? 0 : count;
    step_.worth += worth;
  }
}

// An edge is always worth the same.
std::uint32_t Features::worth_of(FeatureKind kind, std::uint32_t count) noexcept {
  if (kind == FeatureKind::kEdge) {
    return kWorth[index(kind)] * count;
  }
  std::uint64_t& news = news_[index(kind)];
  news += count;
  const std::uint64_t of_run = news / (kNewsOfRunMax * (run_ + kRunsOfGrace));
  const auto halvings = static_cast<std::uint32_t>(std::bit_width(of_run));
  return halvings < 32 ? (kWorth[index(kind)] * count) >> halvings : 0;
}

void Features::show(const Feature& feature) noexcept {
  if (shown_count_ < kShownMax) {
    shown_[shown_count_++] = feature;
  }
}

void Features::bundle_size(std::uint32_t bundle, std::size_t size) {
  const auto bits = static_cast<std::uint8_t>(std::bit_width(size));
  const bool is_paired = bundle < kPairedBundlesMax;
  if (is_paired && std::exchange(sizes_[bundle], bits) == bits) {
    return;  // this run has shown it
  }
  see(FeatureKind::kBundleSize, (static_cast<std::uint64_t>(bundle) << 8U) | bits);
  if (is_paired && has(FeatureKind::kBundlePair)) {
    bundles_ = std::max(bundles_, bundle + 1);
    see_pairs(bundle);
  }
}

void Features::see_pairs(std::uint32_t bundle) {
  for (std::uint32_t other = 0; other < bundles_; ++other) {
    if (other != bundle && sizes_[other] != kUnknownSize) {
      const auto [low, high] = std::minmax(bundle, other);
      const std::uint64_t pair = (static_cast<std::uint64_t>(low) << 24U) | (static_cast<std::uint64_t>(high) << 16U) |
                                 (static_cast<std::uint64_t>(sizes_[low]) << 8U) | sizes_[high];
      see(FeatureKind::kBundlePair, pair);
    }
  }
}

bool Features::target(std::uint64_t label, double value) {
  if (!has(FeatureKind::kTarget) || !std::isfinite(value)) {
    return false;
  }
  const std::int64_t rung = rung_of(value);
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

FeatureNews Features::take_step() noexcept { return std::exchange(step_, FeatureNews{}); }

std::uint64_t Features::runs_of(const Feature& feature) const noexcept {
  const auto known = sightings_.find(hash_of(feature.kind, feature.key));
  return known == sightings_.end() ? 0 : known->second.sighting.runs;
}

Abundance Features::abundance(std::uint64_t runs) const {
  std::vector<Sighting> sightings;
  sightings.reserve(sightings_.size());
  for (const auto& [hash, seen] : sightings_) {
    sightings.push_back(seen.sighting);
  }
  return abundance_of(sightings, runs);
}

FeaturesState Features::save() const {
  FeaturesState state{.entries = {}, .targets = {}, .news = news_};
  state.entries.reserve(sightings_.size());
  for (const auto& [hash, seen] : sightings_) {
    state.entries.push_back({seen.feature, seen.sighting});
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

void Features::restore(const FeaturesState& state) {
  for (const auto& [feature, sighting] : state.entries) {
    const bool is_new = sightings_.emplace(hash_of(feature.kind, feature.key), Seen{sighting, feature}).second;
    remembered_[index(feature.kind)] += is_new ? 1U : 0U;
  }
  for (const auto& [label, rung] : state.targets) {
    best_[label] = rung;
  }
  news_ = state.news;
}

std::uint32_t commonness(std::uint64_t runs) noexcept {
  return std::min(kCommonnessMax, static_cast<std::uint32_t>(std::bit_width(runs)) / 2);
}

}  // namespace ordeal
