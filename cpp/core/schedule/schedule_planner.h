// Plans the schedules of a search: which run is drawn afresh, and which changes what an earlier one decided. Runs that
// did things in a new order are kept; a bandit learns which way of planning brings such orders.
//
// The idea is that of coverage-guided fuzzing (AFL's corpus) with features of interleavings in place of edges: novelty
// is kept, and rare features are followed most (AFLFast). The plan of a run depends only on its seed and on the earlier
// calls of `tell`: after equal calls, two planners plan the same.
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/rng.h"
#include "core/schedule/schedule.h"

namespace ordeal {

// How a run is planned.
enum class SchedulePolicy : std::uint8_t {
  kDrawn,   // all from its seed, each kind of decision at its own rate
  kSparse,  // a few decisions of one or two kinds in the whole run
  kFollow,  // as an earlier run up to some moment, and from there on drawn
  kChange,  // as an earlier run, with decisions left out, put in, or taken from a third
};
inline constexpr std::size_t kSchedulePolicies = 4;

// What one run is to do. The same plan makes the same schedule.
struct SchedulePlan {
  SchedulePolicy policy = SchedulePolicy::kDrawn;
  std::uint64_t key = 0;
  ScheduleRates rates;
  std::vector<Decision> fixed;   // decisions that are fixed, not drawn
  std::uint64_t drawn_from = 0;  // how many decisions are made before anything is drawn
  std::uint64_t chance = 0;      // what seeds the generators of the program

  [[nodiscard]] Schedule schedule() const;
};

// next(), run it, tell(): in turns. Planning costs as much as the longest kept run has decisions; telling, as much as
// the run has features, and for a run that is kept a pass over the kept ones of its level. Memory is bounded: by the
// runs kept of each level, their decisions, and the features that are counted. Thread-compatible.
class SchedulePlanner {
 public:
  // `policies` is a set of bits, one for each policy that may be used. The first runs are drawn in any case.
  SchedulePlanner(std::size_t kinds, unsigned policies) : kinds_(kinds), policies_(policies), horizon_(kinds, 0) {}

  // Plans the next run. With seed 0 nothing special happens in it.
  const SchedulePlan& next(std::uint64_t seed);
  [[nodiscard]] const SchedulePlan& plan() const noexcept { return plan_; }

  // Learns from the run that `next` planned.
  void tell(const Schedule& schedule);

  // How many runs are kept, and how many features are known.
  [[nodiscard]] std::size_t kept() const noexcept;
  [[nodiscard]] std::size_t known() const noexcept { return hits_.size(); }

 private:
  struct Kept {
    std::vector<Decision> decisions;
    std::vector<std::uint64_t> moments;   // before each decision, how many were made
    std::vector<std::uint64_t> features;  // those that were new, or some of them; all of one level
    std::uint64_t made = 0;
    std::uint64_t chance = 0;
    std::uint64_t chosen = 0;
  };

  SchedulePolicy choose(Rng& rng) const;
  // Precondition: some run is kept.
  Kept& parent(Rng& rng);
  // Less is better: how many runs had the rarest feature of it, and how often it was chosen.
  [[nodiscard]] std::uint64_t worth(const Kept& kept) const;
  void plan_sparse(Rng& rng, std::uint64_t wanted);
  void plan_follow(Rng& rng, std::uint64_t seed);
  void plan_change(Rng& rng);

  std::size_t kinds_;
  unsigned policies_;
  std::vector<double> horizon_;  // of each kind, how many decisions that are open a run makes
  SchedulePlan plan_;
  std::array<std::vector<Kept>, kFeatureLevels> kept_;  // by the level of what was new in them
  tsl::robin_map<std::uint64_t, std::uint32_t> hits_;   // of each feature, how many runs had it
  std::array<double, kSchedulePolicies> gains_{};
  std::array<double, kSchedulePolicies> costs_{};
  std::uint64_t runs_ = 0;
};

}  // namespace ordeal
