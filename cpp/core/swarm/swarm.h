// Swarm testing (Groce et al., ISSTA 2012): each run leaves out some rules and faults, so that the others dominate.
//
// A run in which everything may happen seldom does one thing often. Configurations that found something are drawn
// again, in proportion to energy, like entries of the corpus.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/rng.h"

namespace ordeal {

// The subset of rules and faults that is active in a run. A value type.
struct SwarmConfiguration {
  std::vector<bool> rules;
  std::vector<bool> faults;

  [[nodiscard]] std::size_t rule_count() const noexcept;
  [[nodiscard]] std::size_t fault_count() const noexcept;
  // The same number for the same subset in every process and version.
  [[nodiscard]] std::uint64_t key() const noexcept;

  friend bool operator==(const SwarmConfiguration&, const SwarmConfiguration&) = default;
};

// Why a configuration was drawn.
enum class SwarmSource : std::uint8_t {
  kWarmUp,    // a coin flip in the first runs, while nothing is known
  kFull,      // everything on: keeps bugs findable that need all rules and faults
  kCoinFlip,  // a fresh subset
  kDirected,  // prefers rules close to code that has not run
  kEnergy,    // one from the history, in proportion to energy
};

// What was drawn so far, for the report.
struct SwarmCounts {
  std::array<std::uint64_t, 5> draws{};  // by SwarmSource
  std::uint64_t total = 0;
  std::size_t configurations = 0;  // in the history
  std::size_t productive = 0;      // of those, the ones that found new edges
};

// Everything that a swarm has learnt, between two runs.
struct SwarmState {
  struct Entry {
    SwarmConfiguration configuration;
    SwarmSource source = SwarmSource::kCoinFlip;
    bool productive = false;
    double energy = 0.0;

    friend bool operator==(const Entry&, const Entry&) = default;
  };

  std::vector<Entry> history;
  std::vector<bool> rules_near_gaps;  // empty: nothing to prefer
  std::array<std::uint64_t, 5> draws{};
  std::uint64_t total = 0;

  friend bool operator==(const SwarmState&, const SwarmState&) = default;
};

// A draw costs O(history), at most kHistoryMax entries.
class Swarm {
 public:
  static constexpr std::size_t kHistoryMax = 1024;
  static constexpr std::uint64_t kWarmUpRuns = 20;
  static constexpr double kEnergyMin = 0.1;
  static constexpr double kEnergyMax = 10.0;

  // There must be at least one rule.
  Swarm(std::size_t rule_count, std::size_t fault_count);

  // Returns the index of a configuration in the history. Each draw is reported once; until then the index stays valid,
  // after that the slot may be reused. At most kHistoryMax draws may wait for their report.
  std::size_t draw(Rng& rng);
  // The same from a given source. If that has nothing to draw from, a coin flip.
  std::size_t draw(Rng& rng, SwarmSource source);
  void report(std::size_t index, std::uint32_t new_edges);

  // One flag per rule: whether it came close to code that has not run. Without a flag no rule is preferred.
  void set_directed(std::vector<bool> rules_near_gaps);

  // Whether there are rules to prefer.
  [[nodiscard]] bool is_directed() const noexcept { return !rules_near_gaps_.empty(); }
  [[nodiscard]] const SwarmConfiguration& configuration(std::size_t index) const;
  // The source of the latest draw of that configuration.
  [[nodiscard]] SwarmSource source(std::size_t index) const;
  [[nodiscard]] double energy(std::size_t index) const;
  [[nodiscard]] SwarmCounts counts() const noexcept;

  // No draw may be waiting for its report.
  [[nodiscard]] SwarmState save() const;
  // Replaces everything learnt so far. The configurations must be of this swarm's rules and faults.
  void restore(SwarmState state);

 private:
  struct Entry {
    SwarmConfiguration configuration;
    std::uint64_t key = 0;
    SwarmSource source = SwarmSource::kCoinFlip;
    std::uint32_t waiting = 0;  // draws without a report
    bool productive = false;
  };

  SwarmSource draw_source(Rng& rng);
  SwarmConfiguration draw_configuration(Rng& rng, SwarmSource source) const;
  std::size_t remember(SwarmConfiguration configuration);
  [[nodiscard]] std::size_t replaceable() const;

  std::size_t rule_count_;
  std::size_t fault_count_;
  std::vector<bool> rules_near_gaps_;
  std::vector<Entry> history_;
  std::vector<double> energies_;  // by index, separate from the history so that a weighted pick reads nothing else
  std::array<std::uint64_t, 5> draws_{};
  std::uint64_t total_ = 0;
};

}  // namespace ordeal
