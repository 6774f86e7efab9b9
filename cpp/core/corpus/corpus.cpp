#include "core/corpus/corpus.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "core/base/check.h"
#include "core/base/error.h"

namespace ordeal {
namespace {

struct NamedStrategy {
  std::string_view name;
  CheckpointStrategy strategy;
};

// The order is that of the error message.
constexpr std::array kStrategies{
    NamedStrategy{"energy", CheckpointStrategy::kEnergy},
    NamedStrategy{"uniform", CheckpointStrategy::kUniform},
    NamedStrategy{"recent", CheckpointStrategy::kRecent},
};

constexpr std::size_t kSlotsMin = 64;

// In [0, size) with weights 1..size, without a square root: of the pairs of different numbers in [0, size], exactly k
// have k as the larger one.
std::size_t linear_rank(Rng& rng, std::size_t size) {
  const std::uint64_t first = rng.below(size + 1);
  const std::uint64_t other = rng.below(size);
  const std::uint64_t second = other < first ? other : other + 1;
  return std::max(first, second) - 1;
}

}  // namespace

CheckpointStrategy parse_strategy(std::string_view name) {
  for (const NamedStrategy& known : kStrategies) {
    if (known.name == name) {
      return known.strategy;
    }
  }
  std::string message = "checkpoint_strategy is '" + std::string(name) + "'; it must be one of:";
  for (const NamedStrategy& known : kStrategies) {
    message += (&known == kStrategies.data() ? " " : ", ");
    message += known.name;
  }
  throw ConfigError(message);
}

Corpus::Corpus(std::size_t max_checkpoints, CheckpointStrategy strategy)
    : max_checkpoints_(max_checkpoints), strategy_(strategy) {
  if (max_checkpoints > kCheckpointsMax) {
    throw ConfigError("max_checkpoints is " + std::to_string(max_checkpoints) + "; it must be between 0 and " +
                      std::to_string(kCheckpointsMax));
  }
}

std::optional<std::uint64_t> Corpus::add(Checkpoint checkpoint, Rng& rng) {
  ORDEAL_CHECK(!slot_of_.contains(checkpoint.id), "id=" << checkpoint.id << " is kept already");
  ORDEAL_CHECK(std::isfinite(checkpoint.energy) && checkpoint.energy > 0, "energy=" << checkpoint.energy);
  ORDEAL_CHECK(checkpoint.commonness <= kCommonnessMax, "commonness=" << checkpoint.commonness);
  if (max_checkpoints_ == 0) {
    return std::nullopt;
  }
  std::optional<std::uint64_t> evicted;
  if (size() == max_checkpoints_) {
    evicted = make_room(rng);
  }
  if (slots_.empty() || slots_.size() == tree_.slots()) {
    compact();
  }
  const std::size_t slot = slots_.size();
  slot_of_[checkpoint.id] = slot;
  slots_.emplace_back(std::move(checkpoint));
  weigh(slot);
  return evicted;
}

std::uint64_t Corpus::make_room(Rng& rng) {
  const std::size_t slot =
      strategy_ == CheckpointStrategy::kEnergy ? tree_.lowest() : tree_.nth(rng.below(tree_.size()));
  const std::uint64_t id = slots_[slot]->id;
  clear_slot(slot);
  return id;
}

void Corpus::clear_slot(std::size_t slot) {
  slot_of_.erase(slots_[slot]->id);
  slots_[slot].reset();
  tree_.clear(slot);
}

void Corpus::compact() {
  std::erase_if(slots_, [](const auto& slot) { return !slot.has_value(); });
  tree_.reset(std::max(kSlotsMin, 2 * slots_.size()));
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    weigh(slot);
    slot_of_[slots_[slot]->id] = slot;
  }
}

const Checkpoint* Corpus::pick(Rng& rng) {
  if (empty()) {
    return nullptr;
  }
  Checkpoint& checkpoint = *slots_[pick_slot(rng)];
  ++checkpoint.times_selected;
  return &checkpoint;
}

std::size_t Corpus::pick_slot(Rng& rng) const {
  switch (strategy_) {
    case CheckpointStrategy::kUniform:
      return tree_.nth(rng.below(size()));
    case CheckpointStrategy::kRecent:
      return tree_.nth(linear_rank(rng, size()));
    case CheckpointStrategy::kEnergy:
      break;
  }
  return tree_.at_unit(rng.below(tree_.units()));
}

void Corpus::reward(std::uint64_t id, double new_edges) {
  if (const auto found = slot_of_.find(id); found != slot_of_.end()) {
    set_energy(found->second, rewarded(slots_[found->second]->energy, new_edges));
  }
}

void Corpus::decay(std::uint64_t id) {
  if (const auto found = slot_of_.find(id); found != slot_of_.end()) {
    set_energy(found->second, decayed(slots_[found->second]->energy));
  }
}

void Corpus::set_commonness(std::uint64_t id, std::uint32_t commonness) {
  ORDEAL_CHECK(commonness <= kCommonnessMax, "commonness=" << commonness);
  if (const auto found = slot_of_.find(id); found != slot_of_.end()) {
    slots_[found->second]->commonness = commonness;
    weigh(found->second);
  }
}

void Corpus::hand_over(std::uint64_t from, std::uint64_t to) {
  const auto giver = slot_of_.find(from);
  const auto taker = slot_of_.find(to);
  if (giver == slot_of_.end() || taker == slot_of_.end()) {
    return;
  }
  const double given = slots_[giver->second]->energy - kEnergyFloor;
  set_energy(taker->second, slots_[taker->second]->energy + given);
  set_energy(giver->second, kEnergyFloor);
}

void Corpus::set_energy(std::size_t slot, double energy) {
  slots_[slot]->energy = energy;
  weigh(slot);
}

void Corpus::weigh(std::size_t slot) { tree_.set(slot, thinned(slots_[slot]->energy, slots_[slot]->commonness)); }

bool Corpus::remove(std::uint64_t id) {
  const auto found = slot_of_.find(id);
  if (found == slot_of_.end()) {
    return false;
  }
  clear_slot(found->second);
  return true;
}

const Checkpoint* Corpus::find(std::uint64_t id) const noexcept {
  const auto found = slot_of_.find(id);
  return found == slot_of_.end() ? nullptr : &*slots_[found->second];
}

std::vector<const Checkpoint*> Corpus::entries() const {
  std::vector<const Checkpoint*> result;
  result.reserve(size());
  for (const auto& slot : slots_) {
    if (slot.has_value()) {
      result.push_back(&*slot);
    }
  }
  return result;
}

}  // namespace ordeal
