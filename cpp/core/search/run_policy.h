// Decides between runs: how closely to watch, what to check, when to hold states, and when to end.
#pragma once

#include <cstdint>
#include <optional>

namespace ordeal {

// What the monitor does before a run.
struct WatchSpec {
  bool full = false;          // arm every location again
  bool count_all = false;     // count each passage, also of locations that had nothing new to show for long
  bool choose_level = false;  // decide now whether counting events is worth its cost
  bool learn_files = false;   // note which rule touches which file
  bool drop_files = false;    // forget the files that earlier runs touched
  bool direct_swarm = false;  // tell the swarm which rules touch files with uncovered code
};

// Why a search ends before its time is up.
enum class EndReason : std::uint8_t { kMaxRuns, kStuck, kPatience };

// Whether a search must end, and how long the decision holds.
struct EndDecision {
  std::optional<EndReason> reason;  // absent to continue
  std::uint64_t ask_again = 0;      // before this many runs only time can end the search
};

// The counts of a search that its end depends on.
struct SearchCounts {
  std::uint64_t runs = 0;
  std::uint64_t steps = 0;
  std::uint64_t runs_without_new_features = 0;
};

// How states were reached again by their steps: how often, and in how many steps and seconds altogether.
struct ReturnCounts {
  std::uint64_t returns = 0;
  std::uint64_t steps = 0;
  double seconds = 0;
};

// The decisions of one search. They depend on counts alone, never on the clock, so that a seed always decides the same;
// the one exception is the cost of returning, and only where nothing explored depends on it. All functions take
// constant time.
class RunPolicy {
 public:
  // The first runs count every event and draw without the constants of the targets: many bugs are found sooner than
  // these are read.
  static constexpr std::uint64_t kWarmUpRuns = 20;

  // What to watch in run `run_id`, counted from one. `learns_swarm` says that the swarm can be directed, and
  // `by_bandit` that a bandit decides how often it is: looking for gaps takes as long as many runs.
  [[nodiscard]] static WatchSpec watch(std::uint64_t run_id, bool learns_swarm, bool by_bandit) noexcept;

  // Whether counting `events` in `steps` steps costs more than a tenth of their time.
  [[nodiscard]] static bool counting_is_expensive(std::uint64_t events, std::uint64_t steps) noexcept;

  // Counts a run from a copied state. Returns whether to compare it with a run of all its steps: early on, and then
  // rarely.
  [[nodiscard]] bool check_copy() noexcept;

  // Whether to hold states in processes rather than run their steps again. `by_steps` is set where the clock must not
  // decide, as when the number of runs ends a search.
  [[nodiscard]] static bool returning_is_expensive(const ReturnCounts& counts, std::uint64_t runs,
                                                   bool by_steps) noexcept;

  // Whether to copy a state to which a run has `returned` after a step back, for when it steps back again: most copies
  // are never needed. `copy_seconds` is what others took on average; 0 if unknown.
  [[nodiscard]] static bool copying_pays(const ReturnCounts& returned, double copy_seconds, bool by_steps) noexcept;

  // Whether to hold the state of one checkpoint in a process, where states are held at all: `returned` is what
  // returning to it takes by its steps, and `hold_seconds` what it took to begin to hold others, on average; 0 if
  // unknown.
  [[nodiscard]] static bool holding_pays(const ReturnCounts& returned, double hold_seconds, bool by_steps) noexcept;

  // Whether the search must end before run `counts.runs + 1`. `max_runs` is absent and `patience` 0 for no limit. Most
  // runs need not ask: the decision says when it can change.
  [[nodiscard]] static EndDecision end(const SearchCounts& counts, std::optional<std::uint64_t> max_runs,
                                       std::uint64_t patience) noexcept;

 private:
  std::uint64_t runs_from_copies_ = 0;
};

}  // namespace ordeal
