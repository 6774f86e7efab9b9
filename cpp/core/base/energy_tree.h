// A tree over numbered slots that finds in O(log n): a slot by its share of the energy, the n-th slot in use, and the
// slot of lowest energy.
//
// A segment tree: every node holds the sums of its subtree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace ordeal {

// Energies are summed as integers: no drift after a million updates, and the same pick on every machine. One unit is
// 2^-20 of energy; shares are capped at an energy of 2^24, so that 2^20 slots cannot overflow the sum.
// Thread-compatible.
class EnergyTree {
 public:
  static constexpr std::size_t kSlotsMax = std::size_t{1} << 20U;

  // Clears the tree and makes room for at least `slots` slots (at most kSlotsMax of them in use).
  void reset(std::size_t slots);
  // Energy is finite and above zero.
  void set(std::size_t slot, double energy);
  void clear(std::size_t slot);

  [[nodiscard]] std::size_t slots() const noexcept { return leaves_; }
  // Slots in use.
  [[nodiscard]] std::size_t size() const noexcept { return nodes_[1].used; }
  [[nodiscard]] std::uint64_t units() const noexcept { return nodes_[1].units; }

  // Returns the slot that holds unit number `unit` when the slots lie side by side; unit < units().
  [[nodiscard]] std::size_t at_unit(std::uint64_t unit) const;
  // Returns the n-th slot in use, from 0; n < size().
  [[nodiscard]] std::size_t nth(std::size_t n) const;
  // Returns the slot of lowest energy, the first of several; size() > 0.
  [[nodiscard]] std::size_t lowest() const;

 private:
  struct Node {
    double lowest = std::numeric_limits<double>::infinity();
    std::uint64_t units = 0;
    std::uint64_t used = 0;
  };

  void put(std::size_t slot, const Node& leaf);

  std::size_t leaves_ = 1;
  // Node i has the children 2i and 2i + 1; the root is 1; slot s is node leaves_ + s.
  std::vector<Node> nodes_ = std::vector<Node>(2);
};

}  // namespace ordeal
