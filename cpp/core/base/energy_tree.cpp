#include "core/base/energy_tree.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/base/check.h"

namespace ordeal {
namespace {

// Energies are drawn in whole units, because sums of floats depend on the order of addition. The upper limit keeps the
// sum over all slots below 2^64.
constexpr double kUnitsPerEnergy = 0x1p20;
constexpr double kUnitsMax = 0x1p44;

// At least one unit: every slot in use can be drawn.
std::uint64_t to_units(double energy) noexcept {
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::min(energy * kUnitsPerEnergy, kUnitsMax)));
}

}  // namespace

// The nodes are arranged like a binary heap: node 1 is the root, and the leaves start at `leaves_`.
void EnergyTree::reset(std::size_t slots) {
  leaves_ = std::bit_ceil(std::max<std::size_t>(1, slots));
  nodes_.assign(2 * leaves_, Node{});
}

void EnergyTree::set(std::size_t slot, double energy) {
  ORDEAL_CHECK(std::isfinite(energy) && energy > 0, "energy=" << energy);
  put(slot, {energy, to_units(energy), 1});
}

void EnergyTree::clear(std::size_t slot) { put(slot, {}); }

// Writes a leaf and updates the sums above it: O(log n).
void EnergyTree::put(std::size_t slot, const Node& leaf) {
  ORDEAL_CHECK(slot < leaves_, "slot=" << slot << " slots=" << leaves_);
  std::size_t node = leaves_ + slot;
  nodes_[node] = leaf;
  for (node /= 2; node > 0; node /= 2) {
    const Node& left = nodes_[2 * node];
    const Node& right = nodes_[(2 * node) + 1];
    nodes_[node] = {std::min(left.lowest, right.lowest), left.units + right.units, left.used + right.used};
  }
  ORDEAL_DCHECK(size() <= kSlotsMax, "size=" << size());
}

// Walks down from the root, to the left if the unit lies there.
std::size_t EnergyTree::at_unit(std::uint64_t unit) const {
  ORDEAL_CHECK(unit < units(), "unit=" << unit << " units=" << units());
  std::size_t node = 1;
  while (node < leaves_) {
    node *= 2;
    if (unit >= nodes_[node].units) {
      unit -= nodes_[node].units;
      ++node;
    }
  }
  ORDEAL_DCHECK(nodes_[node].used == 1, "slot " << node - leaves_ << " is empty");
  return node - leaves_;
}

// The same walk, counting slots in use instead of units.
std::size_t EnergyTree::nth(std::size_t n) const {
  ORDEAL_CHECK(n < size(), "n=" << n << " size=" << size());
  std::size_t node = 1;
  while (node < leaves_) {
    node *= 2;
    if (n >= nodes_[node].used) {
      n -= nodes_[node].used;
      ++node;
    }
  }
  ORDEAL_DCHECK(nodes_[node].used == 1, "slot " << node - leaves_ << " is empty");
  return node - leaves_;
}

// Of equal energies the leftmost, which is the oldest: the corpus fills slots in the order of creation.
std::size_t EnergyTree::lowest() const {
  ORDEAL_CHECK(size() > 0, "an empty tree has no lowest slot");
  std::size_t node = 1;
  while (node < leaves_) {
    node *= 2;
    if (nodes_[node + 1].lowest < nodes_[node].lowest) {
      ++node;
    }
  }
  ORDEAL_DCHECK(nodes_[node].used == 1, "slot " << node - leaves_ << " is empty");
  return node - leaves_;
}

}  // namespace ordeal
