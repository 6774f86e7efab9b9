#include "core/search/run_planner.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/check.h"

namespace ordeal {
namespace {

// In a run that mutates from the steps that led to its checkpoint.
constexpr double kMutateProb = 0.5;
// How many of the choices of a simple run are the simplest, and of one of the simplest.
constexpr double kSimpleProb = 0.5;
constexpr double kSimplestProb = 0.9;
// Runs of the simplest kinds come first under either policy: they find what is easy. They are long: so nine real bugs
// take 0.85 of the rule calls that they take with runs of any length (benchmarks/shallow_steps.py).
constexpr std::uint64_t kPlainRuns = 16;
// One run of two prefers some rules to others, so that containers fill: 0.89 of the calls on nine real bugs, and less
// than half on the one that must fill a list. If every run does, it is 1.4 times as many.
constexpr std::uint64_t kWeightedPeriod = 2;
// How many weights there are, each twice another: 1.10 of the calls with four of them, and 1.05 with eight.
constexpr std::uint64_t kDoublings = 6;
// A run that should turn a comparison continues for a few steps: the effect comes soon.
constexpr std::uint32_t kStepsAfterMax = 8;

constexpr std::uint32_t kBranches =
    bit(RunStart::kBranch) | bit(RunStart::kMutate) | bit(RunStart::kSplice) | bit(RunStart::kRepeat);

constexpr double simplest_prob_of(RunSimplicity simplicity) noexcept {
  switch (simplicity) {
    case RunSimplicity::kSimple:
      return kSimpleProb;
    case RunSimplicity::kSimplest:
      return kSimplestProb;
    case RunSimplicity::kNone:
      break;
  }
  return 0.0;
}

// The plan is that of a fresh run; only its steps are given.
void follow(PlannedRun& run, Tape tape) {
  run.spec.steps = std::min(run.spec.steps, kStepsAfterMax);
  run.sequence.changed.assign(tape.size(), false);
  run.sequence.tape = std::move(tape);
}

}  // namespace

// Whether a report of the run should say which rules were on.
bool PlannedRun::draws_rules() const noexcept {
  return spec.swarm != RunSpec::kNoSwarm || distribution == SwarmDistribution::kUniformSize ||
         distribution == SwarmDistribution::kHypothesis;
}

RunPlanner::RunPlanner(const MachineShape& shape, const SessionOptions& options)
    : shape_(shape),
      options_(options),
      schedule_(Rng::stream(options.seed, "schedule")),
      swarm_(shape.rules, shape.faults) {
  ORDEAL_CHECK(options_.operations.size() == shape_.rules,
               options_.operations.size() << " operations for " << shape_.rules << " rules: are the options checked?");
}

// A separate stream for every run, here and below: draws of one run shift nothing in the next.
void RunPlanner::plan(PlannedRun& run, Corpus& corpus, std::optional<Tape> solution) {
  run.spec = RunSpec{.run_id = run.spec.run_id + 1};
  run.rng = Rng::stream(options_.seed, "run", run.spec.run_id);
  run.follows_solution = solution.has_value();
  choose_kind(run, corpus);
  run.simplest_prob = simplest_prob_of(run.kind.simplicity);
  run.spec.steps = draw_steps(run);
  choose_start(run, corpus);
  if (solution) {
    follow(run, *std::move(solution));
  }
  choose_configuration(run);
  ORDEAL_DCHECK(run.spec.steps >= 1 && run.spec.steps <= options_.steps_per_run, "a run of " << run.spec.steps);
  ORDEAL_DCHECK(run.sequence.changed.size() == run.sequence.tape.size(), "not every step says whether it is changed");
}

// A run learns only while it runs that its steps are slow: they may take as long as all that is left of the search.
bool RunPlanner::simplify(PlannedRun& run) noexcept {
  if (allows_simple_) {
    return false;
  }
  allows_simple_ = true;
  run.kind.simplicity = RunSimplicity::kSimplest;
  run.simplest_prob = kSimplestProb;
  return true;
}

// Both bandits learn from a run what it was worth: the one of its kind, and the one of its swarm configuration.
void RunPlanner::report(const PlannedRun& run, std::uint64_t reward, std::uint64_t cost, std::uint32_t new_edges) {
  // The kind of the run was not chosen: it followed a tape.
  if (!run.follows_solution) {
    runs_.report(run.kind, reward, cost);
  }
  if (run.spec.swarm != RunSpec::kNoSwarm) {
    swarm_.report(run.spec.swarm, new_edges);
  }
}

// The classic policy knows two kinds: fresh, and from a checkpoint.
void RunPlanner::choose_kind(PlannedRun& run, const Corpus& corpus) {
  run.kind = {};
  if (run.follows_solution) {
    return;
  }
  if (options_.policy == SwarmPolicy::kAdaptive) {
    Rng rng = Rng::stream(options_.seed, "kind of run", run.spec.run_id);
    const RunKinds allowed = allowed_kinds(run.spec.run_id, corpus, rng);
    run.kind = runs_.draw(rng, allowed);
  } else if (schedule_.chance(*options_.checkpoint_prob) && !corpus.empty()) {
    run.kind.start = RunStart::kBranch;
  }
}

// Options that fix how runs start take this decision from the bandit.
RunKinds RunPlanner::allowed_kinds(std::uint64_t run_id, const Corpus& corpus, Rng& rng) const {
  RunKinds allowed{.swarms = allowed_swarms(run_id)};
  if (options_.checkpoint_prob) {
    const bool branches = rng.chance(*options_.checkpoint_prob);
    allowed.starts = branches ? kBranches : bit(RunStart::kFresh) | bit(RunStart::kEdit);
  }
  if (options_.seed_mutation_prob) {
    allowed.starts &= ~bit(RunStart::kMutate);
  }
  if (run_id <= kPlainRuns) {
    allowed.starts &= bit(RunStart::kFresh) | bit(RunStart::kBranch);
  }
  if (corpus.empty()) {
    allowed.starts = bit(RunStart::kFresh);
  }
  if (allows_simple_) {
    allowed.simplicities = (1U << kRunSimplicities) - 1;
  }
  return allowed;
}

bool RunPlanner::learns_swarm() const noexcept {
  const bool by_policy = options_.policy == SwarmPolicy::kAdaptive && options_.swarm == SwarmDistribution::kOff;
  return options_.rule_swarm.value_or(by_policy) && shape_.rules + shape_.faults > 1;
}

// All of one kind if an option fixes how configurations are drawn.
std::uint32_t RunPlanner::allowed_swarms(std::uint64_t run_id) const noexcept {
  if (options_.rule_swarm || !learns_swarm() || run_id <= kPlainRuns) {
    return bit(RunSwarm::kFull);
  }
  std::uint32_t allowed = RunKinds{}.swarms;
  if (!swarm_.is_directed()) {
    allowed &= ~bit(RunSwarm::kDirected);
  }
  if (swarm_.counts().configurations == 0) {
    allowed &= ~bit(RunSwarm::kEnergy);
  }
  return allowed;
}

// From the run's own stream, whose first draw this is.
std::uint32_t RunPlanner::draw_steps(PlannedRun& run) const {
  const std::uint32_t most = options_.steps_per_run;
  const bool is_long = options_.policy == SwarmPolicy::kAdaptive && run.spec.run_id <= kPlainRuns;
  return static_cast<std::uint32_t>(is_long ? most - run.rng.below((most + 3) / 4) : 1 + run.rng.below(most));
}

// The prefix is copied: its checkpoint may make room during the run.
void RunPlanner::choose_start(PlannedRun& run, Corpus& corpus) {
  run.start = {};
  run.prefix.clear();
  run.sequence = {};
  run.mutate_prob = 0.0;
  run.climbs = false;
  const RunStart start = run.kind.start;
  if (start == RunStart::kFresh) {
    return;
  }
  const Checkpoint* const checkpoint = corpus.pick(schedule_);
  ORDEAL_CHECK(checkpoint != nullptr, "run " << run.spec.run_id << " has no checkpoint to start from");
  if (start != RunStart::kEdit) {
    run.start = checkpoint->prefix;
    run.start.copy_to(run.prefix);
    run.spec.checkpoint = checkpoint->id;
    run.spec.prefix_steps = run.prefix.size();
    run.climbs = checkpoint->is_tip;
    // The way to a tip takes most of the time.
    run.spec.steps = run.climbs ? options_.steps_per_run : run.spec.steps;
    run.mutate_prob = start == RunStart::kMutate ? kMutateProb : options_.seed_mutation_prob.value_or(0.0);
  }
  choose_sequence(run, *checkpoint, corpus);
}

// Donors are picked by the schedule, like checkpoints; the splice itself uses a stream of the run.
void RunPlanner::choose_sequence(PlannedRun& run, const Checkpoint& checkpoint, Corpus& corpus) {
  Rng rng = Rng::stream(options_.seed, "sequence", run.spec.run_id);
  if (run.kind.start == RunStart::kSplice) {
    std::vector<Tape> ends(1 + rng.below(kDonorsMax));
    std::ranges::generate(ends, [&] { return end_of(corpus.pick(schedule_)->prefix, run.spec.steps); });
    std::vector<const Tape*> donors;
    std::ranges::transform(ends, std::back_inserter(donors), [](const Tape& end) { return &end; });
    run.sequence = splice(rng, donors, run.spec.steps);
  } else if (run.kind.start == RunStart::kRepeat) {
    run.sequence = repeat(rng, run.prefix, run.spec.steps);
  } else if (run.kind.start == RunStart::kEdit) {
    run.sequence = edit(rng, checkpoint.prefix.tape(0, std::min(checkpoint.prefix.size(), kEditedStepsMax)));
  }
}

// The most steps that a splice can take from it, plus the initialize rules, which it leaves out.
Tape RunPlanner::end_of(const Prefix& prefix, std::size_t steps) const {
  const std::size_t count = std::min(prefix.size(), steps + shape_.initializers);
  return prefix.tape(prefix.size() - count, prefix.size());
}

// A rule that its author declared as always on ignores the draw.
void RunPlanner::choose_configuration(PlannedRun& run) {
  // A separate stream, so that nothing of it must be remembered between runs.
  Rng rng = Rng::stream(options_.seed, "op weights", run.spec.run_id);
  run.configuration = draw_configuration(run, rng);
  for (std::size_t rule = 0; rule < shape_.rules; ++rule) {
    run.configuration.rules[rule] = run.configuration.rules[rule] || options_.operations[rule].always_on;
  }
  run.weights = draw_weights_of(run, rng);
}

// A configuration of the swarm, or one for this run alone.
SwarmConfiguration RunPlanner::draw_configuration(PlannedRun& run, Rng& rng) {
  choose_distribution(run);
  if (run.spec.swarm != RunSpec::kNoSwarm) {
    return swarm_.configuration(run.spec.swarm);
  }
  SwarmConfiguration drawn{std::vector<bool>(shape_.rules, true), std::vector<bool>(shape_.faults, true)};
  if (run.distribution == SwarmDistribution::kCoinFlip && shape_.faults > 1) {
    drawn.faults = draw_faults();
  } else if (run.distribution == SwarmDistribution::kUniformSize) {
    drawn = {draw_kept(rng, options_.operations), draw_by_size(rng, shape_.faults)};
  } else if (run.distribution == SwarmDistribution::kHypothesis) {
    drawn = draw_shared(rng);
  }
  return drawn;
}

// By the options if they fix it, else by the kind of the run, which then records the choice either way.
void RunPlanner::choose_distribution(PlannedRun& run) {
  run.distribution = options_.swarm;
  const bool learns = learns_swarm();
  if (options_.rule_swarm || !learns) {
    run.spec.swarm = learns ? swarm_.draw(schedule_) : RunSpec::kNoSwarm;
    run.kind.swarm = learns ? kind_of(swarm_.source(run.spec.swarm)) : kind_of(run.distribution);
    return;
  }
  switch (run.kind.swarm) {
    case RunSwarm::kFull:
      break;
    case RunSwarm::kCoinFlip:
      run.spec.swarm = swarm_.draw(schedule_, SwarmSource::kCoinFlip);
      break;
    case RunSwarm::kUniformSize:
      run.distribution = SwarmDistribution::kUniformSize;
      break;
    case RunSwarm::kUniformShare:
      run.distribution = SwarmDistribution::kHypothesis;
      break;
    case RunSwarm::kDirected:
      run.spec.swarm = swarm_.draw(schedule_, SwarmSource::kDirected);
      break;
    case RunSwarm::kEnergy:
      run.spec.swarm = swarm_.draw(schedule_, SwarmSource::kEnergy);
      break;
  }
}

// Rules and faults share the probability.
SwarmConfiguration RunPlanner::draw_shared(Rng& rng) const {
  const std::vector<bool> both = draw_by_share(rng, std::size_t{shape_.rules} + shape_.faults);
  const auto middle = both.begin() + shape_.rules;
  SwarmConfiguration drawn{{both.begin(), middle}, {middle, both.end()}};
  if (drawn.rule_count() == 0) {
    drawn.rules[rng.below(shape_.rules)] = true;
  }
  return drawn;
}

// A coin for each; runs without any fault are left to kinds that draw none.
std::vector<bool> RunPlanner::draw_faults() {
  std::vector<bool> faults(shape_.faults, false);
  for (std::vector<bool>::reference fault : faults) {
    fault = schedule_.chance(0.5);
  }
  if (std::ranges::find(faults, true) == faults.end()) {
    faults[schedule_.below(faults.size())] = true;
  }
  return faults;
}

// Empty if all active rules are equal.
std::vector<std::uint32_t> RunPlanner::draw_weights_of(const PlannedRun& run, Rng& rng) const {
  const std::vector<Operation>& operations = options_.operations;
  if (run.distribution == SwarmDistribution::kUniformSize) {
    return draw_weights(rng, operations, run.configuration.rules);
  }
  const bool may_prefer = options_.policy == SwarmPolicy::kAdaptive && learns_swarm();
  const std::uint64_t doublings = may_prefer && run.spec.run_id % kWeightedPeriod == 0 ? kDoublings : 1;
  if (doublings == 1 &&
      std::ranges::all_of(operations, [](const Operation& operation) { return operation.base == 1; })) {
    return {};
  }
  std::vector<std::uint32_t> weights(operations.size(), 0);
  for (std::size_t rule = 0; rule < weights.size(); ++rule) {
    weights[rule] = run.configuration.rules[rule] ? operations[rule].base << rng.below(doublings) : 0;
  }
  return weights;
}

void RunPlanner::restore(const Rng::State& schedule, SwarmState swarm, RunScheduleState runs) {
  schedule_.set_state(schedule);
  swarm_.restore(std::move(swarm));
  runs_.restore(std::move(runs));
}

}  // namespace ordeal
