#include "core/swarm/swarm.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/corpus/power_schedule.h"

namespace ordeal {
namespace {

// The probability that a rule or fault is on: in a coin flip, and near or far from code that has not run.
constexpr double kCoin = 0.5;
constexpr double kNearGap = 0.8;
constexpr double kFarFromGap = 0.3;

// How the energy of a configuration changes: after a run with new edges, and after one without, depending on whether
// earlier ones had any.
constexpr double kBoost = 2.0;
constexpr double kDecayNeverProductive = 0.9;
constexpr double kDecayProductive = 0.98;

// Shares in percent after the warm-up; the rest is drawn by energy.
constexpr std::uint64_t kShareFull = 10;
constexpr std::uint64_t kShareCoinFlip = 15;
constexpr std::uint64_t kShareDirected = 10;

std::size_t count_set(const std::vector<bool>& flags) noexcept {
  return static_cast<std::size_t>(std::ranges::count(flags, true));
}

// In words of 64 flags. The length is hashed first, so that rules and faults cannot be confused.
std::uint64_t hash_flags(const std::vector<bool>& flags, std::uint64_t h) noexcept {
  h = mix64(h ^ flags.size());
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    word |= static_cast<std::uint64_t>(flags[i]) << (i % 64U);
    if (i % 64U == 63U || i + 1 == flags.size()) {
      h = mix64(h ^ word);
      word = 0;
    }
  }
  return h;
}

}  // namespace

std::size_t SwarmConfiguration::rule_count() const noexcept { return count_set(rules); }

std::size_t SwarmConfiguration::fault_count() const noexcept { return count_set(faults); }

std::uint64_t SwarmConfiguration::key() const noexcept { return hash_flags(faults, hash_flags(rules, 0)); }

Swarm::Swarm(std::size_t rule_count, std::size_t fault_count) : rule_count_(rule_count), fault_count_(fault_count) {
  ORDEAL_CHECK(rule_count > 0, "a swarm needs a rule");
}

std::size_t Swarm::draw(Rng& rng) { return draw(rng, draw_source(rng)); }

// How many numbers are drawn depends on the source alone.
std::size_t Swarm::draw(Rng& rng, SwarmSource source) {
  if ((source == SwarmSource::kDirected && rules_near_gaps_.empty()) ||
      (source == SwarmSource::kEnergy && history_.empty())) {
    source = SwarmSource::kCoinFlip;
  }
  const std::size_t index =
      source == SwarmSource::kEnergy ? pick_weighted(rng, energies_) : remember(draw_configuration(rng, source));
  history_[index].source = source;
  ++history_[index].waiting;
  ++draws_[static_cast<std::size_t>(source)];
  ++total_;
  return index;
}

// The first runs flip coins, because there is nothing to learn from yet.
SwarmSource Swarm::draw_source(Rng& rng) {
  if (total_ < kWarmUpRuns) {
    return SwarmSource::kWarmUp;
  }
  const std::uint64_t percent = rng.below(100);
  if (percent < kShareFull) {
    return SwarmSource::kFull;
  }
  if (percent < kShareFull + kShareCoinFlip) {
    return SwarmSource::kCoinFlip;
  }
  if (percent < kShareFull + kShareCoinFlip + kShareDirected) {
    return rules_near_gaps_.empty() ? SwarmSource::kCoinFlip : SwarmSource::kDirected;
  }
  return SwarmSource::kEnergy;
}

// Each rule and each fault is on with a chance of one half, as swarm testing proposes (Groce et al., "Swarm Testing",
// ISSTA 2012). A directed draw prefers the rules that reached the code around a gap.
SwarmConfiguration Swarm::draw_configuration(Rng& rng, SwarmSource source) const {
  if (source == SwarmSource::kFull) {
    return {std::vector<bool>(rule_count_, true), std::vector<bool>(fault_count_, true)};
  }
  SwarmConfiguration result{std::vector<bool>(rule_count_), std::vector<bool>(fault_count_)};
  for (std::size_t i = 0; i < rule_count_; ++i) {
    double p = kCoin;
    if (source == SwarmSource::kDirected) {
      p = rules_near_gaps_[i] ? kNearGap : kFarFromGap;
    }
    result.rules[i] = rng.chance(p);
  }
  for (std::size_t i = 0; i < fault_count_; ++i) {
    result.faults[i] = rng.chance(kCoin);
  }
  // A run without rules tests nothing.
  if (result.rule_count() == 0) {
    result.rules[rng.below(rule_count_)] = true;
  }
  return result;
}

// A known configuration keeps its energy: the same subset drawn again is the same arm.
std::size_t Swarm::remember(SwarmConfiguration configuration) {
  ORDEAL_DCHECK(energies_.size() == history_.size(), "energies=" << energies_.size() << " history=" << history_.size());
  const std::uint64_t key = configuration.key();
  for (std::size_t i = 0; i < history_.size(); ++i) {
    if (history_[i].key == key && history_[i].configuration == configuration) {
      return i;
    }
  }
  const std::size_t index = history_.size() < kHistoryMax ? history_.size() : replaceable();
  if (index == history_.size()) {
    history_.emplace_back();
    energies_.emplace_back();
  }
  history_[index] = {.configuration = std::move(configuration), .key = key};
  energies_[index] = kEnergyInitial;
  return index;
}

// The lowest energy among those that no run waits for; of equals the oldest.
std::size_t Swarm::replaceable() const {
  std::size_t lowest = history_.size();
  for (std::size_t i = 0; i < history_.size(); ++i) {
    if (history_[i].waiting == 0 && (lowest == history_.size() || energies_[i] < energies_[lowest])) {
      lowest = i;
    }
  }
  ORDEAL_CHECK(lowest < history_.size(), history_.size() << " draws wait for their report");
  return lowest;
}

// Energy stays within bounds, so that no configuration takes all runs and none disappears.
void Swarm::report(std::size_t index, std::uint32_t new_edges) {
  ORDEAL_CHECK(index < history_.size(), "index=" << index << " size=" << history_.size());
  Entry& entry = history_[index];
  ORDEAL_CHECK(entry.waiting > 0, "index=" << index << " has no draw to report");
  --entry.waiting;
  entry.productive = entry.productive || new_edges > 0;
  double factor = entry.productive ? kDecayProductive : kDecayNeverProductive;
  if (new_edges > 0) {
    factor = kBoost;
  }
  energies_[index] = std::clamp(energies_[index] * factor, kEnergyMin, kEnergyMax);
}

// Flags that are all off mean the same as no flags.
void Swarm::set_directed(std::vector<bool> rules_near_gaps) {
  ORDEAL_CHECK(rules_near_gaps.empty() || rules_near_gaps.size() == rule_count_,
               "flags=" << rules_near_gaps.size() << " rules=" << rule_count_);
  rules_near_gaps_ = std::move(rules_near_gaps);
  if (count_set(rules_near_gaps_) == 0) {
    rules_near_gaps_.clear();
  }
}

const SwarmConfiguration& Swarm::configuration(std::size_t index) const {
  ORDEAL_CHECK(index < history_.size(), "index=" << index << " size=" << history_.size());
  return history_[index].configuration;
}

SwarmSource Swarm::source(std::size_t index) const {
  ORDEAL_CHECK(index < history_.size(), "index=" << index << " size=" << history_.size());
  return history_[index].source;
}

double Swarm::energy(std::size_t index) const {
  ORDEAL_CHECK(index < energies_.size(), "index=" << index << " size=" << energies_.size());
  return energies_[index];
}

// O(history). For reports.
SwarmCounts Swarm::counts() const noexcept {
  const auto productive = std::ranges::count_if(history_, [](const Entry& entry) { return entry.productive; });
  return {draws_, total_, history_.size(), static_cast<std::size_t>(productive)};
}

// Between runs: a draw that was not reported yet would be lost.
SwarmState Swarm::save() const {
  SwarmState state{.history = {}, .rules_near_gaps = rules_near_gaps_, .draws = draws_, .total = total_};
  state.history.reserve(history_.size());
  for (std::size_t i = 0; i < history_.size(); ++i) {
    const Entry& entry = history_[i];
    ORDEAL_CHECK(entry.waiting == 0, "index=" << i << " has a draw to report");
    state.history.push_back({entry.configuration, entry.source, entry.productive, energies_[i]});
  }
  return state;
}

// The shape was checked when the file was read; a mismatch here is a mistake of ours.
void Swarm::restore(SwarmState state) {
  ORDEAL_CHECK(state.history.size() <= kHistoryMax, "size=" << state.history.size());
  history_.clear();
  energies_.clear();
  for (SwarmState::Entry& entry : state.history) {
    const SwarmConfiguration& configuration = entry.configuration;
    ORDEAL_CHECK(configuration.rules.size() == rule_count_, "rules=" << configuration.rules.size());
    ORDEAL_CHECK(configuration.faults.size() == fault_count_, "faults=" << configuration.faults.size());
    const std::uint64_t key = configuration.key();
    energies_.push_back(entry.energy);
    history_.push_back({.configuration = std::move(entry.configuration),
                        .key = key,
                        .source = entry.source,
                        .waiting = 0,
                        .productive = entry.productive});
  }
  draws_ = state.draws;
  total_ = state.total;
  set_directed(std::move(state.rules_near_gaps));
}

}  // namespace ordeal
