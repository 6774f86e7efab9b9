// Which values are kept for other draws, and which of them are given.
#include "core/draw/dictionary.h"

#include <gtest/gtest.h>

#include <string>

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

TEST(Dictionary, GivesNothingWhileItIsEmpty) {
  const Dictionary dictionary;
  Rng rng(1);
  EXPECT_TRUE(dictionary.empty());
  EXPECT_EQ(dictionary.pick(rng, ChoiceKind::kString), nullptr);
  EXPECT_FALSE(dictionary.pick_integer(rng, 0, 1000));
}

TEST(Dictionary, LeavesOutWhatChanceDrawsAnyway) {
  Dictionary dictionary;
  for (const Choice& value : {Choice::boolean(true), Choice::integer(3), Choice::integer(-16), Choice::real(0.0),
                              Choice::text(""), Choice::bytes(std::string(5000, 'x'))}) {
    EXPECT_FALSE(dictionary.add(DictionarySource::kOperand, value));
  }
  EXPECT_TRUE(dictionary.empty());
}

TEST(Dictionary, KeepsEachValueOnceAndTheNewestOnes) {
  Dictionary dictionary;
  EXPECT_TRUE(dictionary.add(DictionarySource::kOperand, Choice::text("first")));
  for (int i = 0; i < 3; ++i) {
    for (std::size_t k = 1; k < Dictionary::kRecentMax; ++k) {
      dictionary.add(DictionarySource::kOperand, Choice::text(std::to_string(k)));
    }
    EXPECT_FALSE(dictionary.add(DictionarySource::kOperand, Choice::text("first")));  // known, and now the newest
  }
  EXPECT_EQ(dictionary.size(DictionarySource::kOperand, ChoiceKind::kString), Dictionary::kRecentMax);
  dictionary.add(DictionarySource::kOperand, Choice::text("last"));
  const auto saved = dictionary.save();
  EXPECT_EQ(saved.front().value, Choice::text("2"));
  EXPECT_EQ(saved.back().value, Choice::text("last"));
}

TEST(Dictionary, SavesAllButConstantsAndIsRestoredByAdding) {
  Dictionary dictionary;
  dictionary.add(DictionarySource::kConstant, Choice::integer(1234));
  dictionary.add(DictionarySource::kProductive, Choice::integer(99));
  dictionary.add(DictionarySource::kOperand, Choice::bytes("magic"));
  dictionary.add(DictionarySource::kOperand, Choice::integer(500));
  const auto saved = dictionary.save();
  EXPECT_EQ(saved.size(), 3U);
  Dictionary other;
  for (const DictionaryEntry& entry : saved) {
    other.add(entry.source, entry.value);
  }
  EXPECT_EQ(other.save(), saved);
}

TEST(Dictionary, PicksIntegersInTheirBoundsAndBesideThem) {
  Dictionary dictionary;
  dictionary.add(DictionarySource::kConstant, Choice::integer(1'000'000));
  dictionary.add(DictionarySource::kConstant, Choice::integer(-5'000));
  dictionary.add(DictionarySource::kConstant, Choice::big_integer(std::string(9, '\x01')));
  Rng rng(2);
  int exact = 0;
  int beside = 0;
  for (int i = 0; i < 1'000; ++i) {
    if (const auto value = dictionary.pick_integer(rng, 0, 1'000'000)) {
      EXPECT_LE(*value, 1'000'000);
      exact += *value == 1'000'000 ? 1 : 0;
      beside += *value == 999'999 ? 1 : 0;
    }
  }
  EXPECT_GT(exact, 400);
  EXPECT_GT(beside, 20);
}

TEST(Dictionary, PrefersNewerOperands) {
  Dictionary dictionary;
  for (int i = 0; i < 100; ++i) {
    dictionary.add(DictionarySource::kOperand, Choice::integer(1'000 + i));
  }
  Rng rng(3);
  int newer = 0;
  for (int i = 0; i < 1'000; ++i) {
    newer += dictionary.pick(rng, ChoiceKind::kInteger)->number >= 1'050 ? 1 : 0;
  }
  EXPECT_GT(newer, 650);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
