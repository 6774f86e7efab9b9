#include "core/search/session.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <ranges>
#include <string>
#include <utility>

#include "core/base/check.h"
#include "core/base/error.h"

namespace ordeal {
namespace {

// In a run that leans on what led to its checkpoint.
constexpr double kLeanProb = 0.5;
// Runs of the simplest kinds come first, whoever decides: what is easy is found by them.
constexpr std::uint64_t kPlainRuns = 16;

constexpr std::uint32_t kBranches =
    bit(RunStart::kBranch) | bit(RunStart::kLeaning) | bit(RunStart::kSplice) | bit(RunStart::kRepeat);

// Where checkpoints are picked without regard to energy, one that an old edge and another rule are all that speaks for
// would be picked as often as any.
FeatureMask features_of(const SessionOptions& options) noexcept {
  FeatureMask off = options.pair_features ? 0 : mask_of(FeatureKind::kRulePair);
  if (options.checkpoint_strategy != CheckpointStrategy::kEnergy) {
    off |= mask_of(FeatureKind::kEdgeOfRule);
  }
  return options.features & ~off;
}

}  // namespace

Session::Session(MachineShape shape, const SessionOptions& options, std::shared_ptr<CoverageMap> coverage)
    : shape_(checked(shape)),
      options_(checked(options, shape_)),
      coverage_(std::move(coverage)),
      schedule_(Rng::stream(options.seed, "schedule")),
      features_(features_of(options)),
      corpus_(options.max_checkpoints, options.checkpoint_strategy),
      swarm_(shape.rules, shape.faults),
      source_(tape_),
      faults_on_(shape.faults, false) {
  ORDEAL_CHECK(coverage_ != nullptr, "a session needs a coverage map");
  source_.reuse(values_, options_.value_reuse_prob);
}

// A stream of its own for every run, here and below: what one run draws shifts nothing in the next.
Rng Session::values() const noexcept { return Rng::stream(options_.seed, "values", plan_.run_id); }

RunPlan Session::begin_run() {
  ORDEAL_CHECK(stage_ == Stage::kIdle, "run " << plan_.run_id << " has not ended");
  stage_ = Stage::kReady;
  plan_ = RunPlan{.run_id = plan_.run_id + 1};
  run_ = Rng::stream(options_.seed, "run", plan_.run_id);
  std::optional<Tape> solution = operands_.next();
  solving_ = solution.has_value();
  choose_kind();
  plan_.steps = draw_steps();
  steps_left_ = plan_.steps;
  source_.begin_run();
  live_ = values();
  source_.live(live_);
  source_.reset_misaligned();
  initializers_left_.resize(shape_.initializers);
  std::iota(initializers_left_.begin(), initializers_left_.end(), 0U);
  faults_on_.assign(shape_.faults, false);
  previous_code_ = 0;
  run_edges_ = 0;
  run_nearer_ = 0;
  run_worth_ = 0;
  run_reward_ = 0;
  rejected_ = false;
  coverage_->begin_run();
  features_.begin_run(plan_.run_id);
  // What ran between two runs (a replay to confirm a failure) is seen, but no run's merit.
  static_cast<void>(coverage_->take_fresh());
  choose_start();
  if (solution) {
    follow(*std::move(solution));
  }
  choose_configuration();
  return plan_;
}

void Session::choose_kind() {
  kind_ = {};
  if (solving_) {
    return;
  }
  if (options_.policy == SwarmPolicy::kAdaptive) {
    Rng rng = Rng::stream(options_.seed, "kind of run", plan_.run_id);
    const RunKinds allowed = allowed_kinds(rng);
    kind_ = runs_.draw(rng, allowed);
  } else if (schedule_.chance(*options_.checkpoint_prob) && !corpus_.empty()) {
    kind_.start = RunStart::kBranch;
  }
}

RunKinds Session::allowed_kinds(Rng& rng) const {
  RunKinds allowed{.swarms = allowed_swarms()};
  if (options_.checkpoint_prob) {
    const bool branches = rng.chance(*options_.checkpoint_prob);
    allowed.starts = branches ? kBranches : bit(RunStart::kFresh) | bit(RunStart::kEdit);
  }
  if (options_.seed_mutation_prob) {
    allowed.starts &= ~bit(RunStart::kLeaning);
  }
  if (plan_.run_id <= kPlainRuns) {
    allowed.starts &= bit(RunStart::kFresh) | bit(RunStart::kBranch);
  }
  if (corpus_.empty()) {
    allowed.starts = bit(RunStart::kFresh);
  }
  return allowed;
}

bool Session::learns_swarm() const noexcept {
  const bool by_policy = options_.policy == SwarmPolicy::kAdaptive && options_.swarm == SwarmLaw::kOff;
  return options_.rule_swarm.value_or(by_policy) && shape_.rules + shape_.faults > 1;
}

// All of one kind where an option says how configurations are drawn.
std::uint32_t Session::allowed_swarms() const noexcept {
  if (options_.rule_swarm || !learns_swarm() || plan_.run_id <= kPlainRuns) {
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

std::uint32_t Session::draw_steps() {
  const std::uint32_t most = options_.steps_per_run;
  const std::uint32_t quarter = (most + 3) / 4;
  switch (kind_.length) {
    case RunLength::kShort:
      return static_cast<std::uint32_t>(1 + run_.below(quarter));
    case RunLength::kLong:
      return static_cast<std::uint32_t>(most - run_.below(quarter));
    case RunLength::kAny:
      break;
  }
  return static_cast<std::uint32_t>(1 + run_.below(most));
}

void Session::choose_start() {
  prefix_.clear();
  prefix_position_ = 0;
  step_of_prefix_ = false;
  sequence_ = {};
  sequence_position_ = 0;
  step_of_sequence_ = false;
  lean_prob_ = 0.0;
  if (kind_.start == RunStart::kFresh) {
    return;
  }
  const Checkpoint* checkpoint = corpus_.pick(schedule_);
  if (kind_.start != RunStart::kEdit) {
    prefix_ = checkpoint->prefix;
    plan_.checkpoint = checkpoint->id;
    plan_.prefix_steps = prefix_.size();
    lean_prob_ = kind_.start == RunStart::kLeaning ? kLeanProb : options_.seed_mutation_prob.value_or(0.0);
  }
  choose_sequence(*checkpoint);
}

void Session::choose_sequence(const Checkpoint& checkpoint) {
  Rng rng = Rng::stream(options_.seed, "sequence", plan_.run_id);
  if (kind_.start == RunStart::kSplice) {
    std::vector<const Tape*> donors(1 + rng.below(kDonorsMax));
    std::ranges::generate(donors, [&] { return &corpus_.pick(schedule_)->prefix; });
    sequence_ = splice(rng, donors, plan_.steps);
  } else if (kind_.start == RunStart::kRepeat) {
    sequence_ = repeat(rng, checkpoint.prefix, plan_.steps);
  } else if (kind_.start == RunStart::kEdit) {
    sequence_ = edit(rng, checkpoint.prefix);
  }
}

bool Session::draws_rules() const noexcept {
  return plan_.swarm != RunPlan::kNoSwarm || law_ == SwarmLaw::kSizes || law_ == SwarmLaw::kHypothesis;
}

void Session::choose_configuration() {
  // A stream of its own, so that nothing of it has to be remembered from run to run.
  Rng rng = Rng::stream(options_.seed, "op weights", plan_.run_id);
  configuration_ = draw_configuration(rng);
  for (std::size_t rule = 0; rule < shape_.rules; ++rule) {
    configuration_.rules[rule] = configuration_.rules[rule] || options_.operations[rule].always_on;
  }
  weights_ = weights_of_run(rng);
  apply_configuration();
}

SwarmConfiguration Session::draw_configuration(Rng& rng) {
  choose_law();
  if (plan_.swarm != RunPlan::kNoSwarm) {
    return swarm_.configuration(plan_.swarm);
  }
  SwarmConfiguration drawn{std::vector<bool>(shape_.rules, true), std::vector<bool>(shape_.faults, true)};
  if (law_ == SwarmLaw::kCoins && shape_.faults > 1) {
    drawn.faults = draw_faults();
  } else if (law_ == SwarmLaw::kSizes) {
    drawn = {draw_kept(rng, options_.operations), draw_by_size(rng, shape_.faults)};
  } else if (law_ == SwarmLaw::kHypothesis) {
    drawn = draw_shared(rng);
  }
  return drawn;
}

// By the options, where they say so, and else by the kind of the run, which then says what was chosen either way.
void Session::choose_law() {
  law_ = options_.swarm;
  const bool learns = learns_swarm();
  if (options_.rule_swarm || !learns) {
    plan_.swarm = learns ? swarm_.draw(schedule_) : RunPlan::kNoSwarm;
    kind_.swarm = learns ? kind_of(swarm_.source(plan_.swarm)) : kind_of(law_);
    return;
  }
  switch (kind_.swarm) {
    case RunSwarm::kFull:
      break;
    case RunSwarm::kCoins:
      plan_.swarm = swarm_.draw(schedule_, SwarmSource::kCoinFlip);
      break;
    case RunSwarm::kSizes:
      law_ = SwarmLaw::kSizes;
      break;
    case RunSwarm::kShared:
      law_ = SwarmLaw::kHypothesis;
      break;
    case RunSwarm::kDirected:
      plan_.swarm = swarm_.draw(schedule_, SwarmSource::kDirected);
      break;
    case RunSwarm::kEnergy:
      plan_.swarm = swarm_.draw(schedule_, SwarmSource::kEnergy);
      break;
  }
}

// Rules and faults share the probability.
SwarmConfiguration Session::draw_shared(Rng& rng) const {
  const std::vector<bool> both = draw_by_share(rng, std::size_t{shape_.rules} + shape_.faults);
  const auto middle = both.begin() + shape_.rules;
  SwarmConfiguration drawn{{both.begin(), middle}, {middle, both.end()}};
  if (drawn.rule_count() == 0) {
    drawn.rules[rng.below(shape_.rules)] = true;
  }
  return drawn;
}

// Empty when all rules that are on are alike.
std::vector<std::uint32_t> Session::weights_of_run(Rng& rng) const {
  const std::vector<Operation>& operations = options_.operations;
  if (law_ == SwarmLaw::kSizes) {
    return draw_weights(rng, operations, configuration_.rules);
  }
  if (std::ranges::all_of(operations, [](const Operation& operation) { return operation.base == 1; })) {
    return {};
  }
  std::vector<std::uint32_t> weights(operations.size(), 0);
  for (std::size_t rule = 0; rule < weights.size(); ++rule) {
    weights[rule] = configuration_.rules[rule] ? operations[rule].base : 0;
  }
  return weights;
}

void Session::apply_configuration() {
  rules_.resize(shape_.rules);
  std::iota(rules_.begin(), rules_.end(), 0U);
  const auto is_on = [&](std::uint32_t rule) { return static_cast<bool>(configuration_.rules[rule]); };
  rules_active_ = rules_.size() - std::ranges::stable_partition(rules_, is_on).size();
  faults_.clear();
  for (std::uint32_t i = 0; i < shape_.faults; ++i) {
    if (configuration_.faults[i]) {
      faults_.push_back(i);
    }
  }
}

std::vector<bool> Session::draw_faults() {
  std::vector<bool> faults(shape_.faults, false);
  for (std::vector<bool>::reference fault : faults) {
    fault = schedule_.chance(0.5);
  }
  if (std::ranges::find(faults, true) == faults.end()) {
    faults[schedule_.below(faults.size())] = true;
  }
  return faults;
}

void Session::restored() {
  ORDEAL_CHECK(stage_ == Stage::kReady, "run " << plan_.run_id << " waits for no step");
  ORDEAL_CHECK(plan_.checkpoint != 0 && prefix_position_ == 0, "nothing to restore in run " << plan_.run_id);
  source_.take_prefix(prefix_);
  for (const TapeStep& step : tape_.steps()) {
    note_step(step);
  }
  prefix_position_ = prefix_.size();
}

NextStep Session::next() {
  ORDEAL_CHECK(stage_ == Stage::kReady, "run " << plan_.run_id << " waits for no step");
  step_of_prefix_ = prefix_position_ < prefix_.size();
  step_of_sequence_ = false;
  const NextStep step = step_of_prefix_ ? next_of_prefix() : next_step();
  features_.begin_step();
  enter_rule(step);
  if (step.kind != NextKind::kEnd && step.kind != NextKind::kStuck) {
    stage_ = Stage::kProposed;
  }
  return step;
}

NextStep Session::next_of_prefix() {
  const TapeStep& step = prefix_.step(prefix_position_++);
  source_.begin_step(step.kind, step.target, step.origin);
  source_.replay(prefix_, step);
  return {next_kind(step.kind), step.target};
}

// What it draws live goes on where it stopped, whatever was read from a tape meanwhile.
void Session::go_live() {
  if (!source_.is_live()) {
    source_.live(live_);
  }
}

void Session::replay(const Tape& tape, const TapeStep& step) {
  if (source_.is_live()) {
    live_ = source_.rng();
  }
  source_.replay(tape, step);
}

// Whether a step can change anything here. Whether a rule is allowed, the driver finds out.
bool Session::applies(const TapeStep& step) const noexcept {
  switch (step.kind) {
    case StepKind::kInitialize:
      return std::ranges::find(initializers_left_, step.target) != initializers_left_.end();
    case StepKind::kFaultOn:
      return !faults_on_[step.target];
    case StepKind::kFaultOff:
      return faults_on_[step.target];
    case StepKind::kRule:
      break;
  }
  return true;
}

// Nothing when it is over, or when an initialize rule must come first.
std::optional<NextStep> Session::next_of_sequence() {
  while (sequence_position_ < sequence_.tape.size() && steps_left_ > 0 && tape_.size() < kTapeStepsMax) {
    const TapeStep& step = sequence_.tape.step(sequence_position_);
    if (step.kind != StepKind::kInitialize && !initializers_left_.empty()) {
      break;
    }
    const bool is_changed = sequence_.changed[sequence_position_++];
    if (!applies(step)) {
      continue;
    }
    steps_left_ -= counts_sequence() ? 1U : 0U;
    step_of_sequence_ = true;
    if (is_changed) {
      go_live();
      source_.lean_on(sequence_.tape, step);
    } else {
      replay(sequence_.tape, step);
    }
    return propose(next_kind(step.kind), step.target);
  }
  return std::nullopt;
}

NextStep Session::next_step() {
  if (const auto step = next_of_sequence()) {
    return *step;
  }
  go_live();
  source_.stop_leaning();
  if (std::exchange(rejected_, false)) {
    return next_rule();
  }
  if (steps_left_ == 0 || tape_.size() >= kTapeStepsMax) {
    return {NextKind::kEnd, 0};
  }
  --steps_left_;
  if (!initializers_left_.empty()) {
    return propose(NextKind::kInitialize, initializers_left_[run_.below(initializers_left_.size())]);
  }
  if (auto fault = next_fault()) {
    return *fault;
  }
  rules_offered_ = 0;
  return next_rule();
}

NextStep Session::propose(NextKind kind, std::uint32_t target) {
  // Not the size: a step of the prefix may have been rejected, and an origin must stay unique.
  const std::uint32_t origin = tape_.empty() ? 0 : tape_.last_step().origin + 1;
  source_.begin_step(step_kind(kind), target, origin);
  return {kind, target};
}

std::optional<NextStep> Session::next_fault() {
  if (faults_.empty() || !run_.chance(options_.fault_toggle_prob)) {
    return std::nullopt;
  }
  const std::uint32_t fault = faults_[run_.below(faults_.size())];
  return propose(faults_on_[fault] ? NextKind::kFaultOff : NextKind::kFaultOn, fault);
}

// Draws without replacement: first among the active rules, then, when none of them can run, among the others.
NextStep Session::next_rule() {
  if (rules_offered_ == rules_.size()) {
    return {NextKind::kStuck, 0};
  }
  std::swap(rules_[rules_offered_], rules_[pick_rule()]);
  const std::uint32_t rule = rules_[rules_offered_++];
  lean_on_prefix(rule);
  return propose(NextKind::kRule, rule);
}

// By weight among the active rules that are left. The others have none: there one is as good as another.
std::size_t Session::pick_rule() {
  const bool among_active = rules_offered_ < rules_active_;
  const std::size_t end = among_active ? rules_active_ : rules_.size();
  if (weights_.empty() || !among_active) {
    return rules_offered_ + run_.below(end - rules_offered_);
  }
  std::uint64_t total = 0;
  for (std::size_t i = rules_offered_; i < end; ++i) {
    total += weights_[rules_[i]];
  }
  std::uint64_t left = run_.below(total);
  std::size_t pick = rules_offered_;
  while (left >= weights_[rules_[pick]]) {
    left -= weights_[rules_[pick++]];
  }
  return pick;
}

// What led to the checkpoint is a good start for going on from it: the values there match the state.
void Session::lean_on_prefix(std::uint32_t rule) {
  source_.stop_leaning();
  if (lean_prob_ <= 0 || prefix_.empty() || !run_.chance(lean_prob_)) {
    return;
  }
  for (const TapeStep& step : prefix_.steps() | std::views::reverse) {
    if (step.kind == StepKind::kRule && step.target == rule) {
      source_.lean_on(prefix_, step);
      return;
    }
  }
}

void Session::reject() {
  ORDEAL_CHECK(stage_ == Stage::kProposed, "run " << plan_.run_id << " proposed no step");
  const bool is_read = step_of_prefix_ || step_of_sequence_;
  ORDEAL_CHECK(is_read || tape_.last_step().kind == StepKind::kRule, "only a rule can be rejected");
  stage_ = Stage::kReady;
  source_.drop_step();
  rejected_ = !is_read;
  steps_left_ += step_of_sequence_ && counts_sequence() ? 1U : 0U;
}

SessionState Session::save() const {
  ORDEAL_CHECK(!running(), "run " << plan_.run_id << " has not ended");
  SessionState state{.runs = plan_.run_id,
                     .schedule = schedule_.state(),
                     .next_checkpoint = next_checkpoint_,
                     .checkpoints_saved = checkpoints_saved_,
                     .checkpoints = {},
                     .swarm = swarm_.save(),
                     .runs_by_kind = runs_.save(),
                     .coverage = coverage_->save(),
                     .features = features_.save(),
                     .values = values_.save(),
                     .operands = operands_.save()};
  state.checkpoints.reserve(corpus_.size());
  for (const Checkpoint* checkpoint : corpus_.entries()) {
    state.checkpoints.push_back(*checkpoint);
  }
  return state;
}

void Session::restore(SessionState state) {
  ORDEAL_CHECK(plan_.run_id == 0, "run " << plan_.run_id << " has begun");
  for (const Checkpoint& checkpoint : state.checkpoints) {
    if (checkpoint.prefix.size() >= kTapeStepsMax) {
      throw TraceError("checkpoint " + std::to_string(checkpoint.id) + " has " +
                       std::to_string(checkpoint.prefix.size()) + " steps; it must have fewer than " +
                       std::to_string(kTapeStepsMax));
    }
  }
  plan_.run_id = state.runs;
  schedule_.set_state(state.schedule);
  next_checkpoint_ = state.next_checkpoint;
  checkpoints_saved_ = state.checkpoints_saved;
  for (Checkpoint& checkpoint : state.checkpoints) {
    // Draws only when fewer checkpoints are allowed than were saved.
    corpus_.add(std::move(checkpoint), schedule_);
  }
  swarm_.restore(std::move(state.swarm));
  runs_.restore(std::move(state.runs_by_kind));
  coverage_->restore(state.coverage);
  features_.restore(state.features);
  for (ShelvedValue& shelved : state.values) {
    values_.add(shelved.shelf, std::move(shelved.value));
  }
  operands_.restore(std::move(state.operands));
}

}  // namespace ordeal
