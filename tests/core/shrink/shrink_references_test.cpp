// The pass over values of bundles: which steps go, and which values are used.
#include "core/shrink/shrink_references.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "failing_tapes.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

// Steps that make values, and steps that use the value that the producer of each number made.
Tape makers_and_users(std::uint32_t makers, const std::vector<std::int64_t>& used) {
  Tape tape;
  for (std::uint32_t i = 0; i < makers; ++i) {
    tape.begin_step(StepKind::kRule, 'm', i);
  }
  for (const std::int64_t origin : used) {
    tape.begin_step(StepKind::kRule, 'u', static_cast<std::uint32_t>(tape.size()));
    tape.begin_argument(1);
    tape.add(Choice::integer(makers - 1 - origin));
    tape.set_producer(origin << TapeArgument::kPlaceBits);
  }
  return tape;
}

TEST(RemoveUnused, StepsWhoseValuesNobodyTakesGoAtOnce) {
  RemoveUnused pass;
  const Swept swept =
      candidates(pass, FailingTape(makers_and_users(5, {1, 3})), [](const Tape& /*tape*/) { return true; });
  EXPECT_EQ(text_of(swept.left.tape), "mmuu");
  EXPECT_EQ(swept.asked.size(), 1U);
}

TEST(RemoveUnused, WhatOnlyUnusedValuesAreMadeOfIsUnused) {
  Tape tape = makers_and_users(3, {});
  for (const std::int64_t origin : {0, 1}) {  // two steps that make a value of another
    tape.begin_step(StepKind::kRule, 'd', static_cast<std::uint32_t>(tape.size()));
    tape.begin_argument(1);
    tape.add(Choice::integer(0));
    tape.set_producer(origin << TapeArgument::kPlaceBits);
  }
  tape.begin_step(StepKind::kRule, 'u', 5);
  tape.begin_argument(1);
  tape.add(Choice::integer(0));
  tape.set_producer(std::int64_t{4} << TapeArgument::kPlaceBits);
  RemoveUnused pass;
  EXPECT_EQ(text_of(left_by(pass, tape, [](const Tape& /*tape*/) { return true; })), "mdu");
}

TEST(RemoveUnused, RulesThatMakeNothingStay) {
  RemoveUnused pass;
  const auto never = [](const Tape& /*tape*/) { return false; };
  EXPECT_TRUE(candidates(pass, FailingTape(tape_of("abc")), never).asked.empty());
  EXPECT_TRUE(candidates(pass, FailingTape(makers_and_users(1, {0, 0})), never).asked.empty());
  EXPECT_TRUE(candidates(pass, FailingTape(Tape()), never).asked.empty());
}

TEST(MergeReferences, AValueTakesThePlaceOfAnotherWhoseStepGoes) {
  MergeReferences pass;
  const Tape tape = makers_and_users(2, {0, 1});
  const Tape left = left_by(pass, tape, [](const Tape& candidate) {
    return candidate.arguments()[0].producer == 0 && candidate.arguments()[1].producer == 0;
  });
  EXPECT_EQ(text_of(left), "muu");
}

TEST(MergeReferences, AValueBecomesTheNewest) {
  MergeReferences pass;
  const Tape tape = makers_and_users(2, {0});
  const Tape left = left_by(pass, tape, [](const Tape& candidate) { return candidate.size() == 3; });
  EXPECT_EQ(left.arguments()[0].producer, TapeArgument::kNoProducer);
  EXPECT_EQ(left.choices()[0], Choice::integer(0));
}

}  // namespace
// A value that is opened, filled and used where only some step after `x` is needed.
Tape used_after_x() {
  Tape tape = makers_and_users(2, {});
  const auto take = [&](char rule, std::int64_t origin) {
    tape.begin_step(StepKind::kRule, static_cast<std::uint32_t>(rule), static_cast<std::uint32_t>(tape.size()));
    tape.begin_argument(1);
    tape.add(Choice::integer(0));
    tape.set_producer(origin << TapeArgument::kPlaceBits);
  };
  take('o', 0);
  take('f', 0);
  take('x', 1);
  take('u', 0);
  take('e', 1);
  return tape;
}

TEST(ShortenUses, AnEarlierUseMovesToThePlaceOfALaterOne) {
  ShortenUses pass;
  const Tape left = left_by(pass, used_after_x(), [](const Tape& candidate) {
    const std::string text = text_of(candidate);
    const bool is_filled = text.find('o') < text.find('f') && text.find('f') < text.find('u');
    const bool is_used = text.find('u') == std::string::npos || is_filled;
    const std::size_t after = text.find('x') + 1;
    return is_used && after < text.size() && text.back() == 'e' && text.find_first_of("ou", after) != std::string::npos;
  });
  EXPECT_EQ(text_of(left), "mmxoe");
}

TEST(ShortenUses, TheStepThatFailsStaysAndNothingIsTriedTwice) {
  ShortenUses pass;
  const Swept first = candidates(pass, FailingTape(used_after_x()), [](const Tape& /*tape*/) { return false; });
  EXPECT_FALSE(first.asked.empty());
  EXPECT_TRUE(std::ranges::all_of(first.asked, [](const Tape& tape) { return text_of(tape).back() == 'e'; }));
  EXPECT_TRUE(candidates(pass, FailingTape(used_after_x()), [](const Tape& /*tape*/) { return false; }).asked.empty());
}

}  // namespace ordeal::ORDEAL_TEST_FILE
