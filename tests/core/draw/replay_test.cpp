// Reading runs back: the same tape when nothing changed, the rest of it when steps cannot run.
#include "core/draw/replay.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/check.h"
#include "core/search/session.h"
#include "search/classic.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr MachineShape kShape{.rules = 4, .initializers = 2, .faults = 2};

// What a machine draws in each rule; another `version` of it draws other things.
template <typename StepSource>
void draw(StepSource& step_source, std::uint32_t rule, int version) {
  ChoiceSource& source = step_source.source();
  source.begin_argument(1);
  source.integer(0, version == 1 ? 1000 : 10, 0);
  if (version == 3) {
    source.begin_argument(9);
    source.boolean(0.5);
  }
  for (std::uint32_t i = 0; i < rule; ++i) {
    source.begin_argument(10 + i);
    source.real(-1, 1, true, 0);
    source.boolean(0.5);
  }
}

Tape explored(std::uint64_t seed) {
  Session session(kShape, classic({.seed = seed}), std::make_shared<CoverageMap>(64));
  session.begin_run();
  for (NextStep next = session.next(); next.kind != NextKind::kEnd; next = session.next()) {
    if (next.kind == NextKind::kRule) {
      draw(session, next.target, 1);
    }
    session.done();
  }
  session.end_run();
  return session.tape();
}

// Runs the tape to its end; rules below `rules_from` cannot run.
void finish(Replay& replay, int version = 1, std::uint32_t rules_from = 0) {
  for (NextStep next = replay.next(); next.kind != NextKind::kEnd; next = replay.next()) {
    if (next.kind == NextKind::kRule && next.target < rules_from) {
      replay.reject();
    } else if (next.kind == NextKind::kRule) {
      draw(replay, next.target, version);
    }
  }
}

TEST(Replay, GivesTheSameTapeAndNoMisalignment) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Tape tape = explored(seed);
    Replay replay(tape);
    finish(replay);
    EXPECT_EQ(replay.realized(), tape);
    EXPECT_EQ(replay.source().misaligned(), 0U);
    EXPECT_EQ(replay.rejected(), 0U);
  }
}

TEST(Replay, OfWhatWasRealizedIsExactEvenWhenTheTapeWasNot) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Replay first(explored(seed));
    finish(first, 3, 2);
    Replay second(first.realized());
    finish(second, 3, 2);
    EXPECT_EQ(second.realized(), first.realized());
    EXPECT_EQ(second.source().misaligned(), 0U);
    EXPECT_EQ(second.rejected(), 0U);
  }
}

TEST(Replay, CountsWhatANewVersionOfTheMachineCannotUse) {
  const Tape tape = explored(3);
  std::size_t rules = 0;
  for (const TapeStep& step : tape.steps()) {
    rules += step.kind == StepKind::kRule ? 1U : 0U;
  }
  Replay added(tape);
  finish(added, 3);
  EXPECT_GE(added.source().misaligned(), rules);
  EXPECT_EQ(added.realized().size(), tape.size());
  for (const TapeStep& step : added.realized().steps()) {
    for (const TapeArgument& argument : added.realized().arguments(step)) {
      if (argument.name == 9) {
        EXPECT_EQ(added.realized().choices(argument)[0], Choice::boolean(false));
      }
    }
  }
}

TEST(Replay, CountsRecordedChoicesThatNothingDrew) {
  Tape tape;
  for (std::uint32_t origin = 0; origin < 3; ++origin) {
    tape.begin_step(StepKind::kRule, origin, origin);
    for (const std::uint32_t name : {0U, 1U}) {
      tape.begin_argument(name);
      tape.add(Choice::integer(4));
      tape.add(Choice::integer(5));
    }
  }
  Replay replay(tape);
  const std::vector<std::uint32_t> in_body{0};
  EXPECT_EQ(replay.unused(in_body, true), 0U);
  replay.next();
  replay.source().begin_argument(1);
  replay.source().integer(0, 9, 0);
  EXPECT_EQ(replay.unused(in_body, true), 1U);
  EXPECT_EQ(replay.unused({}, true), 3U);
  EXPECT_EQ(replay.unused(in_body, false), 0U);
  replay.next();
  replay.reject();
  EXPECT_EQ(replay.unused(in_body, true), 1U);
  replay.next();
  EXPECT_EQ(replay.unused(in_body, true), 3U + 2U);
  EXPECT_EQ(replay.unused(in_body, false), 3U);
}

TEST(Replay, RejectedStepsAreLeftOut) {
  const Tape tape = explored(4);
  std::vector<bool> keep;
  std::size_t rejected = 0;
  for (const TapeStep& step : tape.steps()) {
    keep.push_back(step.kind != StepKind::kRule || step.target >= 2);
    rejected += keep.back() ? 0U : 1U;
  }
  Replay replay(tape);
  finish(replay, 1, 2);
  EXPECT_GT(rejected, 0U);
  EXPECT_EQ(replay.rejected(), rejected);
  EXPECT_EQ(replay.realized(), tape.subset(keep));
}

TEST(Replay, SaysWhereItIs) {
  const Tape tape = explored(5);
  Replay replay(tape);
  EXPECT_EQ(replay.position(), 0U);
  for (std::size_t at = 0; at < tape.size(); ++at) {
    EXPECT_EQ(replay.next().target, tape.step(at).target);
    EXPECT_EQ(replay.position(), at);
  }
  EXPECT_EQ(replay.next().kind, NextKind::kEnd);
  EXPECT_EQ(replay.next().kind, NextKind::kEnd);
  EXPECT_EQ(replay.position(), tape.size() - 1);
}

TEST(Replay, AnEmptyTapeEndsAtOnce) {
  Replay replay{Tape()};
  EXPECT_EQ(replay.next().kind, NextKind::kEnd);
  EXPECT_TRUE(replay.realized().empty());
}

TEST(Replay, OnlyTheStepJustGivenCanBeRejected) {
  Replay replay(explored(6));
  EXPECT_THROW(replay.reject(), CheckFailure);
  replay.next();
  replay.next();
  replay.reject();
  EXPECT_THROW(replay.reject(), CheckFailure);
  EXPECT_EQ(replay.realized().size(), 1U);
  finish(replay);
  EXPECT_THROW(replay.reject(), CheckFailure);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
