#include "core/search/learning.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/base/check.h"
#include "core/search/run_state.h"

namespace ordeal {
namespace {

// So many finds wait to be given: a session that shares nothing must not remember all it ever kept.
constexpr std::size_t kFindsMax = 4'096;
// As much energy as a find takes along: the session that takes it has states of its own.
constexpr double kEnergyGivenMax = 100.0;
// Rules past so many share a bit with earlier ones: then an edge of one may hide that of another, and nothing is wrong.
constexpr std::uint64_t kRuleBits = 64;

// Larger finds weigh more, but not in proportion: that an import runs a hundred new edges says little.
std::uint32_t reward_of(const StepNews& news) noexcept {
  return static_cast<std::uint32_t>(std::bit_width((std::uint64_t{news.edges} * 4) + news.features));
}

std::uint32_t step_code(const TapeStep& step) noexcept {
  return (step.target << 3U) | (static_cast<std::uint32_t>(step.kind) + 1U);
}

// The last step, and the one before it; 0 where there is none.
std::uint64_t last_pair(const Tape& tape) {
  const std::uint64_t before = tape.size() > 1 ? step_code(tape.step(tape.size() - 2)) : 0;
  return (before << 32U) | step_code(tape.last_step());
}

double in_edges(std::uint32_t worth) noexcept { return static_cast<double>(worth) / Features::kWorthOfEdge; }

// A state kept for little is the first to make room. One kept for no feature at all is as good as one kept for an edge.
double energy_at_first(std::uint32_t worth) noexcept {
  return worth > 0 ? kEnergyInitial * std::min(1.0, in_edges(worth)) : kEnergyInitial;
}

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

Learning::Learning(const MachineShape& shape, const SessionOptions& options, std::shared_ptr<CoverageMap> coverage)
    : shape_(shape),
      keeps_checkpoints_(options.max_checkpoints > 0 && options.checkpoint_prob.value_or(1.0) > 0),
      coverage_(std::move(coverage)),
      features_(features_of(options)),
      corpus_(options.max_checkpoints, options.checkpoint_strategy) {
  ORDEAL_CHECK(coverage_ != nullptr, "a session needs a coverage map");
}

void Learning::begin_run(std::uint64_t run_id) {
  ORDEAL_CHECK(run_id > run_id_, "run " << run_id << " comes after run " << run_id_);
  run_id_ = run_id;
  tally_ = {};
  is_of_prefix_ = false;
  coverage_->begin_run();
  features_.begin_run(run_id);
  // What ran between two runs (a replay to confirm a failure) is seen, but no run's merit.
  static_cast<void>(coverage_->take_fresh());
}

void Learning::begin_step(const NextStep& step, bool is_of_prefix) {
  is_of_prefix_ = is_of_prefix;
  features_.begin_step();
  enter_rule(step);
}

// Every rule, initialize rule and fault has a bit of its own. Where locations fall silent, an edge tells its rule when
// it is new and in the runs in which all locations report again: a sample, and it costs nothing in the other runs.
void Learning::enter_rule(const NextStep& step) noexcept {
  std::uint64_t number = step.target;
  switch (step.kind) {
    case NextKind::kRule:
      break;
    case NextKind::kInitialize:
      number += shape_.rules;
      break;
    case NextKind::kFaultOn:
    case NextKind::kFaultOff:
      number += std::uint64_t{shape_.rules} + shape_.initializers;
      break;
    case NextKind::kEnd:
    case NextKind::kStuck:
      coverage_->enter_rule(0);
      return;
  }
  coverage_->enter_rule(features_.has(FeatureKind::kEdgeOfRule) ? std::uint64_t{1} << (number % kRuleBits) : 0);
}

void Learning::feature(FeatureKind kind, std::uint64_t key) {
  if (!is_of_prefix_) {
    features_.see(kind, key);
  }
}

void Learning::bundle_size(std::uint32_t bundle, std::size_t size) {
  if (!is_of_prefix_) {
    features_.bundle_size(bundle, size);
  }
}

StepNews Learning::end_step(const Tape& tape, std::uint64_t state_hash, std::uint32_t nearer) {
  if (state_hash != 0) {
    feature(FeatureKind::kStateHash, state_hash);
  }
  feature(FeatureKind::kRulePair, last_pair(tape));
  return take_news(tape, coverage_->take_fresh(), nearer);
}

StepNews Learning::take_news(const Tape& tape, const Fresh& fresh, std::uint32_t nearer) {
  coverage_->enter_rule(0);
  features_.fresh(FeatureKind::kEdge, fresh.edges);
  if (fresh.edges > 0) {
    for (const std::uint32_t edge : coverage_->fresh_edges()) {
      features_.show_edge(coverage_->key(edge));
    }
  }
  // A fresh edge brings its first bucket and its first rule along, which are no news beside it.
  ORDEAL_DCHECK(fresh.buckets >= fresh.edges, fresh.edges << " new edges, but " << fresh.buckets << " new buckets");
  features_.fresh(FeatureKind::kHitCount, fresh.buckets - fresh.edges);
  features_.fresh(FeatureKind::kEdgeOfRule, fresh.rules - std::min(fresh.rules, fresh.edges));
  step_nearer_ = features_.has(FeatureKind::kDistance) ? nearer : 0;
  const FeatureNews found = features_.take_step();
  const StepNews news{fresh.edges, found.count + step_nearer_};
  step_worth_ = found.worth;
  tally_.edges += news.edges;
  tally_.nearer += step_nearer_;
  tally_.worth += found.worth;
  if (is_of_prefix_ || !news.any()) {
    return news;
  }
  if (news.edges > 0) {
    keep_values_of(tape, tape.last_step());
  }
  tally_.reward += reward_of(news);
  return news;
}

void Learning::keep_values_of(const Tape& tape, const TapeStep& step) {
  for (const TapeArgument& argument : tape.arguments(step)) {
    for (const Choice& choice : tape.choices(argument)) {
      values_.add(ValueShelf::kProductive, choice);
    }
  }
}

Kept Learning::keep(const Tape& tape, Rng& schedule) {
  ORDEAL_CHECK(!tape.empty(), "run " << run_id_ << " has no step that is done");
  if (!keeps_checkpoints_ || tape.size() >= RunState::kTapeStepsMax) {
    return {};
  }
  Checkpoint checkpoint;
  checkpoint.prefix = tape;
  checkpoint.energy = rewarded(energy_at_first(step_worth_), step_nearer_);
  checkpoint.new_edges = tally_.edges;
  checkpoint.shows.assign(features_.shown().begin(), features_.shown().end());
  ++checkpoints_saved_;
  if (!checkpoint.shows.empty() && to_give_.size() < kFindsMax) {
    to_give_.push_back(next_checkpoint_);
  }
  return add(std::move(checkpoint), schedule);
}

Kept Learning::add(Checkpoint checkpoint, Rng& schedule) {
  checkpoint.id = next_checkpoint_++;
  checkpoint.step = static_cast<std::uint32_t>(checkpoint.prefix.size());
  checkpoint.run_id = run_id_;
  Kept kept{checkpoint.id, std::nullopt};
  kept.evicted = corpus_.add(std::move(checkpoint), schedule);
  return kept;
}

std::vector<Find> Learning::take_finds() {
  std::vector<Find> finds;
  for (const std::uint64_t id : std::exchange(to_give_, {})) {
    if (const Checkpoint* const kept = corpus_.find(id); kept != nullptr) {
      finds.push_back(
          {.prefix = kept->prefix, .shows = kept->shows, .energy = std::min(kept->energy, kEnergyGivenMax)});
    }
  }
  return finds;
}

Kept Learning::adopt(Find find, Rng& schedule) {
  bool is_news = false;
  for (const Feature& feature : find.shows) {
    is_news |= feature.kind == FeatureKind::kEdge ? coverage_->adopt(feature.key) : features_.adopt(feature);
  }
  if (!is_news || !keeps_checkpoints_ || find.prefix.empty() || find.prefix.size() >= RunState::kTapeStepsMax) {
    return {};
  }
  Checkpoint checkpoint;
  checkpoint.energy = find.energy;
  checkpoint.prefix = std::move(find.prefix);
  checkpoint.shows = std::move(find.shows);
  return add(std::move(checkpoint), schedule);
}

RunTally Learning::end_run(const PlannedRun& run) {
  ORDEAL_CHECK(run.plan.run_id == run_id_, "run " << run.plan.run_id << " ends in run " << run_id_);
  coverage_->enter_rule(0);
  const std::uint32_t edges_at_end = coverage_->take_fresh().edges;  // of a last step that did not end
  coverage_->end_run();
  tally_.edges += edges_at_end;
  tally_.worth += edges_at_end * Features::kWorthOfEdge;
  tally_.reward += reward_of({.edges = edges_at_end});
  operands_.end_run(tally_.edges, run.solving);
  reward_checkpoint(run.plan.checkpoint);
  return tally_;
}

// What the run found speaks for the state that it started from, edges or not; to find less than an edge is worth does
// not make up for the run. One that came nearer takes nothing and brings nothing: the energy is where it came to.
void Learning::reward_checkpoint(std::uint64_t id) {
  const Checkpoint* const checkpoint = corpus_.find(id);
  if (checkpoint == nullptr) {
    return;
  }
  if (tally_.worth < Features::kWorthOfEdge && tally_.nearer == 0) {
    corpus_.decay(id);
  }
  if (tally_.worth > 0) {
    corpus_.reward(id, in_edges(tally_.worth));
  }
  corpus_.set_commonness(id, commonness_of(*checkpoint));
}

// Of the rarest of its features: that is what it was kept for. How many runs show the bucket or the rule of an edge
// nobody counts; how often the checkpoint was selected stands for that, as it does in AFLFast's schedules.
std::uint32_t Learning::commonness_of(const Checkpoint& checkpoint) const {
  const std::uint64_t sampled = std::max<std::uint64_t>(coverage_->runs_sampled(), 1);
  if (checkpoint.shows.empty()) {
    return commonness(checkpoint.times_selected);
  }
  std::uint64_t rarest = UINT64_MAX;
  for (const Feature& feature : checkpoint.shows) {
    const std::uint64_t runs = feature.kind == FeatureKind::kEdge ? coverage_->runs_of(feature.key) * run_id_ / sampled
                                                                  : features_.runs_of(feature);
    rarest = std::min(rarest, runs);
  }
  return commonness(rarest);
}

const Tape& Learning::tape_to_watch(const Tape& last) const {
  const Checkpoint* const checkpoint = operands_.checkpoint_to_watch(corpus_);
  return checkpoint == nullptr ? last : checkpoint->prefix;
}

std::size_t Learning::learn_comparisons(const Tape& last, std::span<const Comparison> comparisons) {
  const Checkpoint* const checkpoint = operands_.checkpoint_to_watch(corpus_);
  return operands_.learn(tape_to_watch(last), checkpoint == nullptr ? 0 : checkpoint->id, comparisons, values_);
}

std::optional<Discovery> Learning::discovery() const {
  return coverage_->edges_seen() > 0 ? estimate_discovery(coverage_->abundance())
                                     : estimate_discovery(features_.abundance(run_id_));
}

void Learning::save(SessionState& state) const {
  state.runs = run_id_;
  state.next_checkpoint = next_checkpoint_;
  state.checkpoints_saved = checkpoints_saved_;
  state.checkpoints.reserve(corpus_.size());
  for (const Checkpoint* checkpoint : corpus_.entries()) {
    state.checkpoints.push_back(*checkpoint);
  }
  state.coverage = coverage_->save();
  state.features = features_.save();
  state.values = values_.save();
  state.operands = operands_.save();
}

void Learning::restore(SessionState state, Rng& schedule) {
  run_id_ = state.runs;
  next_checkpoint_ = state.next_checkpoint;
  checkpoints_saved_ = state.checkpoints_saved;
  for (Checkpoint& checkpoint : state.checkpoints) {
    corpus_.add(std::move(checkpoint), schedule);
  }
  coverage_->restore(state.coverage);
  features_.restore(state.features);
  for (ShelvedValue& shelved : state.values) {
    values_.add(shelved.shelf, std::move(shelved.value));
  }
  operands_.restore(std::move(state.operands));
}

}  // namespace ordeal
