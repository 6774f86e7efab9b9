// The features of an exploration: which were seen, in how many runs, and the weight of a new one.
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/coverage/species_estimate.h"

namespace ordeal {

enum class FeatureKind : std::uint8_t {
  kEdge,        // of the program under test; the coverage map remembers it, like the next two
  kHitCount,    // how often an edge ran in a run, in AFL's buckets
  kEdgeOfRule,  // an edge, and the rule that passed it
  kRulePair,    // a step, and the one before it
  kBundleSize,  // how many values a bundle holds, in powers of two
  kBundlePair,  // the sizes of two bundles at the same time
  kStateHash,   // what the user's state_hash() returned
  kDistance,    // an assertion that became true, or whose comparison came closer than before
  kTarget,      // a value of hypothesis.target() higher than before
  kEvent,       // a label of hypothesis.event()
  kTaskStep,    // how far a task of a simulation came
  kTaskOrder,   // which task's step followed which
  kDecision,    // what the simulation decided, and where
  kMagnitude,   // a number or a collection of the machine's state that is larger than ever before
};
inline constexpr std::size_t kFeatureKinds = 14;

// One bit for each kind.
using FeatureMask = std::uint32_t;
constexpr FeatureMask mask_of(FeatureKind kind) noexcept { return 1U << static_cast<unsigned>(kind); }
inline constexpr FeatureMask kAllFeatures = (1U << kFeatureKinds) - 1;

// A kind by its name in the glossary, "edge of rule" or "event". ConfigError for any other name.
FeatureKind feature_named(std::string_view name);

// A feature by name, as checkpoints keep the ones they were kept for.
struct Feature {
  FeatureKind kind = FeatureKind::kEdge;
  std::uint64_t key = 0;

  friend bool operator==(const Feature&, const Feature&) = default;
};

// Which features were seen, for a later session to resume with.
struct FeaturesState {
  struct Entry {
    Feature feature;
    FeatureFrequency frequency;

    friend bool operator==(const Entry&, const Entry&) = default;
  };
  struct Best {
    std::uint64_t label = 0;
    std::int64_t rung = 0;

    friend bool operator==(const Best&, const Best&) = default;
  };

  std::vector<Entry> entries;  // by ascending kind and key
  std::vector<Best> targets;   // by ascending label
  std::array<std::uint64_t, kFeatureKinds> novelty{};

  friend bool operator==(const FeaturesState&, const FeaturesState&) = default;
};

// The rung of a number on a ladder of 1,024 rungs for each doubling, which distinguishes numbers as finely as the
// search needs. Small whole numbers have rungs of their own and large ones share them, so that coming nearer has an
// end. Infinity and NaN are on the rung of the largest number.
std::int64_t rung_of(double value) noexcept;
// The largest number of the same sign on a ladder of 64 rungs for each doubling that is not larger than this one.
double rounded_down(double value) noexcept;

// What is new in a step. Worth is in sixteenths of a new edge.
struct NewFeatures {
  std::uint32_t count = 0;
  std::uint32_t weight = 0;
};

// Remembers every feature that is not an edge, and weighs all of them. A kind that brings something new all the time is
// less informative. So the weight of a new feature halves each time that its kind doubles its number of new features
// per run, and a feature whose weight has become zero does not count as new. This is in the spirit of M. Boehme, V.
// Manes and S. Cha, "Boosting Fuzzer Efficiency: An Information Theoretic Perspective" (FSE 2020), but with whole
// numbers, which are the same on every machine.
//
// One step is under way at any time: reports add up until take_step(). Thread-compatible. Each feature costs one
// look-up in a hash table; only new ones allocate.
class Features {
 public:
  // The maximum per kind: a hash of something that always changes must not fill the memory.
  static constexpr std::size_t kOfKindMax = std::size_t{1} << 20U;
  // How many new features of a step are listed by name.
  static constexpr std::size_t kShownMax = 8;
  static constexpr std::uint32_t kWeightOfEdge = 16;
  // How full the table may be before it doubles. So the maximum of one kind, with some others, fits in twice as many
  // places.
  static constexpr float kLoadMax = 0.6F;
  // Only the sizes of this many bundles are paired.
  static constexpr std::uint32_t kPairedBundlesMax = 16;

  explicit Features(FeatureMask on) : on_(on) { frequencies_.max_load_factor(kLoadMax); }

  [[nodiscard]] bool has(FeatureKind kind) const noexcept { return (on_ & mask_of(kind)) != 0; }

  void begin_run(std::uint64_t run);
  void begin_step() noexcept;

  // Reports a feature of the step. Does nothing for a disabled kind.
  void see(FeatureKind kind, std::uint64_t key);
  // Marks a feature, not an edge, as seen by another session, so that it is not new here any more. Returns whether it
  // would have been new.
  bool import_feature(const Feature& feature);
  // Reports `count` new features of a kind that is remembered elsewhere.
  void add_new(FeatureKind kind, std::uint32_t count) noexcept;
  // Reports a new edge of the step.
  void show_edge(std::uint64_t key) noexcept { show({FeatureKind::kEdge, key}); }
  // Reports that the bundle holds `size` values after the step.
  void bundle_size(std::uint32_t bundle, std::size_t size);
  // Returns whether the value is higher, by a rung, than all before with that label: small whole numbers have rungs of
  // their own and large ones share them, so that rising has an end. The label is a hash.
  bool target(std::uint64_t label, double value);

  // What was reported of the step since begin_step().
  [[nodiscard]] NewFeatures take_step() noexcept;
  // The first new features of the step taken last.
  [[nodiscard]] std::span<const Feature> shown() const noexcept { return {shown_.data(), shown_count_}; }

  // In how many runs a feature was seen that is not an edge.
  [[nodiscard]] std::uint64_t runs_of(const Feature& feature) const noexcept;
  [[nodiscard]] std::size_t seen() const noexcept { return frequencies_.size(); }
  // How rare the features are among all runs so far.
  [[nodiscard]] SampleCounts sample_counts(std::uint64_t runs) const;

  [[nodiscard]] FeaturesState save() const;
  void restore(const FeaturesState& state);

 private:
  struct Seen {
    FeatureFrequency frequency;
    Feature feature;
  };

  void see_pairs(std::uint32_t bundle);
  void show(const Feature& feature) noexcept;
  [[nodiscard]] std::uint32_t weight_of(FeatureKind kind, std::uint32_t count) noexcept;

  FeatureMask on_;
  std::uint32_t run_ = 0;
  tsl::robin_map<std::uint64_t, Seen> frequencies_;  // by a hash of kind and key
  std::array<std::size_t, kFeatureKinds> remembered_{};
  std::array<std::uint64_t, kFeatureKinds> new_features_{};
  tsl::robin_map<std::uint64_t, std::int64_t> best_;     // the highest rung by label
  std::array<std::uint8_t, kPairedBundlesMax> sizes_{};  // in this run, as bits; kUnknownSize before the first
  std::uint32_t bundles_ = 0;                            // that were ever reported, up to the last of them
  NewFeatures step_;
  std::array<Feature, kShownMax> shown_{};
  std::size_t shown_count_ = 0;
};

// How common a feature is: 0 for one of a single run, and one more each time that its runs quadruple. Each class halves
// the energy: by the square root, which is less steep than AFLFast's schedules (M. Boehme, V. Pham and A. Roychoudhury,
// CCS 2016), because a prefix that is run again shows its features again.
std::uint32_t frequency_class(std::uint64_t runs) noexcept;
inline constexpr std::uint32_t kFrequencyClassMax = 6;

}  // namespace ordeal
