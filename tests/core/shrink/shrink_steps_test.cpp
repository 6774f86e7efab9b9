// Which tapes the passes over steps ask about, in which order.
#include "core/shrink/shrink_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "failing_tapes.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

using Texts = std::vector<std::string>;

// What is asked about in a search in which the tapes in `failing` fail.
Texts asked(ShrinkPass& pass, const std::string& text, const Texts& failing = {}) {
  Texts texts;
  const Predicate fails = [&](const Tape& tape) { return std::ranges::find(failing, text_of(tape)) != failing.end(); };
  for (const Tape& tape : candidates(pass, FailingTape(tape_of(text)), fails).asked) {
    texts.push_back(text_of(tape));
  }
  return texts;
}

TEST(RemoveSteps, GoFromHalvesToSingleOnes) {
  RemoveSteps pass;
  EXPECT_EQ(asked(pass, "abcdefghi"),
            (Texts{"abcdefgh", "abcdi", "efghi", "abcdefi", "abcdghi", "abefghi", "cdefghi", "abcdefgh", "abcdefgi",
                   "abcdefhi", "abcdeghi", "abcdfghi", "abcefghi", "abdefghi", "acdefghi", "bcdefghi"}));
  // Only single ones again, while the steps are the same.
  EXPECT_EQ(asked(pass, "abcdefghi").size(), 9U);
  EXPECT_GT(asked(pass, "abcdefgh").size(), 8U);
}

TEST(RemoveSteps, TakeTheLastStepAsWellWhereItIsNotWhatFails) {
  RemoveSteps pass;
  const Texts texts = asked(pass, "abcdefghi", {"abcdefgh"});
  EXPECT_EQ(Texts(texts.begin(), texts.begin() + 7),
            (Texts{"abcdefgh", "abcd", "efgh", "abcdef", "abcdgh", "abefgh", "cdefgh"}));
}

TEST(RemoveSteps, ChunksOfTwoAreTriedForEverySizeAboveTwo) {
  for (std::size_t size = 3; size < 70; ++size) {
    std::size_t pairs = 0;
    RemoveSteps fresh;
    for (const std::string& candidate : asked(fresh, std::string(size, 'a'))) {
      EXPECT_FALSE(candidate.empty());
      pairs += candidate.size() + 2 == size ? 1U : 0U;
    }
    EXPECT_GE(pairs, (size - 1) / 2);
  }
}

TEST(RemoveSteps, GoOnInWhatWasAccepted) {
  RemoveSteps pass;
  EXPECT_EQ(asked(pass, "abcdefghi", {"efghi", "ghi"}),
            (Texts{"abcdefgh", "abcdi", "efghi", "efi", "ghi", "gh", "gi", "hi"}));
}

TEST(RemoveSteps, StayInsideATapeThatLostMoreThanOneStep) {
  RemoveSteps pass;
  FailingTape current(tape_of("abcdef"));
  auto inquiry = pass.candidates(current);
  ASSERT_TRUE(inquiry.next());
  current = FailingTape(tape_of("ab"));
  inquiry.accept(true);
  EXPECT_EQ(text_of(*inquiry.next()), "");
}

TEST(RemovePairs, RemoveAllPairsOfAShortTapeNeighboursFirst) {
  RemovePairs pass;
  EXPECT_EQ(asked(pass, "abcd"), (Texts{"ab", "ad", "cd", "ac", "bd", "bc"}));
  EXPECT_EQ(asked(pass, "abcd"), (Texts{}));
  EXPECT_EQ(asked(pass, std::string(32, 'a')).size(), 32U * 31U / 2U);
  EXPECT_EQ(asked(pass, "ab"), (Texts{""}));
  EXPECT_EQ(asked(pass, "a"), (Texts{}));
  EXPECT_EQ(asked(pass, ""), (Texts{}));
}

TEST(RemovePairs, HaveABoundedNumberOfCandidates) {
  for (const std::size_t size : {33U, 100U, 500U, 1024U, 2000U}) {
    RemovePairs pass;
    const std::size_t candidates = asked(pass, std::string(size, 'a')).size();
    EXPECT_LE(candidates, RemovePairs::kCandidatesMax);
    EXPECT_GE(candidates, size > 1024 ? 0 : size - 1);
  }
}

TEST(RemovePairs, GoOnInWhatWasAccepted) {
  RemovePairs pass;
  EXPECT_EQ(asked(pass, "abcd", {"ab", ""}), (Texts{"ab", ""}));
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
