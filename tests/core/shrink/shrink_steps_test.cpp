// Which tapes the passes over steps ask about, in which order.
#include "core/shrink/shrink_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
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

TEST(RemoveChunks, GoFromHalvesToPairsAndLeaveTheStepThatFails) {
  RemoveChunks pass;
  EXPECT_EQ(asked(pass, "abcdefghi"),
            (Texts{"abcdefgh", "abcdi", "efghi", "abcdefi", "abcdghi", "abefghi", "cdefghi"}));
}

TEST(RemoveChunks, TakeTheLastStepAsWellWhereItIsNotWhatFails) {
  RemoveChunks pass;
  EXPECT_EQ(asked(pass, "abcdefghi", {"abcdefgh"}),
            (Texts{"abcdefgh", "abcd", "efgh", "abcdef", "abcdgh", "abefgh", "cdefgh"}));
}

TEST(RemoveChunks, ChunksOfTwoAreTriedForEverySizeAboveTwo) {
  RemoveChunks pass;
  EXPECT_EQ(asked(pass, "abc"), (Texts{"ab", "c"}));
  EXPECT_EQ(asked(pass, "ab"), (Texts{}));
  for (std::size_t size = 3; size < 70; ++size) {
    std::size_t pairs = 0;
    RemoveChunks fresh;
    for (const std::string& candidate : asked(fresh, std::string(size, 'a'))) {
      EXPECT_FALSE(candidate.empty());
      pairs += candidate.size() + 2 == size ? 1U : 0U;
    }
    EXPECT_GE(pairs, (size - 1) / 2);
  }
}

TEST(RemoveChunks, GoOnInWhatWasAccepted) {
  RemoveChunks pass;
  EXPECT_EQ(asked(pass, "abcdefghi", {"efghi", "ghi"}), (Texts{"abcdefgh", "abcdi", "efghi", "efi", "ghi"}));
}

TEST(RemoveChunks, ASearchOverTheSameStepsProposesNothing) {
  RemoveChunks pass;
  EXPECT_FALSE(asked(pass, "abcdefgh").empty());
  EXPECT_TRUE(asked(pass, "abcdefgh").empty());
  EXPECT_FALSE(asked(pass, "abcdefg").empty());
}

TEST(RemoveSteps, SingleStepsGoFromTheEnd) {
  RemoveSteps pass;
  EXPECT_EQ(asked(pass, "abc"), (Texts{"ab", "ac", "bc"}));
  EXPECT_EQ(asked(pass, "a"), (Texts{""}));
  EXPECT_EQ(asked(pass, ""), (Texts{}));
  EXPECT_EQ(asked(pass, "abcd", {"abd", "bd"}), (Texts{"abc", "abd", "ad", "bd"}));
}

TEST(RemoveSteps, StayInsideATapeThatLostMoreThanOneStep) {
  RemoveSteps pass;
  FailingTape current(tape_of("abcdef"));
  auto inquiry = pass.candidates(current);
  ASSERT_TRUE(inquiry.next());
  current = FailingTape(tape_of("ab"));
  inquiry.accept(true);
  EXPECT_EQ(text_of(*inquiry.next()), "a");
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

TEST(RemoveRuns, OfAnyLengthFromAnyPlace) {
  RemoveRuns pass;
  EXPECT_EQ(asked(pass, "aaaabc"), (Texts{"bc", "abc", "abc"}));
  EXPECT_EQ(asked(pass, "aaaabc"), (Texts{}));
  EXPECT_EQ(asked(pass, "caaaabc", {"cbc"}), (Texts{"cbc"}));
  EXPECT_EQ(asked(pass, "abcabcabc"), (Texts{}));
  for (const std::size_t size : {0U, 1U, 2U, 3U, 17U}) {
    EXPECT_EQ(asked(pass, std::string(size, 'a')), (Texts{}));
  }
  EXPECT_EQ(asked(pass, std::string(16, 'a')).size(), 13U * 14U / 2U);
}

TEST(RemovePairs, GoOnInWhatWasAccepted) {
  RemovePairs pass;
  EXPECT_EQ(asked(pass, "abcd", {"ab", ""}), (Texts{"ab", ""}));
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
