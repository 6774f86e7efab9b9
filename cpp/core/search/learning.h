// What runs teach: the novelty of each step, the checkpoints kept for it, the energy that they gain or lose at the end
// of a run, and values to draw again.
#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/rng.h"
#include "core/cmplog/cmplog.h"
#include "core/corpus/corpus.h"
#include "core/corpus/shared_entry.h"
#include "core/coverage/coverage_map.h"
#include "core/coverage/features.h"
#include "core/coverage/species_estimate.h"
#include "core/draw/dictionary.h"
#include "core/search/run_planner.h"
#include "core/search/session_options.h"
#include "core/search/session_state.h"
#include "core/tape/step_source.h"
#include "core/tape/tape.h"

namespace ordeal {

// The novelty of one step.
struct StepNovelty {
  std::uint32_t edges = 0;
  std::uint32_t features = 0;  // everything else that is new or improved

  [[nodiscard]] bool any() const noexcept { return edges > 0 || features > 0; }
};

struct KeepResult {
  std::uint64_t id = 0;  // 0: not kept
  std::optional<std::uint64_t> evicted;
};

// What a run brought so far.
struct RunTally {
  std::uint32_t edges = 0;
  std::uint32_t reward = 0;    // of its new steps, for choosing the next kinds of run
  std::uint32_t improved = 0;  // properties that came closer to their bound than ever before
  std::uint32_t weight = 0;    // of all its features
};

// Owns what a session remembers: the corpus, the features, the values. The coverage map is shared with the monitor of
// the program under test. Calls must come in the order documented in Session, which checks it. A
// step costs one look-up for each feature it shows, and O(edges) for new ones.
class Learning {
 public:
  // The options must be checked() for this shape.
  Learning(const MachineShape& shape, const SessionOptions& options, std::shared_ptr<CoverageMap> coverage);

  // `start` is the prefix of the checkpoint that the run starts from; empty for a fresh machine.
  void begin_run(std::uint64_t run_id, Prefix start = {});
  // In a step of the prefix only new edges count: the prefix need not run at all.
  void begin_step(const NextStep& step, bool is_of_prefix);
  // Between begin_step() and end_step(): reports a feature of the step, or the `size` of a bundle.
  void feature(FeatureKind kind, std::uint64_t key);
  void bundle_size(std::uint32_t bundle, std::size_t size);
  void interleaved(std::span<const std::uint64_t> features);
  bool target(std::uint64_t label, double value) { return features_.target(label, value); }
  // Reports a number of the state. If it is larger than ever before, or further below zero, runs climb from this state,
  // unless the step says more.
  void magnitude(std::uint64_t label, double value);
  // The last step of the tape ran to its end. `state_hash` 0 means none.
  StepNovelty end_step(const Tape& tape, std::uint64_t state_hash, std::uint32_t improved);
  // Returns what was new after the last step. Edges of the teardown are left to end_run(): the state before it is not
  // credited with them.
  StepNovelty finished(const Tape& tape, std::uint32_t improved) { return take_novelty(tape, {}, improved); }
  // Credits the run with what ran since its last step, which did not end.
  void take_unfinished();
  // The run continues on a tape without its last steps.
  void stepped_back() noexcept { begins_with_latest_ = false; }
  // Rewards the checkpoint that the run started from. Returns what the run brought, including edges of a last step that
  // did not end. `cost` is what it took, as RunState counts it; `slowness` is that of its steps, for where later runs
  // start.
  RunTally end_run(const PlannedRun& run, std::uint64_t cost = 0, double slowness = 1);

  // Keeps the state after the last step of the tape as a checkpoint, unless no run would start from it. `schedule`
  // decides which checkpoint makes room.
  KeepResult keep(const Tape& tape, Rng& schedule);
  void transfer_energy(std::uint64_t checkpoint, std::uint64_t by) { corpus_.transfer_energy(checkpoint, by); }
  // See Session.
  [[nodiscard]] std::vector<SharedEntry> take_new_entries();
  KeepResult import_entry(SharedEntry entry, Rng& schedule);

  // Values for draws to reuse.
  void add_constant(Choice value) { values_.add(DictionarySource::kConstant, std::move(value)); }
  [[nodiscard]] const Dictionary& values() const noexcept { return values_; }
  // The tape that the next run should follow to turn a comparison, if any. Call it once before each run.
  [[nodiscard]] std::optional<Tape> next_solution() { return cmplog_.next(); }
  [[nodiscard]] bool wants_comparisons() const noexcept { return cmplog_.wants_comparisons(); }
  // The checkpoint whose prefix should be observed for comparisons; null for the run just ended.
  [[nodiscard]] const Checkpoint* checkpoint_to_watch() const { return cmplog_.checkpoint_to_watch(corpus_); }
  // `last` is the tape of the run just ended.
  std::size_t learn_comparisons(const Tape& last, std::span<const Comparison> comparisons);

  [[nodiscard]] Corpus& corpus() noexcept { return corpus_; }
  [[nodiscard]] const Corpus& corpus() const noexcept { return corpus_; }
  [[nodiscard]] bool only_climbed() const noexcept { return climbs_; }
  [[nodiscard]] const RunTally& tally() const noexcept { return tally_; }
  [[nodiscard]] std::uint64_t checkpoints_saved() const noexcept { return checkpoints_saved_; }
  [[nodiscard]] std::optional<SpeciesEstimate> species_estimate() const;

  // Writes its part of the state, or reads it. `schedule` draws only if fewer checkpoints are allowed than were saved.
  void save(SessionState& state) const;
  void restore(SessionState state, Rng& schedule);

 private:
  void enter_rule(const NextStep& step) noexcept;
  void share_climbs() noexcept;
  StepNovelty take_novelty(const Tape& tape, const NewCoverage& new_coverage, std::uint32_t improved);
  [[nodiscard]] Prefix prefix_of(const Tape& tape);
  void keep_values_of(const Tape& tape, const TapeStep& step);
  KeepResult add(Checkpoint checkpoint, Rng& schedule);
  void reward_checkpoint(std::uint64_t id);
  void note_slowness(std::uint64_t start, double slowness);
  [[nodiscard]] std::uint32_t frequency_class_of(const Checkpoint& checkpoint) const;

  // Of the whole session.
  MachineShape shape_;
  bool keeps_checkpoints_;
  std::shared_ptr<CoverageMap> coverage_;
  Features features_;
  Corpus corpus_;
  Dictionary values_;
  Cmplog cmplog_;

  // Of the run, and its latest step.
  std::uint64_t run_id_ = 0;
  RunTally tally_;
  Prefix latest_;                    // of the last checkpoint that the run kept, or of the one that it started from
  bool begins_with_latest_ = false;  // known of the run's tape
  bool is_of_prefix_ = false;        // the step
  std::uint32_t step_improved_ = 0;
  std::uint32_t step_weight_ = 0;
  std::vector<std::uint64_t> raised_;  // in the step: labels of numbers that are larger than ever before
  bool climbs_ = false;                // the step brought nothing else that is new
  std::uint64_t next_checkpoint_ = 1;
  std::uint64_t first_of_run_ = 1;                     // the first checkpoint that the run may have kept
  std::vector<std::uint64_t> new_entries_;             // checkpoints
  tsl::robin_map<std::uint64_t, std::uint64_t> tips_;  // the checkpoint with the largest number, by label
  std::uint64_t checkpoints_saved_ = 0;
  std::uint64_t cost_ = 0;        // of all runs
  std::uint64_t climb_cost_ = 0;  // of those that climbed to nothing but larger numbers
};

}  // namespace ordeal
