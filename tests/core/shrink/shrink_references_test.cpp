// The pass over values of bundles: which steps go, and which values are used.
#include "core/shrink/shrink_references.h"

#include <gtest/gtest.h>

#include <cstdint>
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
}  // namespace ordeal::ORDEAL_TEST_FILE
