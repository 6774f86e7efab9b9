// Going on at random: initialize rules first, then rules and the allowed switches, each refused rule replaced once.
#include "core/draw/continuation.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "core/base/error.h"
#include "core/draw/replay.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr MachineShape kShape{.rules = 3, .initializers = 2, .faults = 2};

Tape two_steps() {
  Tape tape;
  tape.begin_step(StepKind::kInitialize, 1, 0);
  tape.begin_step(StepKind::kFaultOn, 1, 4);
  return tape;
}

TEST(Continuation, TakesInitializeRulesFirstAndCountsOnlyTheOthers) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Continuation continuation({.shape = kShape, .faults = {}, .steps = 5, .seed = seed});
    const std::vector<bool> faults_on(2, false);
    std::set<std::uint32_t> initializers;
    for (int i = 0; i < 2; ++i) {
      const NextStep next = continuation.next(faults_on);
      ASSERT_EQ(next.kind, NextKind::kInitialize);
      initializers.insert(next.target);
    }
    EXPECT_EQ(initializers.size(), 2U);
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(continuation.next(faults_on).kind, NextKind::kRule);
    }
    EXPECT_EQ(continuation.next(faults_on).kind, NextKind::kEnd);
  }
}

TEST(Continuation, ReplacesARefusedRuleUntilNoneIsLeft) {
  Continuation continuation({.shape = {.rules = 3, .initializers = 0, .faults = 0}, .faults = {}, .steps = 1});
  std::set<std::uint32_t> proposed;
  for (int i = 0; i < 3; ++i) {
    proposed.insert(continuation.next({}).target);
    continuation.reject();
  }
  EXPECT_EQ(proposed.size(), 3U);
  EXPECT_EQ(continuation.next({}).kind, NextKind::kStuck);
}

TEST(Continuation, SwitchesTheAllowedFaultsAlone) {
  EXPECT_THROW(Continuation({.shape = kShape, .faults = {2}, .steps = 1, .seed = 0}), ConfigError);
  Replay replay(two_steps(), Continuation({.shape = kShape, .faults = {1}, .steps = 200, .seed = 3}));
  bool on = false;
  int switches = 0;
  std::set<std::uint32_t> origins;
  for (NextStep next = replay.next(); next.kind != NextKind::kEnd; next = replay.next()) {
    if (next.kind == NextKind::kInitialize && next.target == 1 && replay.position() > 1) {
      replay.reject();  // it has run
      continue;
    }
    EXPECT_TRUE(origins.insert(replay.source().origin()).second);
    if (next.kind == NextKind::kFaultOn || next.kind == NextKind::kFaultOff) {
      EXPECT_EQ(next.target, 1U);
      EXPECT_EQ(next.kind == NextKind::kFaultOff, on);
      on = !on;
      ++switches;
    }
  }
  EXPECT_GT(switches, 20);
  EXPECT_EQ(replay.unused({}, true), 0U);
}

TEST(Continuation, DrawsAtRandomAndAlikeForOneSeed) {
  const auto drawn = [](std::uint64_t seed) {
    Replay replay(two_steps(), Continuation({.shape = kShape, .faults = {}, .steps = 4, .seed = seed}));
    for (NextStep next = replay.next(); next.kind != NextKind::kEnd; next = replay.next()) {
      replay.source().begin_argument(1);
      replay.source().integer(0, 1'000'000, 0);
    }
    return replay.realized();
  };
  EXPECT_EQ(drawn(1), drawn(1));
  EXPECT_NE(drawn(1), drawn(2));
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
