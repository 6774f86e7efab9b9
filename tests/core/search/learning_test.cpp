// What is learnt from steps and runs, without a session around it; session_learning_test.cpp is about whole runs.
#include "core/search/learning.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "core/base/check.h"
#include "search/classic.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr MachineShape kShape{.rules = 2, .initializers = 0, .faults = 0};
constexpr NextStep kFirst{.kind = NextKind::kRule, .target = 0};

struct Learner {
  std::shared_ptr<CoverageMap> coverage = std::make_shared<CoverageMap>(64);
  Learning learning;
  PlannedRun run;
  Tape tape;
  Rng schedule{1};

  explicit Learner(const SessionOptions& options = {})
      : learning(kShape, checked(classic(options), kShape), coverage) {}

  void begin_run() {
    tape.clear();
    learning.begin_run(++run.spec.run_id);
  }
  void begin_step(bool is_of_prefix = false) {
    tape.begin_step(StepKind::kRule, 0, static_cast<std::uint32_t>(tape.size()));
    tape.begin_argument(1);
    tape.add(Choice::integer(123'456));
    learning.begin_step(kFirst, is_of_prefix);
  }
  StepNovelty end_step(std::uint64_t state_hash = 0) { return learning.end_step(tape, state_hash, 0); }
  StepNovelty step_with_edge(std::uint64_t key) {
    begin_step();
    coverage->mark(coverage->add_edge(key));
    return end_step();
  }
};

TEST(Learning, CountsWhatARunBrought) {
  Learner learner;
  learner.begin_run();
  EXPECT_EQ(learner.step_with_edge(1).edges, 1U);
  learner.begin_step();
  EXPECT_EQ(learner.end_step(7).features, 1U);
  learner.begin_step();
  EXPECT_FALSE(learner.end_step(7).any()) << "the same state again";
  const RunTally tally = learner.learning.end_run(learner.run);
  EXPECT_EQ(tally.edges, 1U);
  EXPECT_GT(tally.reward, 0U);
  EXPECT_GE(tally.weight, Features::kWeightOfEdge);
}

TEST(Learning, APrefixEarnsNoReward) {
  Learner learner;
  learner.begin_run();
  learner.begin_step(true);
  learner.coverage->mark(learner.coverage->add_edge(1));
  EXPECT_EQ(learner.end_step(7).edges, 1U);
  EXPECT_EQ(learner.learning.tally().reward, 0U);
  EXPECT_EQ(learner.learning.values().size(DictionarySource::kProductive, ChoiceKind::kInteger), 0U);
}

TEST(Learning, KeepsTheValuesOfAStepThatBroughtAnEdge) {
  Learner learner;
  learner.begin_run();
  learner.step_with_edge(1);
  EXPECT_EQ(learner.learning.values().size(DictionarySource::kProductive, ChoiceKind::kInteger), 1U);
}

TEST(Learning, ACheckpointShowsWhatItWasKeptFor) {
  Learner learner;
  learner.begin_run();
  learner.step_with_edge(5);
  const KeepResult kept = learner.learning.keep(learner.tape, learner.schedule);
  const Checkpoint* const checkpoint = learner.learning.corpus().find(kept.id);
  ASSERT_NE(checkpoint, nullptr);
  EXPECT_EQ(checkpoint->prefix.tape(), learner.tape);
  EXPECT_EQ(checkpoint->run_id, 1U);
  EXPECT_EQ(checkpoint->step, 1U);
  ASSERT_EQ(checkpoint->shows.size(), 1U);
  EXPECT_EQ(checkpoint->shows[0], (Feature{FeatureKind::kEdge, 5}));
  EXPECT_EQ(learner.learning.checkpoints_saved(), 1U);
}

TEST(Learning, ARunThatFoundNothingTakesEnergyFromItsCheckpoint) {
  Learner learner;
  learner.begin_run();
  learner.step_with_edge(1);
  const std::uint64_t id = learner.learning.keep(learner.tape, learner.schedule).id;
  learner.learning.end_run(learner.run);
  learner.run.spec.checkpoint = id;
  learner.begin_run();
  learner.learning.end_run(learner.run);
  EXPECT_LT(learner.learning.corpus().find(id)->energy, kEnergyInitial);
}

TEST(Learning, AFindIsTakenOnceAndAdoptedWhereItIsNew) {
  Learner one;
  one.begin_run();
  one.step_with_edge(1);
  one.learning.keep(one.tape, one.schedule);
  const std::vector<SharedEntry> entries = one.learning.take_new_entries();
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_TRUE(one.learning.take_new_entries().empty());
  Learner other;
  EXPECT_NE(other.learning.import_entry(entries[0], other.schedule).id, 0U);
  EXPECT_EQ(other.learning.import_entry(entries[0], other.schedule).id, 0U) << "known by now";
}

TEST(Learning, GoesOnFromItsState) {
  Learner one;
  one.begin_run();
  one.step_with_edge(1);
  one.learning.keep(one.tape, one.schedule);
  one.learning.end_run(one.run);
  SessionState state;
  one.learning.save(state);
  Learner other;
  other.run.spec.run_id = state.runs;
  other.learning.restore(std::move(state), other.schedule);
  EXPECT_EQ(other.learning.corpus().size(), 1U);
  other.begin_run();
  EXPECT_FALSE(other.step_with_edge(1).any()) << "the edge is known";
  EXPECT_EQ(other.learning.keep(other.tape, other.schedule).id, 2U);
}

TEST(Learning, ChecksTheOrderOfRuns) {
  Learner learner;
  learner.begin_run();
  EXPECT_THROW(learner.learning.begin_run(1), CheckFailure);
  learner.run.spec.run_id = 7;
  EXPECT_THROW(learner.learning.end_run(learner.run), CheckFailure);
  EXPECT_THROW(learner.learning.keep(Tape(), learner.schedule), CheckFailure);
  EXPECT_THROW(Learning(kShape, checked(classic(), kShape), nullptr), CheckFailure);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
