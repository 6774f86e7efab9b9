// What a tape holds, and that copies, cuts and subsets hold the same.
#include "core/tape/tape.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

#include "core/base/check.h"
#include "core/base/rng.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

// Three steps: a rule with two arguments, a fault, a rule with one argument of no choices.
Tape three_steps() {
  Tape tape;
  tape.begin_step(StepKind::kRule, 4, 0);
  tape.begin_argument(1);
  tape.add(Choice::integer(10));
  tape.add(Choice::text("ten"));
  tape.begin_argument(2);
  tape.add(Choice::boolean(true));
  tape.begin_step(StepKind::kFaultOn, 1, 1);
  tape.begin_step(StepKind::kRule, 5, 2);
  tape.begin_argument(3);
  tape.set_producer(0);
  return tape;
}

TEST(Tape, HoldsStepsArgumentsAndChoices) {
  const Tape tape = three_steps();
  ASSERT_EQ(tape.size(), 3U);
  EXPECT_EQ(tape.choice_count(), 3U);
  const auto arguments = tape.arguments(tape.step(0));
  ASSERT_EQ(arguments.size(), 2U);
  EXPECT_EQ(arguments[0].name, 1U);
  EXPECT_EQ(arguments[0].producer, TapeArgument::kNoProducer);
  ASSERT_EQ(tape.choices(arguments[0]).size(), 2U);
  EXPECT_EQ(tape.choices(arguments[0])[1], Choice::text("ten"));
  EXPECT_EQ(tape.choices(arguments[1])[0], Choice::boolean(true));
  EXPECT_EQ(tape.step(1).kind, StepKind::kFaultOn);
  EXPECT_TRUE(tape.arguments(tape.step(1)).empty());
  EXPECT_TRUE(tape.choices(tape.arguments(tape.last_step())[0]).empty());
  EXPECT_EQ(tape.arguments(tape.last_step())[0].producer, 0);
}

TEST(Tape, TruncatingKeepsAPrefix) {
  const Tape whole = three_steps();
  for (std::size_t count = 0; count <= whole.size(); ++count) {
    Tape cut = whole;
    cut.truncate(count);
    Tape copied;
    for (std::size_t i = 0; i < count; ++i) {
      copied.append(whole, whole.step(i));
    }
    EXPECT_EQ(cut, copied);
    EXPECT_EQ(cut.hash(), copied.hash());
  }
}

TEST(Tape, GoesOnAfterAStepWasDropped) {
  Tape tape = three_steps();
  tape.drop_step();
  tape.drop_step();
  tape.drop_step();
  EXPECT_TRUE(tape.empty());
  EXPECT_EQ(tape, Tape());
  tape.append(three_steps(), three_steps().step(0));
  EXPECT_EQ(tape.choice_count(), 3U);
}

TEST(Tape, SubsetsKeepTheFlaggedSteps) {
  const Tape tape = three_steps();
  EXPECT_EQ(tape.subset({true, true, true}), tape);
  EXPECT_EQ(tape.subset({false, false, false}), Tape());
  const Tape ends = tape.subset({true, false, true});
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_EQ(ends.step(1).target, 5U);
  EXPECT_EQ(ends.step(1).origin, 2U);
  EXPECT_EQ(ends.arguments(ends.step(1))[0].producer, 0);
  EXPECT_EQ(ends.choice_count(), 3U);
  EXPECT_THROW((void)tape.subset({true}), CheckFailure);
}

TEST(Tape, AppendsAStepOfItself) {
  Tape tape = three_steps();
  for (int i = 0; i < 20; ++i) {
    tape.append(tape, tape.step(0));
  }
  EXPECT_EQ(tape.size(), 23U);
  EXPECT_EQ(tape.choices(tape.arguments(tape.last_step())[0])[1], Choice::text("ten"));
}

TEST(Tape, RefusesWhatHasNoPlace) {
  Tape tape;
  EXPECT_THROW(tape.begin_argument(0), CheckFailure);
  EXPECT_THROW(tape.drop_step(), CheckFailure);
  EXPECT_THROW(tape.truncate(1), CheckFailure);
  EXPECT_THROW((void)tape.last_step(), CheckFailure);
  EXPECT_THROW((void)tape.step(0), CheckFailure);
  tape = three_steps();
  tape.begin_step(StepKind::kRule, 0, 3);
  // Not into the argument of an earlier step.
  EXPECT_THROW(tape.add(Choice::integer(1)), CheckFailure);
  EXPECT_THROW(tape.set_producer(1), CheckFailure);
  EXPECT_THROW((void)Tape().append(Tape(), tape.step(0)), CheckFailure);
}

TEST(Tape, ChoicesAndProducersAreReplaced) {
  Tape tape = three_steps();
  tape.replace_choice(1, Choice::integer(7));
  tape.replace_producer(2, 5);
  EXPECT_EQ(tape.choices(tape.arguments()[0])[1], Choice::integer(7));
  EXPECT_EQ(tape.arguments()[2].producer, 5);
  EXPECT_THROW(tape.replace_choice(3, Choice::integer(7)), CheckFailure);
  EXPECT_THROW(tape.replace_producer(3, 5), CheckFailure);
}

TEST(Tape, SubsetsOfChoicesKeepStepsAndArguments) {
  const Tape tape = three_steps();
  EXPECT_EQ(tape.subset_of_choices({true, true, true}), tape);
  const Tape some = tape.subset_of_choices({false, true, false});
  EXPECT_EQ(some.size(), 3U);
  EXPECT_EQ(some.arguments().size(), 3U);
  ASSERT_EQ(some.choice_count(), 1U);
  EXPECT_EQ(some.choices(some.arguments()[0])[0], Choice::text("ten"));
  EXPECT_TRUE(some.choices(some.arguments()[1]).empty());
  EXPECT_EQ(some.arguments()[2].producer, 0);
  EXPECT_THROW((void)tape.subset_of_choices({true}), CheckFailure);
}

TEST(Tape, HashesWhatHappensNotWhereItCameFrom) {
  const Tape tape = three_steps().subset({true, true, false});
  Tape moved;
  moved.begin_step(StepKind::kRule, 4, 17);
  moved.begin_argument(1);
  moved.add(Choice::integer(10));
  moved.add(Choice::text("ten"));
  moved.begin_argument(2);
  moved.add(Choice::boolean(true));
  moved.begin_step(StepKind::kFaultOn, 1, 18);
  EXPECT_EQ(moved.hash(), tape.hash());
  EXPECT_NE(moved, tape);
}

TEST(Tape, HashesOriginsThatAProducerRefersTo) {
  const auto made_by = [](std::uint32_t origin) {
    Tape tape;
    tape.begin_step(StepKind::kRule, 0, origin);
    tape.begin_step(StepKind::kRule, 1, 9);
    tape.begin_argument(1);
    tape.add(Choice::integer(0));
    tape.set_producer(4);
    return tape;
  };
  EXPECT_NE(made_by(4).hash(), made_by(5).hash());
}

TEST(Tape, HashesTellApartWhatOnlyShapeTellsApart) {
  std::set<std::uint64_t> hashes;
  std::size_t tapes = 0;
  const auto note = [&](const Tape& tape) {
    hashes.insert(tape.hash());
    ++tapes;
  };
  Tape steps_then_argument;
  steps_then_argument.begin_step(StepKind::kRule, 1, 0);
  steps_then_argument.begin_step(StepKind::kRule, 5, 1);
  steps_then_argument.begin_argument(7);
  note(steps_then_argument);
  Tape argument_then_step;
  argument_then_step.begin_step(StepKind::kRule, 1, 0);
  argument_then_step.begin_argument(5);
  argument_then_step.begin_step(StepKind::kRule, 7, 1);
  note(argument_then_step);
  for (const Choice& choice :
       {Choice::integer(1), Choice::boolean(true), Choice::real(1), Choice::real(0.0), Choice::real(-0.0),
        Choice::text(""), Choice::bytes(""), Choice::text("a"), Choice::bytes("a"), Choice::text(std::string("a\0", 2)),
        Choice::big_integer(std::string(9, '\1')), Choice::big_integer(std::string(10, '\1'))}) {
    Tape tape;
    tape.begin_step(StepKind::kRule, 0, 0);
    tape.begin_argument(0);
    tape.add(choice);
    note(tape);
    tape.begin_argument(0);
    note(tape);
    tape.add(choice);
    note(tape);
  }
  EXPECT_EQ(hashes.size(), tapes);
}

TEST(Tape, HashesAreTheSameInEveryVersion) { EXPECT_EQ(three_steps().hash(), 12672415752357544829ULL); }

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
