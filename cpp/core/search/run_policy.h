// Decides between two runs of a search: how closely to watch, what to check, when to hold states, and when to end.
#pragma once

#include <cstdint>
#include <optional>

namespace ordeal {

// What to do with the monitor before a run.
struct WatchSpec {
  bool full = false;          // arm every location again
  bool choose_level = false;  // decide now whether counting events is worth its cost
  bool learn_files = false;   // note which rule touches which file
  bool drop_files = false;    // forget the files that earlier runs touched
  bool direct_swarm = false;  // tell the swarm which rules touch files with gaps
};

// Why a search ends before its time is up.
enum class EndReason : std::uint8_t { kMaxRuns, kStuck, kPatience };

// Whether a search is to end, and for how long that holds.
struct EndDecision {
  std::optional<EndReason> reason;  // absent to go on
  std::uint64_t ask_again = 0;      // before so many runs nothing but the time can end the search
};

// What a search has counted so far, as far as its end hangs on it.
struct SearchCounts {
  std::uint64_t runs = 0;
  std::uint64_t steps = 0;
  std::uint64_t runs_without_new_features = 0;
};

// How a state was reached again by its steps: how often, in how many steps and seconds together.
struct ReturnCounts {
  std::uint64_t returns = 0;
  std::uint64_t steps = 0;
  double seconds = 0;
};

// The decisions of one search. They hang on counts alone, never on the clock, so that the same seed decides alike; what
// returning costs is the one exception, and only where nothing that is explored hangs on it.
//
// Thread-compatible: owned by the thread that explores. All functions take constant time.
class RunPolicy {
 public:
  // The first runs count every event and draw without the constants of the targets: many a bug is found sooner than
  // these are.
  static constexpr std::uint64_t kWarmUpRuns = 20;

  // What to watch in run `run_id`, counted from one. `learns_swarm` says that the swarm can be directed, and
  // `by_bandit` that a bandit decides how often it is: looking for gaps takes as long as many runs.
  [[nodiscard]] static WatchSpec watch(std::uint64_t run_id, bool learns_swarm, bool by_bandit) noexcept;

  // Whether counting `events` in `steps` steps costs more than a tenth of their time.
  [[nodiscard]] static bool counting_is_expensive(std::uint64_t events, std::uint64_t steps) noexcept;

  // Counts a run from a copied state. Returns whether it is to be compared with a run of all its steps: early, and then
  // rarely.
  [[nodiscard]] bool check_copy() noexcept;

  // Whether to hold states in processes rather than to run their steps again. `by_steps` is said where the clock must
  // not decide, as where the number of runs is what ends a search.
  [[nodiscard]] static bool returning_is_expensive(const ReturnCounts& counts, std::uint64_t runs,
                                                   bool by_steps) noexcept;

  // Whether the search is to end before run `counts.runs + 1`. `max_runs` is absent and `patience` 0 for no limit. Most
  // runs need not ask: the decision says when it can come out otherwise.
  [[nodiscard]] static EndDecision end(const SearchCounts& counts, std::optional<std::uint64_t> max_runs,
                                       std::uint64_t patience) noexcept;

 private:
  std::uint64_t runs_from_copies_ = 0;
};

}  // namespace ordeal
