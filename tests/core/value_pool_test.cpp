// Which values are kept for other draws, and which of them are given.
#include "core/value_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

TEST(ValuePool, GivesNothingWhileItIsEmpty) {
  const ValuePool pool;
  Rng rng(1);
  EXPECT_TRUE(pool.empty());
  EXPECT_EQ(pool.pick(rng, ChoiceKind::kString), nullptr);
  EXPECT_FALSE(pool.pick_integer(rng, 0, 1000));
}

TEST(ValuePool, LeavesOutWhatChanceDrawsAnyway) {
  ValuePool pool;
  for (const Choice& value : {Choice::boolean(true), Choice::integer(3), Choice::integer(-16), Choice::real(0.0),
                              Choice::text(""), Choice::bytes(std::string(5000, 'x'))}) {
    EXPECT_FALSE(pool.add(ValueShelf::kOperand, value));
  }
  EXPECT_TRUE(pool.empty());
}

TEST(ValuePool, KeepsEachValueOnceAndTheNewestOnes) {
  ValuePool pool;
  EXPECT_TRUE(pool.add(ValueShelf::kOperand, Choice::text("first")));
  for (int i = 0; i < 3; ++i) {
    for (std::size_t k = 1; k < ValuePool::kRecentMax; ++k) {
      pool.add(ValueShelf::kOperand, Choice::text(std::to_string(k)));
    }
    EXPECT_FALSE(pool.add(ValueShelf::kOperand, Choice::text("first")));  // known, and now the newest
  }
  EXPECT_EQ(pool.size(ValueShelf::kOperand, ChoiceKind::kString), ValuePool::kRecentMax);
  pool.add(ValueShelf::kOperand, Choice::text("last"));
  const auto saved = pool.save();
  EXPECT_EQ(saved.front().value, Choice::text("2"));
  EXPECT_EQ(saved.back().value, Choice::text("last"));
}

TEST(ValuePool, SavesAllButConstantsAndIsRestoredByAdding) {
  ValuePool pool;
  pool.add(ValueShelf::kConstant, Choice::integer(1234));
  pool.add(ValueShelf::kProductive, Choice::integer(99));
  pool.add(ValueShelf::kOperand, Choice::bytes("magic"));
  pool.add(ValueShelf::kOperand, Choice::integer(500));
  const auto saved = pool.save();
  EXPECT_EQ(saved.size(), 3U);
  ValuePool other;
  for (const ShelvedValue& shelved : saved) {
    other.add(shelved.shelf, shelved.value);
  }
  EXPECT_EQ(other.save(), saved);
}

TEST(ValuePool, PicksIntegersInTheirBoundsAndBesideThem) {
  ValuePool pool;
  pool.add(ValueShelf::kConstant, Choice::integer(1'000'000));
  pool.add(ValueShelf::kConstant, Choice::integer(-5'000));
  pool.add(ValueShelf::kConstant, Choice::big_integer(std::string(9, '\x01')));
  Rng rng(2);
  int exact = 0;
  int beside = 0;
  for (int i = 0; i < 1'000; ++i) {
    if (const auto value = pool.pick_integer(rng, 0, 1'000'000)) {
      EXPECT_LE(*value, 1'000'000);
      exact += *value == 1'000'000 ? 1 : 0;
      beside += *value == 999'999 ? 1 : 0;
    }
  }
  EXPECT_GT(exact, 400);
  EXPECT_GT(beside, 20);
}

TEST(ValuePool, PrefersNewerOperands) {
  ValuePool pool;
  for (int i = 0; i < 100; ++i) {
    pool.add(ValueShelf::kOperand, Choice::integer(1'000 + i));
  }
  Rng rng(3);
  int newer = 0;
  for (int i = 0; i < 1'000; ++i) {
    newer += pool.pick(rng, ChoiceKind::kInteger)->number >= 1'050 ? 1 : 0;
  }
  EXPECT_GT(newer, 650);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
