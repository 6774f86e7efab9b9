// A run under way: its tape, its progress in the prefix and the planned sequence, and the choice of the next step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/rng.h"
#include "core/draw/choice_source.h"
#include "core/search/rule_stats.h"
#include "core/search/run_planner.h"
#include "core/search/session_options.h"
#include "core/tape/step_source.h"
#include "core/tape/tape.h"

namespace ordeal {

// First come the steps of the checkpoint's prefix, then those of the planned sequence that can run, then random steps.
// After a step back, the steps that are left come first again, and then the run continues where it was.
// Knows nothing about coverage: what a step showed is for Learning. Calls must come in the order documented in Session,
// which checks it. begin() costs O(rules + faults) and allocates nothing after the first runs; a
// random step costs O(1), or O(rules) if rules have weights.
class RunState {
 public:
  // A run ends at this length of its tape, and none branches there: replaying prefixes must stay cheap.
  static constexpr std::size_t kTapeStepsMax = 10'000;
  // How often a run may step back, and over how many steps it may go again for that: runs must stay cheap.
  static constexpr std::uint32_t kStepBacksMax = 16;
  static constexpr std::size_t kStepsAgainMax = 2'000;
  // How often in a row the same failure may follow: then the state was broken before.
  static constexpr std::uint32_t kRepeatsMax = 6;

  // How often other rules may be picked, and arguments drawn again, in place of those that would likely fail.
  static constexpr std::uint32_t kAvoidedMax = 3;

  // `stats` decides what is proposed rarely; it must outlive this object.
  RunState(const MachineShape& shape, const SessionOptions& options, const RuleStats& stats);
  RunState(const RunState&) = delete;  // the source writes to this object's tape
  RunState& operator=(const RunState&) = delete;

  // The plan of this run, for the planner to write before begin().
  [[nodiscard]] PlannedRun& planned() noexcept { return planned_; }
  [[nodiscard]] const PlannedRun& planned() const noexcept { return planned_; }

  // Starts the planned run. Random steps draw their arguments from `values`.
  void begin(const Rng& values);
  // Adopts the prefix of the checkpoint as it is; none of its steps is proposed. After a step back, this many of the
  // steps that are left may be adopted, at least those of the prefix.
  void restored() { restored(planned_.prefix.size()); }
  void restored(std::size_t steps);
  // Begins the step on the tape, unless the run is over.
  NextStep next();
  // Drops the step. The next proposal replaces it.
  void reject();
  // Whether the arguments that were drawn for the step should be drawn again, as they failed before. The step then is
  // on the tape without them.
  bool draws_again();
  // The step ran to its end.
  void step_done();
  // The step failed in a way that is known. Takes it back, unless the run should end: then it returns false, and
  // nothing has changed. The steps before it come again, from a fresh machine or after restored(), and the run
  // continues without it. Where the same `failure` keeps following at once, ever more steps are taken back: one of them
  // may have broken the state. A `slow` failure, such as a hang, is taken back once in a run.
  bool step_back(std::uint64_t failure, bool slow);
  // The rest of the run draws simpler values, as its plan says now.
  void simplify() noexcept { source_.simplify(planned_.simplest_prob); }
  void end() noexcept { source_.end_run(); }

  [[nodiscard]] ChoiceSource& source() noexcept { return source_; }
  [[nodiscard]] const Tape& tape() const noexcept { return tape_; }
  // Which faults are on after the last completed step.
  [[nodiscard]] const std::vector<bool>& faults_on() const noexcept { return faults_on_; }
  // Steps of the prefix, or of what comes again, that are still to come.
  [[nodiscard]] std::size_t prefix_left() const noexcept { return prefix().size() - prefix_position_; }
  // Whether the latest step came from the prefix, or came again.
  [[nodiscard]] bool replaying_prefix() const noexcept { return step_of_prefix_; }
  // The cost of the run so far, in quarters of a step. Not in seconds: a seed must always decide the same. A run costs
  // the same whether its prefix was restored or run again, as after resuming in another process.
  [[nodiscard]] std::uint64_t cost() const noexcept;

 private:
  void restart();
  void apply_configuration();
  // The steps that come first: the prefix of the checkpoint, or all that a step back left.
  [[nodiscard]] const Tape& prefix() const noexcept { return step_backs_ > 0 ? again_ : planned_.prefix; }
  [[nodiscard]] std::size_t steps_to_take_back(std::uint64_t failure);
  NextStep next_of_prefix();
  std::optional<NextStep> next_of_sequence();
  // Whether its steps count like others. In a fresh run they replace a prefix.
  [[nodiscard]] bool counts_sequence() const noexcept { return planned_.spec.checkpoint != 0; }
  [[nodiscard]] bool applies(const TapeStep& step) const noexcept;
  void replay(const Tape& tape, const TapeStep& step);
  [[nodiscard]] bool has_room() const noexcept;
  void go_live();
  NextStep next_step();
  NextStep propose(NextKind kind, std::uint32_t target);
  std::optional<NextStep> next_fault();
  NextStep next_rule();
  std::size_t pick_rule();
  [[nodiscard]] std::size_t end_without_failed(std::size_t end);
  [[nodiscard]] std::size_t end_without_waiting(std::size_t end);
  void mutate_from_prefix(std::uint32_t rule);
  void note_step(const TapeStep& step);

  // What the run is, and what it has written.
  MachineShape shape_;
  double fault_toggle_prob_;
  std::size_t steps_max_;  // of a run beyond its prefix
  const RuleStats* stats_;
  PlannedRun planned_;
  Tape tape_;
  ChoiceSource source_;

  // The progress of the run. begin() resets all of it.
  Rng live_{0};  // where the source continues when it is live again
  std::size_t prefix_position_ = 0;
  std::size_t sequence_position_ = 0;
  bool step_of_prefix_ = false;
  bool step_of_sequence_ = false;
  bool rejected_ = false;      // the next proposal is for the same step
  std::uint32_t redraws_ = 0;  // of this step
  std::uint32_t steps_left_ = 0;
  std::vector<std::uint32_t> initializers_left_;
  std::vector<std::uint32_t> rules_;  // the active ones, then those that the swarm left out
  std::size_t rules_active_ = 0;
  std::size_t rules_offered_ = 0;      // for this step; they are at the front
  std::vector<std::uint32_t> faults_;  // eligible in this run
  std::vector<bool> faults_on_;

  // Stepping back.
  Tape again_;  // what is gone over again
  std::uint32_t step_backs_ = 0;
  std::size_t steps_again_ = 0;
  bool was_slow_ = false;
  std::uint64_t last_failure_ = 0;
  std::size_t last_kept_ = 0;  // steps, when the run stepped back from it
  std::uint32_t repeats_ = 0;
  std::optional<std::uint32_t> failed_rule_;  // until the next rule has run, it is proposed last
};

}  // namespace ordeal
