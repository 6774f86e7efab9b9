// One exploration: decides what every run does and learns from what it showed. Callers ask and report; it never calls
// back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/corpus/corpus.h"
#include "core/corpus/shared_entry.h"
#include "core/coverage/coverage_map.h"
#include "core/coverage/features.h"
#include "core/coverage/species_estimate.h"
#include "core/draw/choice_source.h"
#include "core/search/learning.h"
#include "core/search/rule_stats.h"
#include "core/search/run_planner.h"
#include "core/search/run_state.h"
#include "core/search/session_options.h"
#include "core/search/session_state.h"
#include "core/tape/journal.h"
#include "core/tape/step_source.h"
#include "core/tape/tape.h"

namespace ordeal {

// Joins the three parts of a search - RunPlanner before a run, RunState in it, Learning from it - and checks the order
// of the calls.
//
// The order is: begin_run, [restored], then for every step next() (and reject() while the proposed rule cannot run) and
// done(), [keep], finally end_run. A run that fails or is rejected in the middle of a step goes straight to end_run:
// what it found still counts. A run that failed may also step_back(), and then goes on with [restored] and next(). Any
// other order breaks a check.
class Session {
 public:
  static constexpr std::size_t kTapeStepsMax = RunState::kTapeStepsMax;

  // The monitor of the program under test feeds `coverage`. ConfigError for an option or a shape out of range.
  Session(const MachineShape& shape, const SessionOptions& options, std::shared_ptr<CoverageMap> coverage);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // One run.
  RunSpec begin_run();
  // Notes that the checkpoint's machine was restored from a snapshot: its prefix need not run again. The draws of new
  // steps are the same either way. After a step back, the state after this many of the `steps` that are left may have
  // been restored.
  void restored(std::optional<std::size_t> steps = std::nullopt);
  NextStep next();
  // Notes that the rule from next() cannot run now. The next proposal replaces it.
  void reject();
  // Once the arguments of a rule are drawn, and before it runs: whether they should be drawn again, as steps with such
  // values failed before. Not for rules whose draws take values out of bundles.
  [[nodiscard]] bool draws_again();
  // Before done(): reports a feature of the step, or the `size` of a bundle. Does nothing for a step of the prefix,
  // which need not run at all.
  void feature(FeatureKind kind, std::uint64_t key) { learning_.feature(kind, key); }
  void bundle_size(std::uint32_t bundle, std::size_t size) { learning_.bundle_size(bundle, size); }
  // Before done(): whether to report numbers of the state after this step. That takes time.
  [[nodiscard]] bool reads_numbers() const noexcept;
  // Reports a number of the state, by the hash of its name.
  void magnitude(std::uint64_t label, double value) { learning_.magnitude(label, value); }
  // Reports features of an Interleaving.
  void interleaved(std::span<const std::uint64_t> features) { learning_.interleaved(features); }
  // Returns whether this value of hypothesis.target() is a new maximum; then it counts as one of `improved`.
  bool target(std::uint64_t label, double value) { return learning_.target(label, value); }
  // Before done(): what the step and its invariants took, in a session `by_clock` that wants to know.
  [[nodiscard]] bool wants_times() const noexcept { return stats_.wants_times() && !run_.replaying_prefix(); }
  void took(double seconds);
  // Notes that the step ran to its end. `state_hash` 0 means none. `improved` counts the properties with comparisons
  // that came closer to their bound than ever before; the caller keeps these distances.
  StepNovelty done(std::uint64_t state_hash = 0, std::uint32_t improved = 0);
  // Whether all that was new in the last step is that a number of the state is larger: a search that only climbs has no
  // end.
  [[nodiscard]] bool only_climbed() const noexcept { return learning_.only_climbed(); }
  // Before end_run(), if the run did not fail: returns what was new after its last step. It belongs to the state after
  // this step, which keep() keeps.
  StepNovelty finished(std::uint32_t improved = 0);
  // Keeps the state after the last step as a checkpoint, unless the tape is full or no run would start from it.
  KeepResult keep();
  // Moves the energy of a superseded checkpoint to its successor, so that runs start from that one.
  void transfer_energy(std::uint64_t checkpoint, std::uint64_t by) { learning_.transfer_energy(checkpoint, by); }
  // Notes that the step or what followed it failed, and credits the run with what ran. Before step_back() or end_run(),
  // for callers who ask for edges_in_run() in between.
  void failed();
  // Takes back the step that failed, and has the run continue without it; see RunState. False if the run should end, as
  // where no step failed. `failure` is equal for failures that are the same. The steps that come again teach nothing.
  bool step_back(std::uint64_t failure, bool slow = false);
  // Before a run: notes that the last step of this tape ended an earlier process of the search, and what that cost in
  // `seconds`, as failure_took() does. Such a step becomes rarer at once: it costs a process each time.
  void ended_process(const Tape& tape, double seconds = 0);
  // In a run: notes that its last step took this many seconds to fail in a known way, as one that hangs does. In
  // a session `by_clock`, such steps have a share of the time that the search says it took; others ignore both.
  void failure_took(double seconds);
  void search_took(double seconds) noexcept { stats_.search_took(seconds); }
  // `seconds` is what the run took, with its prefix where that ran again; 0 where no clock may decide anything.
  void end_run(double seconds = 0);

  // Everything below only between two runs. The checkpoints kept since the last call, for other sessions to import.
  [[nodiscard]] std::vector<SharedEntry> take_new_entries();
  // Imports what another session of the same machine found as a checkpoint, unless it shows nothing new here.
  KeepResult import_entry(SharedEntry entry);

  // What another process needs to continue from here.
  [[nodiscard]] SessionState save() const;
  // Continues where another session of the same seed was saved. Before the first run. TraceError for a state that no
  // session of this shape can have.
  void restore(SessionState state);

  // Adds a constant of the program for draws. Before the first run, and not part of what save() returns.
  void add_constant(Choice value) { learning_.add_constant(std::move(value)); }
  // Whether a replay should be observed for comparisons.
  [[nodiscard]] bool wants_comparisons() const noexcept { return learning_.wants_comparisons(); }
  // What to replay next for them.
  [[nodiscard]] Tape tape_to_watch() const;
  // Reports the comparisons of that replay. Changes what later runs draw, and some of them will follow the tape with
  // one choice replaced. Returns how many.
  std::size_t learn_comparisons(std::span<const Comparison> comparisons);

  // From now on, journals runs, including what exists of the current one. At any time.
  void set_journal(std::shared_ptr<Journal> journal) noexcept { source().set_journal(std::move(journal), running()); }
  // Rules that touch files with uncovered branches, for the third layer of the swarm.
  void direct_swarm(const std::vector<bool>& rules) { planner_.direct_swarm(rules); }

  // The run under way, or the last one.
  [[nodiscard]] bool running() const noexcept { return stage_ != Stage::kIdle; }
  [[nodiscard]] ChoiceSource& source() noexcept { return run_.source(); }
  [[nodiscard]] const Tape& tape() const noexcept { return run_.tape(); }
  [[nodiscard]] const RunSpec& spec() const noexcept { return run_.planned().spec; }
  // What is on in this run.
  [[nodiscard]] const SwarmConfiguration& configuration() const noexcept { return run_.planned().configuration; }
  [[nodiscard]] const std::vector<std::uint32_t>& weights() const noexcept { return run_.planned().weights; }
  [[nodiscard]] bool draws_rules() const noexcept { return run_.planned().draws_rules(); }
  [[nodiscard]] std::uint32_t edges_in_run() const noexcept { return learning_.tally().edges; }
  [[nodiscard]] const std::vector<bool>& faults_on() const noexcept { return run_.faults_on(); }
  [[nodiscard]] std::size_t prefix_left() const noexcept { return run_.prefix_left(); }
  [[nodiscard]] bool replaying_prefix() const noexcept { return run_.replaying_prefix(); }

  // All runs until now.
  [[nodiscard]] const Corpus& corpus() const noexcept { return learning_.corpus(); }
  // The uses of rules since this was made: they are not part of save().
  [[nodiscard]] const RuleStats& stats() const noexcept { return stats_; }
  [[nodiscard]] const Swarm& swarm() const noexcept { return planner_.swarm(); }
  [[nodiscard]] const RunCounts& run_counts() const noexcept { return planner_.runs().counts(); }
  [[nodiscard]] bool learns_swarm() const noexcept { return planner_.learns_swarm(); }
  [[nodiscard]] std::uint64_t checkpoints_saved() const noexcept { return learning_.checkpoints_saved(); }
  // How much of what this session can see is still to come: edges if it has any, else other features. Nothing if too
  // few runs support an estimate.
  [[nodiscard]] std::optional<SpeciesEstimate> species_estimate() const { return learning_.species_estimate(); }

 private:
  enum class Stage : std::uint8_t { kIdle, kReady, kProposed };

  void check_idle() const;
  // Whether the last step counts for its rule: a step of the prefix was counted when it was new.
  [[nodiscard]] bool is_new_rule() const {
    return tape().last_step().kind == StepKind::kRule && !run_.replaying_prefix();
  }

  SessionOptions options_;
  RunPlanner planner_;
  RuleStats stats_;
  RunState run_;
  Learning learning_;
  Stage stage_ = Stage::kIdle;
};

}  // namespace ordeal
