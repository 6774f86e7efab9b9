#include "core/search/learning.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "core/base/check.h"
#include "core/schedule/interleaving.h"
#include "core/search/run_state.h"

namespace ordeal {
namespace {

// The maximum number of entries waiting to be taken: a session that shares nothing must not remember all it ever kept.
constexpr std::size_t kNewEntriesMax = 4'096;
// The maximum energy that a shared entry takes along: the importing session has its own states.
constexpr double kEnergyGivenMax = 100.0;
// Rules past this number share a bit with earlier ones: then an edge of one may hide that of another, which does no
// harm.
constexpr std::uint64_t kRuleBits = 64;

// More novelty is rewarded more, but not in proportion: that an import runs a hundred new edges says little.
std::uint32_t reward_of(const StepNovelty& novelty) noexcept {
  return static_cast<std::uint32_t>(std::bit_width((std::uint64_t{novelty.edges} * 4) + novelty.features));
}

std::uint32_t step_code(const TapeStep& step) noexcept {
  return (step.target << 3U) | (static_cast<std::uint32_t>(step.kind) + 1U);
}

// The last step, and the one before it; 0 where there is none.
std::uint64_t last_pair(const Tape& tape) {
  const std::uint64_t before = tape.size() > 1 ? step_code(tape.step(tape.size() - 2)) : 0;
  return (before << 32U) | step_code(tape.last_step());
}

double in_edges(std::uint32_t weight) noexcept { return static_cast<double>(weight) / Features::kWeightOfEdge; }

// A state kept for little is the first to make room. A state kept for no feature is worth as much as one kept for an
// edge.
double energy_at_first(std::uint32_t weight) noexcept {
  return weight > 0 ? kEnergyInitial * std::min(1.0, in_edges(weight)) : kEnergyInitial;
}

// When checkpoints are picked regardless of energy, one kept only for a known edge in another rule would be picked as
// often as any.
FeatureMask features_of(const SessionOptions& options) noexcept {
  FeatureMask off = options.pair_features ? 0 : mask_of(FeatureKind::kRulePair);
  if (options.checkpoint_strategy != CheckpointStrategy::kEnergy) {
    off |= mask_of(FeatureKind::kEdgeOfRule);
  }
  return options.features & ~off;
}

}  // namespace

// If no run would ever start from a checkpoint, none is kept.
Learning::Learning(const MachineShape& shape, const SessionOptions& options, std::shared_ptr<CoverageMap> coverage)
    : shape_(shape),
      keeps_checkpoints_(options.max_checkpoints > 0 && options.checkpoint_prob.value_or(1.0) > 0),
      coverage_(std::move(coverage)),
      features_(features_of(options)),
      corpus_(options.max_checkpoints, options.checkpoint_strategy) {
  ORDEAL_CHECK(coverage_ != nullptr, "a session needs a coverage map");
}

// `start` is the prefix that the run begins with; empty for a fresh machine.
void Learning::begin_run(std::uint64_t run_id, Prefix start) {
  ORDEAL_CHECK(run_id > run_id_, "run " << run_id << " comes after run " << run_id_);
  run_id_ = run_id;
  begins_with_latest_ = start.empty();
  latest_ = std::move(start);
  first_of_run_ = next_checkpoint_;
  tally_ = {};
  is_of_prefix_ = false;
  coverage_->begin_run();
  features_.begin_run(run_id);
  // Code that ran between two runs (a replay to confirm a failure) is seen, but credited to no run.
  static_cast<void>(coverage_->take_new_coverage());
}

// Features reported between two steps belong to the one that begins.
void Learning::begin_step(const NextStep& step, bool is_of_prefix) {
  is_of_prefix_ = is_of_prefix;
  features_.begin_step();
  raised_.clear();
  climbs_ = false;
  enter_rule(step);
}

// Every rule, initialize rule and fault has its own bit. If locations are silenced, an edge reports its rule when it is
// new and in the runs in which all locations report again: a sample that costs nothing in other runs.
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

// Everything about a step of the prefix was reported when it first ran.
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

// Each level is a kind, so that the many orders do not hide what is decided.
void Learning::interleaved(std::span<const std::uint64_t> features) {
  static constexpr std::array<FeatureKind, kFeatureLevels> kKinds{FeatureKind::kTaskStep, FeatureKind::kTaskOrder,
                                                                  FeatureKind::kDecision};
  for (const std::uint64_t each : features) {
    feature(kKinds.at(static_cast<std::size_t>(Interleaving::level_of(each))), each);
  }
}

void Learning::share_climbs() noexcept {
  constexpr std::uint64_t kClimbingPart = 16;
  corpus_.set_climbs(climb_cost_ <= cost_ / kClimbingPart);
}

// Numbers below zero have a separate ladder.
void Learning::magnitude(std::uint64_t label, double value) {
  const std::uint64_t side = value < 0 ? ~label : label;
  if (!is_of_prefix_ && features_.has(FeatureKind::kMagnitude) && features_.target(side, std::abs(value))) {
    raised_.push_back(side);
  }
}

// The order decides which features a checkpoint lists first.
StepNovelty Learning::end_step(const Tape& tape, std::uint64_t state_hash, std::uint32_t improved) {
  if (state_hash != 0) {
    feature(FeatureKind::kStateHash, state_hash);
  }
  feature(FeatureKind::kRulePair, last_pair(tape));
  return take_novelty(tape, coverage_->take_new_coverage(), improved);
}

// The values of a step that brought an edge are worth drawing again; those of steps with only other features would soon
// fill the dictionary.
StepNovelty Learning::take_novelty(const Tape& tape, const NewCoverage& new_coverage, std::uint32_t improved) {
  coverage_->enter_rule(0);
  features_.add_new(FeatureKind::kEdge, new_coverage.edges);
  if (new_coverage.edges > 0) {
    for (const std::uint32_t edge : coverage_->new_edge_ids()) {
      features_.show_edge(coverage_->key(edge));
    }
  }
  // A new edge comes with its first bucket and its first rule, which are not novelty in addition.
  ORDEAL_DCHECK(new_coverage.buckets >= new_coverage.edges,
                new_coverage.edges << " new edges, but " << new_coverage.buckets << " new buckets");
  features_.add_new(FeatureKind::kHitCount, new_coverage.buckets - new_coverage.edges);
  features_.add_new(FeatureKind::kEdgeOfRule, new_coverage.rules - std::min(new_coverage.rules, new_coverage.edges));
  step_improved_ = features_.has(FeatureKind::kDistance) ? improved : 0;
  // A property that came nearer says more, and hands its energy on only between states that are kept for nothing else.
  if (step_improved_ > 0) {
    raised_.clear();
  }
  features_.add_new(FeatureKind::kMagnitude, static_cast<std::uint32_t>(raised_.size()));
  const NewFeatures found = features_.take_step();
  const StepNovelty novelty{new_coverage.edges, found.count + step_improved_};
  step_weight_ = found.weight;
  tally_.edges += novelty.edges;
  tally_.improved += step_improved_;
  tally_.weight += found.weight;
  climbs_ = !raised_.empty() && novelty.edges == 0 && novelty.features == raised_.size();
  if (is_of_prefix_ || !novelty.any()) {
    raised_.clear();
    return novelty;
  }
  if (novelty.edges > 0) {
    keep_values_of(tape, tape.last_step());
  }
  if (!climbs_) {
    tally_.reward += reward_of(novelty);
  }
  return novelty;
}

// The dictionary leaves out values that are drawn often anyway.
void Learning::keep_values_of(const Tape& tape, const TapeStep& step) {
  for (const TapeArgument& argument : tape.arguments(step)) {
    for (const Choice& choice : tape.choices(argument)) {
      values_.add(DictionarySource::kProductive, choice);
    }
  }
}

// The last step of the prefix is the novel one, so a run from here starts just after it.
KeepResult Learning::keep(const Tape& tape, Rng& schedule) {
  ORDEAL_CHECK(!tape.empty(), "run " << run_id_ << " has no step that is done");
  if (!keeps_checkpoints_ || tape.size() >= RunState::kTapeStepsMax) {
    return {};
  }
  Checkpoint checkpoint;
  checkpoint.prefix = prefix_of(tape);
  checkpoint.energy = rewarded(energy_at_first(step_weight_), step_improved_);
  checkpoint.new_edges = tally_.edges;
  checkpoint.shows.assign(features_.shown().begin(), features_.shown().end());
  if (!checkpoint.shows.empty() && new_entries_.size() < kNewEntriesMax) {
    new_entries_.push_back(next_checkpoint_);
  }
  // Runs climb from the new tip. The one before it has become useless, and many such would crowd out other states.
  std::optional<std::uint64_t> superseded;
  for (const std::uint64_t label : std::exchange(raised_, {})) {
    const std::uint64_t before = std::exchange(tips_[label], climbs_ ? next_checkpoint_ : 0);
    const bool is_tip = std::ranges::any_of(tips_, [=](const auto& tip) { return tip.second == before; });
    if (!superseded && !is_tip && corpus_.remove(before)) {
      superseded = before;
    }
  }
  checkpoint.is_tip = climbs_;
  KeepResult kept = add(std::move(checkpoint), schedule);
  if (!kept.evicted) {
    kept.evicted = superseded;
  }
  return kept;
}

// Steps shared with the previous checkpoint of the run, or with its start, are held once. Only the start is compared:
// one of its steps may have been left out, or have drawn something else.
Prefix Learning::prefix_of(const Tape& tape) {
  if (!std::exchange(begins_with_latest_, true) && !latest_.begins(tape)) {
    latest_ = Prefix();
  }
  latest_ = Prefix(latest_, tape);
  return latest_;
}

// Numbers increase over all processes that continue this session, so that ids stay unique.
KeepResult Learning::add(Checkpoint checkpoint, Rng& schedule) {
  checkpoint.id = next_checkpoint_++;
  ++checkpoints_saved_;
  checkpoint.step = static_cast<std::uint32_t>(checkpoint.prefix.size());
  checkpoint.run_id = run_id_;
  KeepResult kept{checkpoint.id, std::nullopt};
  kept.evicted = corpus_.add(std::move(checkpoint), schedule);
  if (corpus_.find(kept.id) == nullptr) {
    kept.id = 0;  // its bytes do not fit
  }
  return kept;
}

// Without those that have made room meanwhile.
std::vector<SharedEntry> Learning::take_new_entries() {
  std::vector<SharedEntry> entries;
  for (const std::uint64_t id : std::exchange(new_entries_, {})) {
    if (const Checkpoint* const kept = corpus_.find(id); kept != nullptr) {
      entries.push_back(
          {.prefix = kept->prefix.tape(), .shows = kept->shows, .energy = std::min(kept->energy, kEnergyGivenMax)});
    }
  }
  return entries;
}

// Every feature is imported, whether or not the first one was new: what others saw is not novelty here from now on.
KeepResult Learning::import_entry(SharedEntry entry, Rng& schedule) {
  bool is_new = false;
  for (const Feature& feature : entry.shows) {
    is_new |=
        feature.kind == FeatureKind::kEdge ? coverage_->import_edge(feature.key) : features_.import_feature(feature);
  }
  if (!is_new || !keeps_checkpoints_ || entry.prefix.empty() || entry.prefix.size() >= RunState::kTapeStepsMax) {
    return {};
  }
  Checkpoint checkpoint;
  checkpoint.energy = entry.energy;
  checkpoint.prefix = Prefix(entry.prefix);
  checkpoint.shows = std::move(entry.shows);
  return add(std::move(checkpoint), schedule);
}

// New edges of such a step, and of the teardown, count for the run, but for no checkpoint.
void Learning::take_unfinished() {
  coverage_->enter_rule(0);
  const std::uint32_t edges = coverage_->take_new_coverage().edges;
  tally_.edges += edges;
  tally_.weight += edges * Features::kWeightOfEdge;
  tally_.reward += reward_of({.edges = edges});
}

// What the last step reached is taken first, also when it failed.
RunTally Learning::end_run(const PlannedRun& run, std::uint64_t cost, double slowness) {
  ORDEAL_CHECK(run.spec.run_id == run_id_, "run " << run.spec.run_id << " ends in run " << run_id_);
  take_unfinished();
  coverage_->end_run();
  cmplog_.end_run(tally_.edges, run.follows_solution);
  reward_checkpoint(run.spec.checkpoint);
  note_slowness(run.spec.checkpoint, slowness);
  cost_ += cost;
  climb_cost_ += run.climbs && tally_.reward == 0 ? cost : 0;
  share_climbs();
  return tally_;
}

// One run says little about the state that it started from. For the states that it passed it is all that is known.
void Learning::note_slowness(std::uint64_t start, double slowness) {
  if (slowness == 1) {
    return;  // unknown, or irrelevant
  }
  if (const Checkpoint* const checkpoint = corpus_.find(start); checkpoint != nullptr) {
    corpus_.set_slowness(start, (checkpoint->slowness + slowness) / 2);
  }
  for (std::uint64_t id = first_of_run_; id < next_checkpoint_; ++id) {
    corpus_.set_slowness(id, slowness);
  }
}

// Rewards the state that the run started from for the run's discoveries, edges or not. A run that found less than the
// weight of an edge costs energy all the same. A run that only improved a property does neither: the checkpoint that it
// left has the energy for that.
void Learning::reward_checkpoint(std::uint64_t id) {
  const Checkpoint* const checkpoint = corpus_.find(id);
  if (checkpoint == nullptr) {
    return;
  }
  if (tally_.weight < Features::kWeightOfEdge && tally_.improved == 0) {
    corpus_.decay(id);
  }
  if (tally_.weight > 0) {
    corpus_.reward(id, in_edges(tally_.weight));
  }
  corpus_.set_frequency_class(id, frequency_class_of(*checkpoint));
}

// The class of its rarest feature, for which it was kept. How many runs show a hit bucket or a rule of an edge is not
// counted; if a checkpoint shows nothing else, the number of its selections is used, as in AFLFast's schedules.
std::uint32_t Learning::frequency_class_of(const Checkpoint& checkpoint) const {
  const std::uint64_t sampled = std::max<std::uint64_t>(coverage_->runs_sampled(), 1);
  if (checkpoint.shows.empty()) {
    return frequency_class(checkpoint.times_selected);
  }
  std::uint64_t rarest = UINT64_MAX;
  for (const Feature& feature : checkpoint.shows) {
    const std::uint64_t runs = feature.kind == FeatureKind::kEdge ? coverage_->runs_of(feature.key) * run_id_ / sampled
                                                                  : features_.runs_of(feature);
    rarest = std::min(rarest, runs);
  }
  return frequency_class(rarest);
}

std::size_t Learning::learn_comparisons(const Tape& last, std::span<const Comparison> comparisons) {
  const Checkpoint* const checkpoint = checkpoint_to_watch();
  return checkpoint == nullptr ? cmplog_.learn(last, 0, comparisons, values_)
                               : cmplog_.learn(checkpoint->prefix.tape(), checkpoint->id, comparisons, values_);
}

std::optional<SpeciesEstimate> Learning::species_estimate() const {
  return coverage_->edges_seen() > 0 ? estimate_species(coverage_->sample_counts())
                                     : estimate_species(features_.sample_counts(run_id_));
}

// Saves what a restored session needs to continue in the same way.
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
  state.cmplog = cmplog_.save();
  state.tips.assign(tips_.begin(), tips_.end());
  state.cost = cost_;
  state.climb_cost = climb_cost_;
  std::ranges::sort(state.tips);
}

// Values are added in order, so that the newest are the newest again.
void Learning::restore(SessionState state, Rng& schedule) {
  run_id_ = state.runs;
  next_checkpoint_ = state.next_checkpoint;
  checkpoints_saved_ = state.checkpoints_saved;
  Prefix last;
  for (Checkpoint& checkpoint : state.checkpoints) {
    // One run keeps several checkpoints; each continues from the previous one.
    if (const Tape tape = checkpoint.prefix.tape(); last.begins(tape)) {
      checkpoint.prefix = Prefix(last, tape);
    }
    last = checkpoint.prefix;
    corpus_.add(std::move(checkpoint), schedule);
  }
  coverage_->restore(state.coverage);
  features_.restore(state.features);
  for (DictionaryEntry& entry : state.values) {
    values_.add(entry.source, std::move(entry.value));
  }
  cmplog_.restore(std::move(state.cmplog));
  tips_.insert(state.tips.begin(), state.tips.end());
  cost_ = state.cost;
  climb_cost_ = state.climb_cost;
  share_climbs();
}

}  // namespace ordeal
