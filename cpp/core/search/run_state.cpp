#include "core/search/run_state.h"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <utility>

#include "core/base/check.h"

namespace ordeal {
namespace {

// What a run costs, in quarters of a step: its machine, each new step, a step of its prefix, whether that is run again
// or restored from a snapshot, and how many choices count as one quarter.
constexpr std::uint64_t kCostOfRun = 16;
constexpr std::uint64_t kCostOfStep = 4;
constexpr std::uint64_t kChoicesPerCost = 4;

}  // namespace

RunState::RunState(const MachineShape& shape, const SessionOptions& options, const RuleStats& stats)
    : shape_(shape),
      fault_toggle_prob_(options.fault_toggle_prob),
      steps_max_(options.steps_per_run),
      stats_(&stats),
      source_(tape_),
      faults_on_(shape.faults, false) {}

// Resets everything that one run leaves for the next; new members of the state must be added here.
void RunState::begin(const Rng& values) {
  ORDEAL_CHECK(planned_.configuration.rules.size() == shape_.rules, "the plan is of another machine");
  ORDEAL_CHECK(planned_.configuration.faults.size() == shape_.faults, "the plan is of another machine");
  sequence_position_ = 0;
  steps_left_ = planned_.spec.steps;
  again_.clear();
  step_backs_ = 0;
  steps_again_ = 0;
  was_slow_ = false;
  repeats_ = 0;
  failed_rule_.reset();
  restart();
  live_ = values;
  source_.live(live_);
  source_.reset_misaligned();
  simplify();
  apply_configuration();
}

// The state right after a machine is made, at the beginning and after a step back.
void RunState::restart() {
  prefix_position_ = 0;
  step_of_prefix_ = false;
  step_of_sequence_ = false;
  rejected_ = false;
  source_.begin_run();
  initializers_left_.resize(shape_.initializers);
  std::iota(initializers_left_.begin(), initializers_left_.end(), 0U);
  faults_on_.assign(shape_.faults, false);
}

// The active rules come first, in order: next_rule() draws from the front.
void RunState::apply_configuration() {
  const SwarmConfiguration& configuration = planned_.configuration;
  rules_.resize(shape_.rules);
  std::iota(rules_.begin(), rules_.end(), 0U);
  const auto is_on = [&](std::uint32_t rule) { return static_cast<bool>(configuration.rules[rule]); };
  rules_active_ = rules_.size() - std::ranges::stable_partition(rules_, is_on).size();
  faults_.clear();
  for (std::uint32_t i = 0; i < shape_.faults; ++i) {
    if (configuration.faults[i]) {
      faults_.push_back(i);
    }
  }
}

// Notes each step as if it had run, to restore faults and initialize rules.
void RunState::restored(std::size_t steps) {
  const RunSpec& spec = planned_.spec;
  const bool is_kept = steps >= planned_.prefix.size() && steps <= prefix().size();
  ORDEAL_CHECK(steps > 0 && is_kept && prefix_position_ == 0, "no " << steps << " steps in run " << spec.run_id);
  source_.take_prefix(prefix(), steps);
  for (const TapeStep& step : tape_.steps()) {
    note_step(step);
  }
  prefix_position_ = steps;
}

// The prefix, the sequence, random steps: in this order.
NextStep RunState::next() {
  step_of_prefix_ = prefix_left() > 0;
  step_of_sequence_ = false;
  return step_of_prefix_ ? next_of_prefix() : next_step();
}

NextStep RunState::next_of_prefix() {
  const TapeStep& step = prefix().step(prefix_position_++);
  source_.begin_step(step.kind, step.target, step.origin);
  source_.replay(prefix(), step);
  return {next_kind(step.kind), step.target};
}

// Live draws continue where they stopped before the tape was read.
void RunState::go_live() {
  if (!source_.is_live()) {
    source_.live(live_);
  }
}

void RunState::replay(const Tape& tape, const TapeStep& step) {
  if (source_.is_live()) {
    live_ = source_.rng();
  }
  source_.replay(tape, step);
}

// Whether a step can change anything here, and its rule need not wait. Whether that is allowed, the driver finds out.
bool RunState::applies(const TapeStep& step) const noexcept {
  switch (step.kind) {
    case StepKind::kInitialize:
      return std::ranges::find(initializers_left_, step.target) != initializers_left_.end();
    case StepKind::kFaultOn:
      return !faults_on_[step.target];
    case StepKind::kFaultOff:
      return faults_on_[step.target];
    case StepKind::kRule:
      return !stats_->waits(step.target);
  }
  return true;
}

// Runs from checkpoints go beyond the steps of one run together, so that a chain of them reaches what is deep.
bool RunState::has_room() const noexcept {
  return tape_.size() < std::min(planned_.prefix.size() + steps_max_, kTapeStepsMax);
}

// Nothing when the sequence is over, or when an initialize rule must come first.
std::optional<NextStep> RunState::next_of_sequence() {
  const MutatedSequence& sequence = planned_.sequence;
  while (sequence_position_ < sequence.tape.size() && steps_left_ > 0 && has_room()) {
    const TapeStep& step = sequence.tape.step(sequence_position_);
    if (step.kind != StepKind::kInitialize && !initializers_left_.empty()) {
      break;
    }
    const bool is_changed = sequence.changed[sequence_position_++];
    if (!applies(step)) {
      continue;
    }
    steps_left_ -= counts_sequence() ? 1U : 0U;
    step_of_sequence_ = true;
    if (is_changed) {
      go_live();
      source_.mutate_from(sequence.tape, step);
    } else {
      replay(sequence.tape, step);
    }
    return propose(next_kind(step.kind), step.target);
  }
  return std::nullopt;
}

// An initialize rule comes before everything else, and a fault before a rule. A rejected rule is replaced by another at
// once.
NextStep RunState::next_step() {
  if (const auto step = next_of_sequence()) {
    return *step;
  }
  go_live();
  source_.stop_mutating();
  if (std::exchange(rejected_, false)) {
    return next_rule();
  }
  if (steps_left_ == 0 || !has_room()) {
    return {NextKind::kEnd, 0};
  }
  --steps_left_;
  if (!initializers_left_.empty()) {
    return propose(NextKind::kInitialize, initializers_left_[planned_.rng.below(initializers_left_.size())]);
  }
  if (auto fault = next_fault()) {
    return *fault;
  }
  rules_offered_ = 0;
  return next_rule();
}

NextStep RunState::propose(NextKind kind, std::uint32_t target) {
  // Not the size: a step of the prefix may have been rejected, and an origin must stay unique.
  const std::uint32_t origin = tape_.empty() ? 0 : tape_.last_step().origin + 1;
  source_.begin_step(step_kind(kind), target, origin);
  redraws_ = 0;
  return {kind, target};
}

// Switches a fault in the share of steps that the options name, under every policy: on, if it is off, and off again.
std::optional<NextStep> RunState::next_fault() {
  if (faults_.empty() || !planned_.rng.chance(fault_toggle_prob_)) {
    return std::nullopt;
  }
  const std::uint32_t fault = faults_[planned_.rng.below(faults_.size())];
  return propose(faults_on_[fault] ? NextKind::kFaultOff : NextKind::kFaultOn, fault);
}

// Draws without replacement: first among the active rules, then, when none of them can run, among the others.
NextStep RunState::next_rule() {
  if (rules_offered_ == rules_.size()) {
    return {NextKind::kStuck, 0};
  }
  std::size_t pick = pick_rule();
  for (std::uint32_t avoided = 0; avoided < kAvoidedMax && stats_->avoids(tape_, rules_[pick], planned_.rng);
       ++avoided) {
    pick = pick_rule();
  }
  if (stats_->avoids_expensive(rules_[pick], planned_.rng)) {
    pick = pick_rule();
  }
  std::swap(rules_[rules_offered_], rules_[pick]);
  const std::uint32_t rule = rules_[rules_offered_++];
  mutate_from_prefix(rule);
  return propose(NextKind::kRule, rule);
}

// By weight among the remaining active rules. The others have no weights, and are drawn uniformly, also where one of
// them has taken the place of one that waits.
std::size_t RunState::pick_rule() {
  const std::vector<std::uint32_t>& weights = planned_.weights;
  bool among_active = rules_offered_ < rules_active_;
  std::size_t end = end_without_failed(among_active ? rules_active_ : rules_.size());
  if (stats_->any_waits()) [[unlikely]] {
    // Prefer a rule that the swarm left out to one that waits.
    among_active = among_active && end_without_waiting(end) > rules_offered_;
    const std::size_t ready = end_without_waiting(among_active ? end : rules_.size());
    end = ready > rules_offered_ ? ready : end;
  }
  std::uint64_t total = 0;
  for (std::size_t i = rules_offered_; among_active && !weights.empty() && i < end; ++i) {
    total += weights[rules_[i]];
  }
  if (total == 0) {
    return rules_offered_ + planned_.rng.below(end - rules_offered_);
  }
  std::uint64_t left = planned_.rng.below(total);
  std::size_t pick = rules_offered_;
  while (left >= weights[rules_[pick]]) {
    left -= weights[rules_[pick++]];
  }
  ORDEAL_DCHECK(pick < end, "the weights of the active rules do not add up to " << total);
  return pick;
}

// Moves the rule that has just failed to the end of those that can be picked, which it shortens, unless it is alone.
std::size_t RunState::end_without_failed(std::size_t end) {
  if (!failed_rule_ || end - rules_offered_ < 2) {
    return end;
  }
  const auto first = rules_.begin() + static_cast<std::ptrdiff_t>(rules_offered_);
  const auto last = rules_.begin() + static_cast<std::ptrdiff_t>(end);
  const auto found = std::find(first, last, *failed_rule_);
  if (found == last) {
    return end;
  }
  std::iter_swap(found, last - 1);
  return end - 1;
}

// The same for the rules that wait for time, even if none is left.
std::size_t RunState::end_without_waiting(std::size_t end) {
  for (std::size_t i = end; i-- > rules_offered_;) {
    if (stats_->waits(rules_[i])) {
      std::swap(rules_[i], rules_[--end]);
    }
  }
  return end;
}

// The values that led to the checkpoint are a good start for continuing: they match the state.
void RunState::mutate_from_prefix(std::uint32_t rule) {
  source_.stop_mutating();
  if (planned_.mutate_prob <= 0 || planned_.prefix.empty() || !planned_.rng.chance(planned_.mutate_prob)) {
    return;
  }
  for (const TapeStep& step : planned_.prefix.steps() | std::views::reverse) {
    if (step.kind == StepKind::kRule && step.target == rule) {
      source_.mutate_from(planned_.prefix, step);
      return;
    }
  }
}

// A rejected step from a tape is left out; only a random one is replaced.
void RunState::reject() {
  const bool is_read = step_of_prefix_ || step_of_sequence_;
  ORDEAL_CHECK(is_read || tape_.last_step().kind == StepKind::kRule, "only a rule can be rejected");
  source_.drop_step();
  rejected_ = !is_read;
  steps_left_ += step_of_sequence_ && counts_sequence() ? 1U : 0U;
}

// What is read from a tape is never drawn again, and neither is the rest of what is changed there.
bool RunState::draws_again() {
  const TapeStep step = tape_.last_step();
  const bool may_draw = step.kind == StepKind::kRule && !step_of_prefix_ && source_.is_live();
  if (!may_draw || redraws_ == kAvoidedMax || !stats_->avoids_values(tape_, planned_.rng)) {
    return false;
  }
  ++redraws_;
  source_.stop_mutating();
  source_.drop_step();
  source_.begin_step(step.kind, step.target, step.origin);
  return true;
}

void RunState::step_done() {
  const TapeStep& step = tape_.last_step();
  note_step(step);
  if (step.kind == StepKind::kRule && !step_of_prefix_) {
    failed_rule_.reset();
  }
}

// A failure in the repeated steps shows that the machine is not deterministic. Nothing is gained by going back when no
// step may follow.
bool RunState::step_back(std::uint64_t failure, bool slow) {
  ORDEAL_CHECK(!tape_.empty(), "no step to take back in run " << planned_.spec.run_id);
  const bool is_past_prefix = !step_of_prefix_ && tape_.size() > planned_.prefix.size();
  const bool may_follow = steps_left_ > 0 && has_room();
  if (!is_past_prefix || !may_follow || step_backs_ == kStepBacksMax || (slow && was_slow_)) {
    return false;
  }
  const std::size_t taken_back = steps_to_take_back(failure);
  const std::size_t kept = tape_.size() - taken_back;
  if (repeats_ == kRepeatsMax || steps_again_ + kept > kStepsAgainMax) {
    return false;
  }
  if (source_.is_live()) {
    live_ = source_.rng();
  }
  const TapeStep failed = tape_.last_step();
  again_ = tape_;
  again_.truncate(kept);
  if (failed.kind == StepKind::kRule) {
    failed_rule_ = failed.target;
  }
  last_failure_ = failure;
  last_kept_ = kept;
  was_slow_ |= slow;
  ++step_backs_;
  steps_again_ += kept;
  restart();
  return true;
}

// One, and more when the same failure has come several times without a step between. None of the prefix: restoring the
// state of the checkpoint must be enough.
std::size_t RunState::steps_to_take_back(std::uint64_t failure) {
  constexpr std::uint32_t kRepeatsByChance = 2;
  const std::size_t done = tape_.size() - 1;
  const bool is_same = step_backs_ > 0 && failure == last_failure_ && done <= last_kept_;
  repeats_ = is_same ? repeats_ + 1 : 0;
  const std::uint32_t more = repeats_ - std::min(repeats_, kRepeatsByChance);
  return 1 + std::min<std::size_t>(more, done - planned_.prefix.size());
}

// The state on which the next steps depend.
void RunState::note_step(const TapeStep& step) {
  if (is_fault(step.kind)) {
    ORDEAL_DCHECK(step.target < faults_on_.size(), "fault " << step.target << " of " << faults_on_.size());
    faults_on_[step.target] = step.kind == StepKind::kFaultOn;
  } else if (step.kind == StepKind::kInitialize) {
    std::erase(initializers_left_, step.target);
  }
}

std::uint64_t RunState::cost() const noexcept {
  const Tape& prefix = planned_.prefix;
  const std::size_t of_prefix = std::min(tape_.size(), prefix.size());
  const std::size_t choices = tape_.choice_count() - std::min(tape_.choice_count(), prefix.choice_count());
  const std::uint64_t again = (kCostOfRun * step_backs_) + steps_again_;
  return kCostOfRun + (kCostOfStep * (tape_.size() - of_prefix)) + of_prefix + (choices / kChoicesPerCost) + again;
}

}  // namespace ordeal
