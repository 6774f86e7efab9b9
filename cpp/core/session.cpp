#include "core/session.h"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <sstream>
#include <string>
#include <utility>

#include "core/check.h"
#include "core/error.h"

namespace ordeal {
namespace {

constexpr std::uint64_t kStateFeature = 0x5354'4154'4500'0001ULL;
constexpr std::uint64_t kPairFeature = 0x5041'4952'0000'0002ULL;

void check_probability(const char* name, double value) {
  if (!(value >= 0.0 && value <= 1.0)) {  // a NaN is neither
    std::ostringstream text;
    text << name << " is " << value << "; it must be between 0 and 1";
    throw ConfigError(text.str());
  }
}

SessionOptions checked(const SessionOptions& options) {
  check_probability("checkpoint_prob", options.checkpoint_prob);
  check_probability("fault_toggle_prob", options.fault_toggle_prob);
  check_probability("seed_mutation_prob", options.seed_mutation_prob);
  if (options.steps_per_run == 0) {
    throw ConfigError("steps_per_run is 0; it must be at least 1");
  }
  return options;
}

void check_between(const char* what, std::uint32_t value, std::uint32_t max) {
  if (value < 1 || value > max) {
    throw ConfigError(std::string(what) + " is " + std::to_string(value) + "; it must be between 1 and " +
                      std::to_string(max));
  }
}

void check_count(const char* what, std::uint32_t count) {
  if (count > MachineShape::kTargetsMax) {
    throw ConfigError("the machine has " + std::to_string(count) + " " + what + "; at most " +
                      std::to_string(MachineShape::kTargetsMax) + " are possible");
  }
}

void check_operations(const std::vector<Operation>& operations, std::uint32_t rules) {
  if (!operations.empty() && operations.size() != rules) {
    throw ConfigError("the machine has " + std::to_string(rules) + " rules, but " + std::to_string(operations.size()) +
                      " are weighted");
  }
  for (const Operation& operation : operations) {
    check_between("a cap", operation.cap, Operation::kWeightMax);
    check_between("a weight", operation.base, Operation::kBaseMax);
  }
}

MachineShape checked(const MachineShape& shape) {
  check_count("rules", shape.rules);
  check_count("initialize rules", shape.initializers);
  check_count("faults", shape.faults);
  if (shape.rules == 0) {
    throw ConfigError("the machine has no rules; it must have at least one");
  }
  return shape;
}

std::uint32_t step_code(const TapeStep& step) noexcept {
  return (step.target << 3U) | (static_cast<std::uint32_t>(step.kind) + 1U);
}

}  // namespace

Session::Session(MachineShape shape, const SessionOptions& options, std::shared_ptr<CoverageMap> coverage)
    : shape_(checked(shape)),
      options_(checked(options)),
      coverage_(std::move(coverage)),
      schedule_(Rng::stream(options.seed, "schedule")),
      corpus_(options.max_checkpoints, options.checkpoint_strategy),
      swarm_(shape.rules, shape.faults),
      source_(tape_),
      faults_on_(shape.faults, false) {
  ORDEAL_CHECK(coverage_ != nullptr, "a session needs a coverage map");
  check_operations(options_.operations, shape.rules);
  options_.operations.resize(shape.rules);
}

// A stream of its own for every run, here and below: what one run draws shifts nothing in the next.
Rng Session::values() const noexcept { return Rng::stream(options_.seed, "values", plan_.run_id); }

RunPlan Session::begin_run() {
  ORDEAL_CHECK(stage_ == Stage::kIdle, "run " << plan_.run_id << " has not ended");
  stage_ = Stage::kReady;
  plan_ = RunPlan{.run_id = plan_.run_id + 1};
  run_ = Rng::stream(options_.seed, "run", plan_.run_id);
  plan_.steps = static_cast<std::uint32_t>(1 + run_.below(options_.steps_per_run));
  steps_left_ = plan_.steps;
  tape_.clear();
  source_.live(values());
  source_.reset_misaligned();
  initializers_left_.resize(shape_.initializers);
  std::iota(initializers_left_.begin(), initializers_left_.end(), 0U);
  faults_on_.assign(shape_.faults, false);
  previous_code_ = 0;
  run_edges_ = 0;
  run_nearer_ = 0;
  rejected_ = false;
  coverage_->begin_run();
  // What ran between two runs (a replay to confirm a failure) is seen, but no run's merit.
  static_cast<void>(coverage_->take_fresh());
  choose_start();
  choose_configuration();
  return plan_;
}

void Session::choose_start() {
  prefix_.clear();
  prefix_position_ = 0;
  step_of_prefix_ = false;
  if (!schedule_.chance(options_.checkpoint_prob) || corpus_.empty()) {
    return;
  }
  const Checkpoint* checkpoint = corpus_.pick(schedule_);
  prefix_ = checkpoint->prefix;
  plan_.checkpoint = checkpoint->id;
  plan_.prefix_steps = prefix_.size();
}

bool Session::draws_rules() const noexcept {
  return plan_.swarm != RunPlan::kNoSwarm || options_.swarm == SwarmLaw::kSizes ||
         options_.swarm == SwarmLaw::kHypothesis;
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
  if (options_.rule_swarm && shape_.rules + shape_.faults > 1) {
    plan_.swarm = swarm_.draw(schedule_);
    return swarm_.configuration(plan_.swarm);
  }
  SwarmConfiguration drawn{std::vector<bool>(shape_.rules, true), std::vector<bool>(shape_.faults, true)};
  if (options_.swarm == SwarmLaw::kCoins && shape_.faults > 1) {
    drawn.faults = draw_faults();
  } else if (options_.swarm == SwarmLaw::kSizes) {
    drawn = {draw_kept(rng, options_.operations), draw_by_size(rng, shape_.faults)};
  } else if (options_.swarm == SwarmLaw::kHypothesis) {
    drawn = draw_shared(rng);
  }
  return drawn;
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
  if (options_.swarm == SwarmLaw::kSizes) {
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
  tape_ = prefix_;
  for (const TapeStep& step : tape_.steps()) {
    note_step(step);
  }
  prefix_position_ = prefix_.size();
}

void Session::note_step(const TapeStep& step) {
  if (is_fault(step.kind)) {
    faults_on_[step.target] = step.kind == StepKind::kFaultOn;
  } else if (step.kind == StepKind::kInitialize) {
    std::erase(initializers_left_, step.target);
  }
  previous_code_ = step_code(step);
}

NextStep Session::next() {
  ORDEAL_CHECK(stage_ == Stage::kReady, "run " << plan_.run_id << " waits for no step");
  step_of_prefix_ = prefix_position_ < prefix_.size();
  const NextStep step = step_of_prefix_ ? next_of_prefix() : next_step();
  if (step.kind != NextKind::kEnd && step.kind != NextKind::kStuck) {
    stage_ = Stage::kProposed;
  }
  return step;
}

NextStep Session::next_of_prefix() {
  const TapeStep& step = prefix_.step(prefix_position_++);
  tape_.begin_step(step.kind, step.target, step.origin);
  source_.replay(prefix_, step);
  return {next_kind(step.kind), step.target};
}

NextStep Session::next_step() {
  if (!source_.is_live()) {
    source_.live(values());
  }
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
  tape_.begin_step(step_kind(kind), target, origin);
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
  if (options_.seed_mutation_prob <= 0 || prefix_.empty() || !run_.chance(options_.seed_mutation_prob)) {
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
  ORDEAL_CHECK(step_of_prefix_ || tape_.last_step().kind == StepKind::kRule, "only a rule can be rejected");
  stage_ = Stage::kReady;
  tape_.drop_step();
  rejected_ = !step_of_prefix_;
}

StepNews Session::done(std::uint64_t state_hash, std::uint32_t nearer) {
  ORDEAL_CHECK(stage_ == Stage::kProposed, "run " << plan_.run_id << " proposed no step");
  stage_ = Stage::kReady;
  const std::uint32_t before = previous_code_;
  note_step(tape_.last_step());
  const Fresh fresh = coverage_->take_fresh();
  StepNews news{fresh.edges, fresh.buckets + nearer};
  if (state_hash != 0) {
    news.features += note_feature(kStateFeature ^ mix64(state_hash));
  }
  if (options_.pair_features) {
    const std::uint64_t pair = (static_cast<std::uint64_t>(before) << 32U) | previous_code_;
    news.features += note_feature(kPairFeature ^ mix64(pair));
  }
  run_edges_ += news.edges;
  run_nearer_ += nearer;
  step_nearer_ = nearer;
  return news;
}

// How much is new: 1 or 0.
std::uint32_t Session::note_feature(std::uint64_t key) {
  if (coverage_->features_seen() >= kFeaturesMax) {
    return 0;
  }
  return coverage_->add_feature(mix64(key)) ? 1 : 0;
}

Kept Session::keep() {
  ORDEAL_CHECK(stage_ == Stage::kReady && !tape_.empty(), "run " << plan_.run_id << " has no step that is done");
  if (options_.max_checkpoints == 0 || options_.checkpoint_prob <= 0 || tape_.size() >= kTapeStepsMax) {
    return {};
  }
  Checkpoint checkpoint;
  checkpoint.id = next_checkpoint_++;
  checkpoint.prefix = tape_;
  checkpoint.energy = rewarded(kEnergyInitial, step_nearer_);
  checkpoint.new_edges = run_edges_;
  checkpoint.step = static_cast<std::uint32_t>(tape_.size());
  checkpoint.run_id = plan_.run_id;
  ++checkpoints_saved_;
  Kept kept{checkpoint.id, std::nullopt};
  kept.evicted = corpus_.add(std::move(checkpoint), schedule_);
  return kept;
}

void Session::end_run() {
  ORDEAL_CHECK(stage_ != Stage::kIdle, "no run to end");
  stage_ = Stage::kIdle;
  run_edges_ += coverage_->take_fresh().edges;  // of a last step that did not end
  if (plan_.checkpoint != 0 && run_edges_ > 0) {
    corpus_.reward(plan_.checkpoint, run_edges_);
  } else if (plan_.checkpoint != 0 && run_nearer_ == 0) {
    // A run that came nearer takes nothing and brings nothing: the energy is where it came to.
    corpus_.decay(plan_.checkpoint);
  }
  if (plan_.swarm != RunPlan::kNoSwarm) {
    swarm_.report(plan_.swarm, run_edges_);
  }
}

SessionState Session::save() const {
  ORDEAL_CHECK(!running(), "run " << plan_.run_id << " has not ended");
  SessionState state{.runs = plan_.run_id,
                     .schedule = schedule_.state(),
                     .next_checkpoint = next_checkpoint_,
                     .checkpoints_saved = checkpoints_saved_,
                     .checkpoints = {},
                     .swarm = swarm_.save(),
                     .coverage = coverage_->save()};
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
  coverage_->restore(state.coverage);
}

}  // namespace ordeal
