// Which candidates each pass proposes, in which order.
#include "core/shrink_passes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ordeal {
namespace {

// A letter is a rule, a digit a toggle of that fault.
Tape tape_of(const std::string& text) {
  Tape tape;
  for (const char c : text) {
    const bool is_digit = c >= '0' && c <= '9';
    tape.begin_step(is_digit ? StepKind::kFaultOn : StepKind::kRule, static_cast<std::uint32_t>(is_digit ? c - '0' : c),
                    static_cast<std::uint32_t>(tape.size()));
  }
  return tape;
}

std::string text_of(const Tape& tape) {
  std::string text;
  for (const TapeStep& step : tape.steps()) {
    text +=
        static_cast<char>(is_fault(step.kind) ? '0' + static_cast<int>(step.target) : static_cast<int>(step.target));
  }
  return text;
}

// A sweep in which the candidates in `failing` are accepted.
std::vector<std::string> sweep(ShrinkPass& pass, const std::string& text,
                               const std::vector<std::string>& failing = {}) {
  std::vector<std::string> candidates;
  Tape current = tape_of(text);
  pass.start(current);
  while (const auto candidate = pass.next(current)) {
    candidates.push_back(text_of(*candidate));
    for (const std::string& accepted : failing) {
      if (accepted == candidates.back()) {
        current = *candidate;
        pass.accepted(current);
      }
    }
  }
  EXPECT_FALSE(pass.next(current));
  return candidates;
}

using Texts = std::vector<std::string>;

TEST(RemoveSteps, ChunksGoFromHalvesToPairs) {
  RemoveSteps pass(RemoveSteps::Grain::kChunks);
  EXPECT_EQ(sweep(pass, "abcdefgh"), (Texts{"abcd", "efgh", "abcdef", "abcdgh", "abefgh", "cdefgh"}));
}

TEST(RemoveSteps, ChunksOfTwoAreTriedForEverySizeAboveTwo) {
  RemoveSteps pass(RemoveSteps::Grain::kChunks);
  EXPECT_EQ(sweep(pass, "abc"), (Texts{"a", "bc"}));
  EXPECT_EQ(sweep(pass, "abcdefg"), (Texts{"abcde", "abcfg", "adefg", "bcdefg"}));
  for (std::size_t size = 3; size < 70; ++size) {
    std::size_t pairs = 0;
    for (const std::string& candidate : sweep(pass, std::string(size, 'a'))) {
      pairs += candidate.size() + 2 == size ? 1U : 0U;
    }
    EXPECT_GE(pairs, size / 2);
  }
}

TEST(RemoveSteps, NoChunkIsTheWholeTape) {
  RemoveSteps pass(RemoveSteps::Grain::kChunks);
  for (std::size_t size = 0; size < 70; ++size) {
    const std::vector<std::string> candidates = sweep(pass, std::string(size, 'a'));
    EXPECT_LE(candidates.size(), 2 * size);
    for (const std::string& candidate : candidates) {
      EXPECT_FALSE(candidate.empty());
    }
  }
}

TEST(RemoveSteps, GoesOnInWhatWasAccepted) {
  RemoveSteps pass(RemoveSteps::Grain::kChunks);
  EXPECT_EQ(sweep(pass, "abcdefgh", {"efgh", "gh"}), (Texts{"abcd", "efgh", "ef", "gh"}));
}

TEST(RemoveSteps, SingleStepsGoFromTheEnd) {
  RemoveSteps pass(RemoveSteps::Grain::kSingle);
  EXPECT_EQ(sweep(pass, "abc"), (Texts{"ab", "ac", "bc"}));
  EXPECT_EQ(sweep(pass, "a"), (Texts{""}));
  EXPECT_EQ(sweep(pass, ""), (Texts{}));
  EXPECT_EQ(sweep(pass, "abcd", {"abd", "bd"}), (Texts{"abc", "abd", "ad", "bd"}));
}

TEST(RemoveSteps, StaysInsideATapeThatLostMoreThanTheChunk) {
  RemoveSteps pass(RemoveSteps::Grain::kSingle);
  const Tape current = tape_of("abcdef");
  pass.start(current);
  pass.next(current);
  const Tape realized = tape_of("ab");
  pass.accepted(realized);
  EXPECT_EQ(text_of(*pass.next(realized)), "a");
}

TEST(RemoveFaults, RemovesAllTogglesOfAFault) {
  RemoveFaults pass;
  EXPECT_EQ(sweep(pass, "1a2b1c2"), (Texts{"1ab1c", "a2bc2"}));
  EXPECT_EQ(sweep(pass, "1a2b1c2", {"1ab1c"}), (Texts{"1ab1c", "abc"}));
  EXPECT_EQ(sweep(pass, "abc"), (Texts{}));
}

TEST(RemovePairs, RemovesAllPairsOfAShortTapeNeighboursFirst) {
  RemovePairs pass;
  EXPECT_EQ(sweep(pass, "abcd"), (Texts{"ab", "ad", "cd", "ac", "bd", "bc"}));
  EXPECT_EQ(sweep(pass, std::string(32, 'a')).size(), 32U * 31U / 2U);
  EXPECT_EQ(sweep(pass, "ab"), (Texts{""}));
  EXPECT_EQ(sweep(pass, "a"), (Texts{}));
  EXPECT_EQ(sweep(pass, ""), (Texts{}));
}

TEST(RemovePairs, HasABoundedNumberOfCandidates) {
  RemovePairs pass;
  EXPECT_EQ(sweep(pass, std::string(1000, 'a')).size(), 999U);
  EXPECT_EQ(sweep(pass, std::string(2000, 'a')).size(), 0U);
  for (const std::size_t size : {33U, 100U, 500U, 1024U}) {
    const std::size_t candidates = sweep(pass, std::string(size, 'a')).size();
    EXPECT_LE(candidates, RemovePairs::kCandidatesMax);
    EXPECT_GE(candidates, size - 1);
  }
}

TEST(RemovePairs, GoesOnInWhatWasAccepted) {
  RemovePairs pass;
  EXPECT_EQ(sweep(pass, "abcd", {"ab"}), (Texts{"ab", ""}));
}

}  // namespace
}  // namespace ordeal
