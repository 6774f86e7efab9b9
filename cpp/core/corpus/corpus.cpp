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

// In the order of the error message.
constexpr std::array kStrategies{
    NamedStrategy{"energy", CheckpointStrategy::kEnergy},
    NamedStrategy{"uniform", CheckpointStrategy::kUniform},
    NamedStrategy{"recent", CheckpointStrategy::kRecent},
};

// The tree begins with this many slots and doubles as the corpus grows.
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

// The names are options, so that they stay as they are.
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

// Allocates nothing yet: a session with a large limit usually keeps few checkpoints.
Corpus::Corpus(std::size_t max_checkpoints, CheckpointStrategy strategy, std::size_t bytes_max)
    : max_checkpoints_(max_checkpoints), strategy_(strategy), bytes_max_(bytes_max) {
  if (max_checkpoints > kCheckpointsMax) {
    throw ConfigError("max_checkpoints is " + std::to_string(max_checkpoints) + "; it must be between 0 and " +
                      std::to_string(kCheckpointsMax));
  }
}

// Makes room before adding the new one, which is therefore never dropped itself.
std::optional<std::uint64_t> Corpus::add(Checkpoint checkpoint, Rng& rng) {
  ORDEAL_CHECK(!slot_of_.contains(checkpoint.id), "id=" << checkpoint.id << " is kept already");
  ORDEAL_CHECK(std::isfinite(checkpoint.energy) && checkpoint.energy > 0, "energy=" << checkpoint.energy);
  ORDEAL_CHECK(checkpoint.frequency_class <= kFrequencyClassMax, "frequency_class=" << checkpoint.frequency_class);
  if (max_checkpoints_ == 0 || checkpoint.prefix.bytes() > bytes_max_ / kPartMax) {
    return std::nullopt;
  }
  std::optional<std::uint64_t> evicted;
  if (size() == max_checkpoints_ || !has_room_for(checkpoint.prefix)) {
    evicted = make_room(rng);
  }
  if (!has_room_for(checkpoint.prefix)) {
    return evicted;
  }
  hold(checkpoint.prefix);
  if (slots_.empty() || slots_.size() == tree_.slots()) {
    compact();
  }
  const std::size_t slot = slots_.size();
  slot_of_[checkpoint.id] = slot;
  slots_.emplace_back(std::move(checkpoint));
  weigh(slot);
  return evicted;
}

// Under the other strategies energy means nothing, so a random entry goes.
std::uint64_t Corpus::make_room(Rng& rng) {
  const std::size_t slot =
      strategy_ == CheckpointStrategy::kEnergy ? tree_.lowest() : tree_.nth(rng.below(tree_.size()));
  const std::uint64_t id = slots_[slot]->id;
  clear_slot(slot);
  return id;
}

// Adds up the new parts, back to one that is held already.
bool Corpus::has_room_for(const Prefix& prefix) const {
  std::size_t bytes = bytes_;
  for (const Prefix::Part* part = prefix.last(); part != nullptr && !uses_.contains(part); part = part->before.get()) {
    bytes += part->bytes;
  }
  return bytes <= bytes_max_;
}

// Counts the bytes of the parts that no other checkpoint shares. What is below a shared part is shared as well.
void Corpus::hold(const Prefix& prefix) {
  for (const Prefix::Part* part = prefix.last(); part != nullptr; part = part->before.get()) {
    if (uses_[part]++ > 0) {
      return;
    }
    bytes_ += part->bytes;
  }
}

// A part that others need stays, even if the entry that it was kept for is gone.
void Corpus::release(const Prefix& prefix) {
  for (const Prefix::Part* part = prefix.last(); part != nullptr; part = part->before.get()) {
    const auto used = uses_.find(part);
    ORDEAL_CHECK(used != uses_.end(), "a part of a prefix is held by nobody");
    if (--used.value() > 0) {
      return;
    }
    uses_.erase(used);
    bytes_ -= part->bytes;
  }
}

// The slot stays empty until compact(): other slots must keep their numbers.
void Corpus::clear_slot(std::size_t slot) {
  ORDEAL_DCHECK(slots_[slot].has_value(), "slot " << slot << " is empty");
  slot_of_.erase(slots_[slot]->id);
  release(slots_[slot]->prefix);
  slots_[slot].reset();
  tree_.clear(slot);
}

// O(n), when the slots have run out; then there is room for as many again.
void Corpus::compact() {
  std::erase_if(slots_, [](const auto& slot) { return !slot.has_value(); });
  tree_.reset(std::max(kSlotsMin, 2 * slots_.size()));
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    weigh(slot);
    slot_of_[slots_[slot]->id] = slot;
  }
}

// Draws once, or twice under kRecent.
const Checkpoint* Corpus::pick(Rng& rng) {
  if (empty()) {
    return nullptr;
  }
  // Where tips have nearly all the energy, the others hardly differ.
  constexpr int kLooksByEnergy = 16;
  constexpr int kLooks = 64;
  std::size_t slot = pick_slot(rng);
  for (int looks = 1; looks < kLooks && !climbs_ && slots_[slot]->is_tip; ++looks) {
    slot = looks < kLooksByEnergy ? pick_slot(rng) : tree_.nth(rng.below(size()));
  }
  ORDEAL_DCHECK(slots_[slot].has_value(), "slot " << slot << " is empty");
  Checkpoint& checkpoint = *slots_[slot];
  ++checkpoint.times_selected;
  return &checkpoint;
}

// O(log checkpoints). The three strategies draw the same, so that a seed means the same for each.
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

// Rewards are counted in edges: other features count as a part of one.
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

// The class divides the share, not the energy, because it may change back.
void Corpus::set_frequency_class(std::uint64_t id, std::uint32_t frequency_class) {
  ORDEAL_CHECK(frequency_class <= kFrequencyClassMax, "frequency_class=" << frequency_class);
  if (const auto found = slot_of_.find(id); found != slot_of_.end()) {
    slots_[found->second]->frequency_class = frequency_class;
    weigh(found->second);
  }
}

// Ignores an entry that has made room, like the others.
void Corpus::set_slowness(std::uint64_t id, double slowness) {
  ORDEAL_CHECK(slowness > 0 && std::isfinite(slowness), "slowness=" << slowness);
  if (const auto found = slot_of_.find(id); found != slot_of_.end()) {
    slots_[found->second]->slowness = slowness;
    weigh(found->second);
  }
}

// The giver keeps the floor, because every entry must remain pickable.
void Corpus::transfer_energy(std::uint64_t from, std::uint64_t to) {
  const auto giver = slot_of_.find(from);
  const auto taker = slot_of_.find(to);
  if (giver == slot_of_.end() || taker == slot_of_.end()) {
    return;
  }
  const double given = slots_[giver->second]->energy - kEnergyFloor;
  set_energy(taker->second, slots_[taker->second]->energy + given);
  set_energy(giver->second, kEnergyFloor);
}

bool Corpus::remove(std::uint64_t id) {
  const auto found = slot_of_.find(id);
  if (found == slot_of_.end()) {
    return false;
  }
  clear_slot(found->second);
  return true;
}

void Corpus::set_energy(std::size_t slot, double energy) {
  slots_[slot]->energy = energy;
  weigh(slot);
}

// The tree holds the basis of the share: energy, scaled by how frequent the features are and by how slow
// steps are.
void Corpus::weigh(std::size_t slot) {
  ORDEAL_DCHECK(slots_[slot].has_value(), "slot " << slot << " is empty");
  tree_.set(slot, scaled(slots_[slot]->energy / slots_[slot]->slowness, slots_[slot]->frequency_class));
}

// Null for one that has made room.
const Checkpoint* Corpus::find(std::uint64_t id) const noexcept {
  const auto found = slot_of_.find(id);
  return found == slot_of_.end() ? nullptr : &*slots_[found->second];
}

// The pointers are valid until the next add or remove.
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
