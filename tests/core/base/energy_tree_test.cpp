// The tree agrees with a plain list about shares, ranks and the lowest energy.
#include "core/base/energy_tree.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/check.h"
#include "core/base/rng.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr std::uint64_t kUnit = std::uint64_t{1} << 20U;

TEST(EnergyTree, TheSmallestEnergyHasAUnitAndTheLargestNoMoreThanItsCap) {
  EnergyTree tree;
  tree.reset(2);
  tree.set(0, 1e-300);
  EXPECT_EQ(tree.units(), 1U);
  tree.set(1, 1e300);
  EXPECT_EQ(tree.units(), 1 + (std::uint64_t{1} << 44U));
}

// The model: energies by slot, searched from the front.
using Model = std::vector<std::optional<double>>;

std::optional<std::size_t> lowest_of(const Model& model) {
  std::optional<std::size_t> lowest;
  for (std::size_t slot = 0; slot < model.size(); ++slot) {
    if (model[slot] && (!lowest || *model[slot] < *model[*lowest])) {
      lowest = slot;
    }
  }
  return lowest;
}

void expect_agrees(const EnergyTree& tree, const Model& model) {
  std::size_t used = 0;
  std::uint64_t units = 0;
  for (std::size_t slot = 0; slot < model.size(); ++slot) {
    if (model[slot]) {
      ASSERT_EQ(tree.nth(used), slot);
      ASSERT_EQ(tree.at_unit(units), slot);
      units += static_cast<std::uint64_t>(*model[slot] * static_cast<double>(kUnit));
      ASSERT_EQ(tree.at_unit(units - 1), slot);
      ++used;
    }
  }
  ASSERT_EQ(tree.size(), used);
  ASSERT_EQ(tree.units(), units);
  if (used > 0) {
    ASSERT_EQ(tree.lowest(), lowest_of(model));
  }
}

TEST(EnergyTree, AgreesWithAListThroughRandomUpdates) {
  EnergyTree tree;
  tree.reset(32);
  Model model(32);
  Rng rng(1);
  for (int i = 0; i < 3000; ++i) {
    const std::size_t slot = rng.below(model.size());
    if (rng.chance(0.4)) {
      tree.clear(slot);
      model[slot].reset();
    } else {
      // Few different energies, so that equals are common.
      const double energy = static_cast<double>(1 + rng.below(16)) / 16;
      tree.set(slot, energy);
      model[slot] = energy;
    }
    expect_agrees(tree, model);
  }
}

TEST(EnergyTree, RefusesWhatHasNoAnswer) {
  EnergyTree tree;
  EXPECT_THROW((void)tree.lowest(), CheckFailure);
  EXPECT_THROW((void)tree.nth(0), CheckFailure);
  EXPECT_THROW((void)tree.at_unit(0), CheckFailure);
  EXPECT_THROW(tree.set(1, 1.0), CheckFailure);
  EXPECT_THROW(tree.set(0, 0.0), CheckFailure);
  EXPECT_THROW(tree.set(0, 1.0 / 0.0), CheckFailure);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
