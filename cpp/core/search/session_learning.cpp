// What a session learns from its runs: the news of each step, what is kept for them, and what they are worth at the
// end.
#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "core/base/check.h"
#include "core/search/session.h"

namespace ordeal {
namespace {

// What a run costs, in quarters of a step: its machine, each new step, a step of its prefix, whether that is run again
// or restored from a snapshot, and how many choices are worth as much as one quarter.
constexpr std::uint64_t kCostOfRun = 16;
constexpr std::uint64_t kCostOfStep = 4;
constexpr std::uint64_t kChoicesPerCost = 4;
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

double in_edges(std::uint32_t worth) noexcept { return static_cast<double>(worth) / Features::kWorthOfEdge; }

// A state kept for little is the first to make room. One kept for no feature at all is as good as one kept for an edge.
double energy_at_first(std::uint32_t worth) noexcept {
  return worth > 0 ? kEnergyInitial * std::min(1.0, in_edges(worth)) : kEnergyInitial;
}

}  // namespace

void Session::note_step(const TapeStep& step) {
  if (is_fault(step.kind)) {
    faults_on_[step.target] = step.kind == StepKind::kFaultOn;
  } else if (step.kind == StepKind::kInitialize) {
    std::erase(initializers_left_, step.target);
  }
  previous_code_ = step_code(step);
}

// Every rule, initialize rule and fault has a bit of its own. Where locations fall silent, an edge tells its rule when
// it is new and in the runs in which all locations report again: a sample, and it costs nothing in the other runs.
void Session::enter_rule(const NextStep& step) noexcept {
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

void Session::feature(FeatureKind kind, std::uint64_t key) {
  if (!step_of_prefix_) {
    features_.see(kind, key);
  }
}

void Session::bundle_size(std::uint32_t bundle, std::size_t size) {
  if (!step_of_prefix_) {
    features_.bundle_size(bundle, size);
  }
}

StepNews Session::done(std::uint64_t state_hash, std::uint32_t nearer) {
  ORDEAL_CHECK(stage_ == Stage::kProposed, "run " << plan_.run_id << " proposed no step");
  stage_ = Stage::kReady;
  const std::uint32_t before = previous_code_;
  note_step(tape_.last_step());
  if (state_hash != 0) {
    feature(FeatureKind::kStateHash, state_hash);
  }
  feature(FeatureKind::kRulePair, (static_cast<std::uint64_t>(before) << 32U) | previous_code_);
  return take_news(coverage_->take_fresh(), nearer);
}

// Edges of the teardown are left to end_run(): they are no merit of the state before it.
StepNews Session::finished(std::uint32_t nearer) {
  ORDEAL_CHECK(stage_ == Stage::kReady, "a step of run " << plan_.run_id << " is not done");
  return take_news({}, nearer);
}

StepNews Session::take_news(const Fresh& fresh, std::uint32_t nearer) {
  coverage_->enter_rule(0);
  features_.fresh(FeatureKind::kEdge, fresh.edges);
  if (fresh.edges > 0) {
    for (const std::uint32_t edge : coverage_->fresh_edges()) {
      features_.show_edge(coverage_->key(edge));
    }
  }
  // A fresh edge brings its first bucket and its first rule along, which are no news beside it.
  features_.fresh(FeatureKind::kHitCount, fresh.buckets - fresh.edges);
  features_.fresh(FeatureKind::kEdgeOfRule, fresh.rules - std::min(fresh.rules, fresh.edges));
  step_nearer_ = features_.has(FeatureKind::kDistance) ? nearer : 0;
  const FeatureNews found = features_.take_step();
  const StepNews news{fresh.edges, found.count + step_nearer_};
  step_worth_ = found.worth;
  run_edges_ += news.edges;
  run_nearer_ += step_nearer_;
  if (news.edges > 0 && !step_of_prefix_) {
    keep_values_of_step();
  }
  run_worth_ += found.worth;
  if (!step_of_prefix_ && news.any()) {
    run_reward_ += reward_of(news);
  }
  return news;
}

Kept Session::keep() {
  ORDEAL_CHECK(stage_ == Stage::kReady && !tape_.empty(), "run " << plan_.run_id << " has no step that is done");
  if (!keeps_checkpoints() || tape_.size() >= kTapeStepsMax) {
    return {};
  }
  Checkpoint checkpoint;
  checkpoint.id = next_checkpoint_++;
  checkpoint.prefix = tape_;
  checkpoint.energy = rewarded(energy_at_first(step_worth_), step_nearer_);
  checkpoint.new_edges = run_edges_;
  checkpoint.step = static_cast<std::uint32_t>(tape_.size());
  checkpoint.run_id = plan_.run_id;
  checkpoint.shows.assign(features_.shown().begin(), features_.shown().end());
  ++checkpoints_saved_;
  if (!checkpoint.shows.empty() && to_give_.size() < kFindsMax) {
    to_give_.push_back(checkpoint.id);
  }
  Kept kept{checkpoint.id, std::nullopt};
  kept.evicted = corpus_.add(std::move(checkpoint), schedule_);
  return kept;
}

std::vector<Find> Session::take_finds() {
  ORDEAL_CHECK(stage_ == Stage::kIdle, "run " << plan_.run_id << " is under way");
  std::vector<Find> finds;
  for (const std::uint64_t id : std::exchange(to_give_, {})) {
    if (const Checkpoint* const kept = corpus_.find(id); kept != nullptr) {
      finds.push_back(
          {.prefix = kept->prefix, .shows = kept->shows, .energy = std::min(kept->energy, kEnergyGivenMax)});
    }
  }
  return finds;
}

Kept Session::adopt(Find find) {
  ORDEAL_CHECK(stage_ == Stage::kIdle, "run " << plan_.run_id << " is under way");
  bool is_news = false;
  for (const Feature& feature : find.shows) {
    is_news |= feature.kind == FeatureKind::kEdge ? coverage_->adopt(feature.key) : features_.adopt(feature);
  }
  if (!is_news || !keeps_checkpoints() || find.prefix.empty() || find.prefix.size() >= kTapeStepsMax) {
    return {};
  }
  Checkpoint checkpoint;
  checkpoint.id = next_checkpoint_++;
  checkpoint.energy = find.energy;
  checkpoint.step = static_cast<std::uint32_t>(find.prefix.size());
  checkpoint.prefix = std::move(find.prefix);
  checkpoint.shows = std::move(find.shows);
  checkpoint.run_id = plan_.run_id;
  Kept kept{checkpoint.id, std::nullopt};
  kept.evicted = corpus_.add(std::move(checkpoint), schedule_);
  return kept;
}

bool Session::keeps_checkpoints() const noexcept {
  return options_.max_checkpoints > 0 && options_.checkpoint_prob.value_or(1.0) > 0;
}

// No seconds: the same seed must go the same way. A run costs the same whether its prefix was restored or run again, as
// it is after resuming in another process.
std::uint64_t Session::cost_of_run() const noexcept {
  const std::size_t of_prefix = std::min(tape_.size(), prefix_.size());
  const std::size_t choices = tape_.choice_count() - std::min(tape_.choice_count(), prefix_.choice_count());
  return kCostOfRun + (kCostOfStep * (tape_.size() - of_prefix)) + of_prefix + (choices / kChoicesPerCost);
}

void Session::end_run() {
  ORDEAL_CHECK(stage_ != Stage::kIdle, "no run to end");
  stage_ = Stage::kIdle;
  source_.end_run();
  coverage_->enter_rule(0);
  const std::uint32_t edges_at_end = coverage_->take_fresh().edges;  // of a last step that did not end
  coverage_->end_run();
  run_edges_ += edges_at_end;
  run_worth_ += edges_at_end * Features::kWorthOfEdge;
  if (!solving_) {
    runs_.report(kind_, run_reward_ + reward_of({.edges = edges_at_end}), cost_of_run());
  }
  operands_.end_run(run_edges_, solving_);
  reward_checkpoint();
  if (plan_.swarm != RunPlan::kNoSwarm) {
    swarm_.report(plan_.swarm, run_edges_);
  }
}

// What the run found speaks for the state that it started from, edges or not; to find less than an edge is worth does
// not make up for the run. One that came nearer takes nothing and brings nothing: the energy is where it came to.
void Session::reward_checkpoint() {
  const std::uint64_t id = plan_.checkpoint;
  const Checkpoint* checkpoint = corpus_.find(id);
  if (checkpoint == nullptr) {
    return;
  }
  if (run_worth_ < Features::kWorthOfEdge && run_nearer_ == 0) {
    corpus_.decay(id);
  }
  if (run_worth_ > 0) {
    corpus_.reward(id, in_edges(run_worth_));
  }
  corpus_.set_commonness(id, commonness_of(*checkpoint));
}

// Of the rarest of its features: that is what it was kept for. How many runs show the bucket or the rule of an edge
// nobody counts; how often the checkpoint was selected stands for that, as it does in AFLFast's schedules.
std::uint32_t Session::commonness_of(const Checkpoint& checkpoint) const {
  const std::uint64_t sampled = std::max<std::uint64_t>(coverage_->runs_sampled(), 1);
  if (checkpoint.shows.empty()) {
    return commonness(checkpoint.times_selected);
  }
  std::uint64_t rarest = UINT64_MAX;
  for (const Feature& feature : checkpoint.shows) {
    const std::uint64_t runs = feature.kind == FeatureKind::kEdge
                                   ? coverage_->runs_of(feature.key) * plan_.run_id / sampled
                                   : features_.runs_of(feature);
    rarest = std::min(rarest, runs);
  }
  return commonness(rarest);
}

std::optional<Discovery> Session::discovery() const {
  return coverage_->edges_seen() > 0 ? estimate_discovery(coverage_->abundance())
                                     : estimate_discovery(features_.abundance(plan_.run_id));
}

}  // namespace ordeal
