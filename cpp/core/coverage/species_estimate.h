// Estimates what an exploration has not seen yet, from the rarest things that it has seen.
//
// Runs are samples and features are species, as in M. Boehme, "STADS: Software Testing as Species Discovery" (TOSEM
// 2018). Species seen in a single run stand for unseen ones: this is the estimate of I. J. Good and A. Turing (1953),
// and A. Chao's lower bound on the number of species (1987, for presence in samples) follows from it.
//
// Both assume that future runs are like those in the sample. Runs that learn are not quite: they go where something new
// was. So both numbers are right for continuing in the same way, and say nothing about another machine, longer runs or
// code that no run of this kind can reach.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace ordeal {

// In how many runs of a sample something was seen, and the last of them.
struct FeatureFrequency {
  std::uint32_t runs = 0;
  std::uint32_t last_run = 0;  // from 1

  // Counts this run; a second call for the same run changes nothing.
  void in_run(std::uint32_t run) noexcept {
    if (last_run != run) {
      last_run = run;
      ++runs;
    }
  }

  friend bool operator==(const FeatureFrequency&, const FeatureFrequency&) = default;
};

// What the estimates need to know of a sample.
struct SampleCounts {
  std::uint64_t runs = 0;
  std::uint64_t seen = 0;        // species
  std::uint64_t once = 0;        // species that one run showed
  std::uint64_t twice = 0;       // species that two runs showed
  std::uint64_t runs_alone = 0;  // runs that showed a species which no other run did

  friend bool operator==(const SampleCounts&, const SampleCounts&) = default;
};

// `frequencies` without runs are ignored: the sample has not met them. O(n log n) in those of one run.
SampleCounts count_sample(std::span<const FeatureFrequency> frequencies, std::uint64_t runs);

struct SpeciesEstimate {
  std::uint64_t runs = 0;  // of the sample
  std::uint64_t seen = 0;
  double next_run = 0;      // the probability that the next run shows something new
  double next_run_max = 0;  // its upper bound with a confidence of 95 %
  double total = 0;         // species at the least; not below `seen`

  static constexpr std::uint64_t kRunsMin = 100;
};

// Nothing for a sample of fewer than kRunsMin runs or without species, where it would be a guess.
std::optional<SpeciesEstimate> estimate_species(const SampleCounts& sample_counts);

}  // namespace ordeal
