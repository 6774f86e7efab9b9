#include "core/search/session.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/check.h"
#include "core/base/error.h"

namespace ordeal {

// The options are checked before any part is constructed, as parts rely on them.
Session::Session(const MachineShape& shape, const SessionOptions& options, std::shared_ptr<CoverageMap> coverage)
    : options_(checked(options, checked(shape))),
      planner_(shape, options_),
      stats_(shape.rules, shape.faults, options_.by_clock),
      run_(shape, options_, stats_),
      learning_(shape, options_, std::move(coverage)) {
  run_.source().reuse(learning_.values(), options_.value_reuse_prob);
}

// Between two runs no step is under way, so the parts may change what runs start from.
void Session::check_idle() const { ORDEAL_CHECK(!running(), "run " << spec().run_id << " is under way"); }

// The plan comes first: learning uses its run number.
RunSpec Session::begin_run() {
  check_idle();
  planner_.plan(run_.planned(), learning_.corpus(), learning_.next_solution());
  stage_ = Stage::kReady;
  run_.begin(Rng::stream(options_.seed, "values", spec().run_id));
  learning_.begin_run(spec().run_id, run_.planned().start);
  return spec();
}

void Session::restored(std::optional<std::size_t> steps) {
  ORDEAL_CHECK(stage_ == Stage::kReady, "run " << spec().run_id << " waits for no step");
  run_.restored(steps.value_or(run_.planned().prefix.size()));
}

// The step is on the tape before it is announced, so that a journal has it in a crash.
NextStep Session::next() {
  ORDEAL_CHECK(stage_ == Stage::kReady, "run " << spec().run_id << " waits for no step");
  const NextStep step = run_.next();
  learning_.begin_step(step, run_.replaying_prefix());
  if (step.kind != NextKind::kEnd && step.kind != NextKind::kStuck) {
    stage_ = Stage::kProposed;
  }
  return step;
}

void Session::reject() {
  ORDEAL_CHECK(stage_ == Stage::kProposed, "run " << spec().run_id << " proposed no step");
  run_.reject();
  stage_ = Stage::kReady;
}

bool Session::draws_again() {
  ORDEAL_CHECK(stage_ == Stage::kProposed, "run " << spec().run_id << " proposed no step");
  return run_.draws_again();
}

void Session::took(double seconds) {
  ORDEAL_CHECK(stage_ == Stage::kProposed, "run " << spec().run_id << " proposed no step");
  if (const TapeStep& step = tape().last_step(); step.kind == StepKind::kRule) {
    stats_.took(step.target, seconds);
  }
  if (stats_.are_slow() && planner_.simplify(run_.planned())) {
    run_.simplify();
  }
}

// A climb reads after each step: the next one may undo what it reached. Other runs read at other steps. If each step of
// all runs reads, five simple rules take 6 % more time.
bool Session::reads_numbers() const noexcept {
  constexpr std::uint64_t kPeriod = 8;
  return run_.planned().climbs || (tape().size() + spec().run_id) % kPeriod == 0;
}

// The state of the run changes first: learning refers to the state after the step.
StepNovelty Session::done(std::uint64_t state_hash, std::uint32_t improved) {
  ORDEAL_CHECK(stage_ == Stage::kProposed, "run " << spec().run_id << " proposed no step");
  stage_ = Stage::kReady;
  run_.step_done();
  if (is_new_rule()) {
    stats_.passed(tape(), run_.faults_on());
  }
  return learning_.end_step(tape(), state_hash, improved);
}

StepNovelty Session::finished(std::uint32_t improved) {
  ORDEAL_CHECK(stage_ == Stage::kReady, "a step of run " << spec().run_id << " is not done");
  return learning_.finished(tape(), improved);
}

KeepResult Session::keep() {
  ORDEAL_CHECK(stage_ == Stage::kReady, "a step of run " << spec().run_id << " is not done");
  return learning_.keep(tape(), planner_.schedule());
}

void Session::failed() {
  if (stage_ == Stage::kProposed && is_new_rule()) {
    stats_.failed(tape().last_step().target, run_.faults_on());
  }
  learning_.take_unfinished();
}

// Where no step was under way, a constructor or a teardown failed, and there is nothing to take back.
bool Session::step_back(std::uint64_t failure, bool slow) {
  ORDEAL_CHECK(running(), "no run to continue");
  if (stage_ != Stage::kProposed) {
    return false;
  }
  if (is_new_rule()) {
    stats_.failed_again(tape());
  }
  if (!run_.step_back(failure, slow)) {
    return false;
  }
  stage_ = Stage::kReady;
  learning_.stepped_back();
  return true;
}

void Session::ended_process(const Tape& tape, double seconds) {
  if (tape.empty() || tape.last_step().kind != StepKind::kRule) {
    return;
  }
  ORDEAL_CHECK(tape.last_step().target < options_.operations.size(), "a step of rule " << tape.last_step().target);
  stats_.crashed(tape, seconds);
}

void Session::failure_took(double seconds) {
  ORDEAL_CHECK(running(), "no run that failed");
  if (!tape().empty() && tape().last_step().kind == StepKind::kRule) {
    stats_.lost(tape().last_step().target, seconds);
  }
}

// Costs and rewards are integers without a unit of time: a seed decides the same on a slower machine, unless the caller
// says what the run took and its steps are slow. Then its cost is that of its steps, times how slow they were.
void Session::end_run(double seconds) {
  ORDEAL_CHECK(running(), "no run to end");
  stage_ = Stage::kIdle;
  run_.end();
  const std::size_t steps = tape().size() - std::min(tape().size(), run_.planned().prefix.size());
  const double slowness = stats_.run_took(seconds, steps);
  planner_.allow_simple(stats_.runs_are_slow());
  const RunTally tally = learning_.end_run(run_.planned(), run_.cost(), slowness);
  const double cost = std::max(1.0, static_cast<double>(run_.cost()) * slowness);
  planner_.report(run_.planned(), tally.reward, static_cast<std::uint64_t>(cost), tally.edges);
}

std::vector<SharedEntry> Session::take_new_entries() {
  check_idle();
  return learning_.take_new_entries();
}

KeepResult Session::import_entry(SharedEntry entry) {
  check_idle();
  return learning_.import_entry(std::move(entry), planner_.schedule());
}

Tape Session::tape_to_watch() const {
  const Checkpoint* const checkpoint = learning_.checkpoint_to_watch();
  return checkpoint == nullptr ? tape() : checkpoint->prefix.tape();
}

std::size_t Session::learn_comparisons(std::span<const Comparison> comparisons) {
  check_idle();
  return learning_.learn_comparisons(tape(), comparisons);
}

// Plain values: no snapshot and no object of the program is written to a file.
SessionState Session::save() const {
  check_idle();
  SessionState state;
  state.schedule = planner_.schedule().state();
  state.swarm = planner_.swarm().save();
  state.runs_by_kind = planner_.runs().save();
  state.risk = stats_.risk();
  state.step_risk = stats_.circumstances();
  learning_.save(state);
  return state;
}

// Only before the first run. The state may come from a file, so that each size was checked when it was read. The
// schedule comes before the corpus: one that is smaller by now draws from it which checkpoints make room.
void Session::restore(SessionState state) {
  ORDEAL_CHECK(spec().run_id == 0, "run " << spec().run_id << " has begun");
  for (const Checkpoint& checkpoint : state.checkpoints) {
    if (checkpoint.prefix.size() >= kTapeStepsMax) {
      throw TraceError("checkpoint " + std::to_string(checkpoint.id) + " has " +
                       std::to_string(checkpoint.prefix.size()) + " steps; it must have fewer than " +
                       std::to_string(kTapeStepsMax));
    }
  }
  run_.planned().spec.run_id = state.runs;
  planner_.restore(state.schedule, std::move(state.swarm), std::move(state.runs_by_kind));
  stats_.restore(state.risk, state.step_risk);
  learning_.restore(std::move(state), planner_.schedule());
}

}  // namespace ordeal
