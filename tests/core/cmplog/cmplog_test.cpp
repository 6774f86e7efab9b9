// What is watched for comparisons, and what is made of them.
#include "core/cmplog/cmplog.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

Tape tape_of(std::int64_t value) {
  Tape tape;
  for (std::uint32_t origin = 0; origin < 3; ++origin) {
    tape.begin_step(StepKind::kRule, 0, origin);
    tape.begin_argument(1);
    tape.add(Choice::integer(value + origin));
  }
  return tape;
}

TEST(Cmplog, WatchesCheckpointsOfEdgesFromTheNewestToTheOldestAndAgain) {
  Rng rng(1);
  Corpus corpus(10, CheckpointStrategy::kEnergy);
  for (std::uint64_t id = 1; id <= 4; ++id) {
    Checkpoint checkpoint{.id = id, .prefix = Prefix(tape_of(0))};
    checkpoint.shows.push_back({id == 3 ? FeatureKind::kEvent : FeatureKind::kEdge, id});
    corpus.add(std::move(checkpoint), rng);
  }
  Cmplog search;
  Dictionary dictionary;
  for (const std::uint64_t expected : {4U, 2U, 1U, 4U, 2U}) {
    EXPECT_EQ(search.checkpoint_to_watch(corpus)->id, expected);
    search.learn(Tape(), expected, {}, dictionary);
    search.end_run(1, true);  // what lies behind a turned comparison is watched first
    EXPECT_EQ(search.checkpoint_to_watch(corpus), nullptr);
    search.learn(Tape(), 0, {}, dictionary);
  }
}

TEST(Cmplog, MakesTapesThatTurnAComparison) {
  Cmplog search;
  Dictionary dictionary;
  const std::vector<Comparison> compared{{2, Relation::kEqual, Choice::integer(70'001), Choice::integer(123'456'789)}};
  EXPECT_EQ(search.learn(tape_of(70'000), 0, compared, dictionary), 1U);
  EXPECT_EQ(dictionary.size(DictionarySource::kOperand, ChoiceKind::kInteger), 2U);
  const auto tape = search.next();
  ASSERT_TRUE(tape);
  EXPECT_EQ(tape->size(), 2U);
  EXPECT_EQ(tape->choices()[0], Choice::integer(70'000));
  EXPECT_EQ(tape->choices()[1], Choice::integer(123'456'789));
  EXPECT_FALSE(search.next());
}

TEST(Cmplog, WantsNoReplayWhileTapesWait) {
  Cmplog search;
  Dictionary dictionary;
  const std::vector<Comparison> compared{{2, Relation::kEqual, Choice::integer(70'001), Choice::integer(123'456'789)}};
  search.learn(tape_of(70'000), 0, compared, dictionary);
  EXPECT_FALSE(search.wants_comparisons());
  static_cast<void>(search.next());
  EXPECT_TRUE(search.wants_comparisons());
}

TEST(Cmplog, TakesEveryOtherRunAtMost) {
  Cmplog search;
  Dictionary dictionary;
  const std::vector<Comparison> compared{{3, Relation::kOrder, Choice::integer(70'001), Choice::integer(90'000)}};
  EXPECT_EQ(search.learn(tape_of(70'000), 0, compared, dictionary), 3U);
  int tapes = 0;
  for (int i = 0; i < 6; ++i) {
    tapes += search.next() ? 1 : 0;
  }
  EXPECT_EQ(tapes, 3);
}

TEST(Cmplog, TriesAnEditAFewTimesOnly) {
  Cmplog search;
  Dictionary dictionary;
  const std::vector<Comparison> compared{{3, Relation::kEqual, Choice::integer(70'001), Choice::integer(90'000)}};
  std::size_t queued = 0;
  for (int i = 0; i < 10; ++i) {
    queued += search.learn(tape_of(70'000), 0, compared, dictionary);
  }
  EXPECT_EQ(queued, Cmplog::kTriesMax);
}

// A tape of 20 MB, and comparisons that would have it queued a hundred times.
TEST(Cmplog, QueuesNoMoreBytesThanItMay) {
  Cmplog search;
  Dictionary dictionary;
  Tape large = tape_of(70'000);
  large.begin_argument(9);
  large.add(Choice::bytes(std::string(20'000'000, 'x')));
  std::vector<Comparison> compared;
  for (std::int64_t i = 0; i < 50; ++i) {
    compared.push_back({3, Relation::kOrder, Choice::integer(70'001), Choice::integer(90'000 + (i * 1'000))});
  }
  EXPECT_EQ(search.learn(large, 0, compared, dictionary), 3U);
  const CmplogState state = search.save();
  Cmplog other;
  CmplogState doubled = state;
  doubled.queue.insert(doubled.queue.end(), state.queue.begin(), state.queue.end());
  other.restore(std::move(doubled));
  EXPECT_EQ(other.save().queue.size(), 3U);
  while (search.save().queue.size() > 1) {
    static_cast<void>(search.next());
  }
  EXPECT_GT(search.learn(large, 0, compared, dictionary), 0U) << "there is room again";
}

TEST(Cmplog, GoesOnWhereItWasSaved) {
  Cmplog search;
  Dictionary dictionary;
  const std::vector<Comparison> compared{{3, Relation::kOrder, Choice::integer(70'001), Choice::integer(90'000)}};
  search.learn(tape_of(70'000), 0, compared, dictionary);
  static_cast<void>(search.next());
  Cmplog other;
  other.restore(search.save());
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(search.wants_comparisons(), other.wants_comparisons());
    EXPECT_EQ(search.next(), other.next());
    EXPECT_EQ(search.learn(tape_of(70'000), 0, compared, dictionary),
              other.learn(tape_of(70'000), 0, compared, dictionary));
    search.end_run(0, true);
    other.end_run(0, true);
  }
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
