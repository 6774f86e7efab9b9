// Which checkpoint a run starts from, which makes room, and what the outcome does to the next pick.
#include "core/corpus/corpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "chi_squared.h"
#include "core/base/check.h"
#include "core/base/error.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr int kDraws = 200'000;

Checkpoint checkpoint(std::uint64_t id, double energy = kEnergyInitial) {
  Checkpoint result;
  result.id = id;
  result.energy = energy;
  return result;
}

// Ids 0..energies.size()-1 in that order.
Corpus corpus_of(CheckpointStrategy strategy, const std::vector<double>& energies) {
  Corpus corpus(energies.size(), strategy);
  Rng rng(0);
  for (std::size_t i = 0; i < energies.size(); ++i) {
    corpus.add(checkpoint(i, energies[i]), rng);
  }
  return corpus;
}

std::vector<std::uint64_t> picks(Corpus& corpus) {
  std::vector<std::uint64_t> counts(corpus.size());
  Rng rng(7);
  for (int i = 0; i < kDraws; ++i) {
    ++counts[corpus.pick(rng)->id];
  }
  return counts;
}

std::vector<std::uint64_t> ids(const Corpus& corpus) {
  std::vector<std::uint64_t> result;
  for (const Checkpoint* entry : corpus.entries()) {
    result.push_back(entry->id);
  }
  return result;
}

Checkpoint of_bytes(std::uint64_t id, std::size_t bytes) {
  Checkpoint result = checkpoint(id);
  Tape tape;
  tape.begin_step(StepKind::kRule, 0, 0);
  tape.begin_argument(1);
  tape.add(Choice::bytes(std::string(bytes, 'x')));
  result.prefix = Prefix(tape);
  return result;
}

TEST(Corpus, SharesOfRunsAreSharesOfTime) {
  Corpus corpus = corpus_of(CheckpointStrategy::kEnergy, {1.0, 1.0, 2.0});
  corpus.set_slowness(1, 4.0);
  corpus.set_slowness(2, 0.5);
  corpus.set_slowness(99, 2.0);  // none of them
  expect_fits(picks(corpus), std::vector{1.0, 0.25, 4.0});
}

TEST(Corpus, HoldsNoMoreBytesThanItMay) {
  constexpr std::size_t kMax = 100'000;
  Corpus corpus(1'000, CheckpointStrategy::kEnergy, kMax);
  Rng rng(0);
  for (std::uint64_t id = 0; id < 200; ++id) {
    corpus.add(of_bytes(id, 1'000 * (1 + id % 20)), rng);
    std::size_t bytes = 0;
    for (const Checkpoint* const entry : corpus.entries()) {
      bytes += entry->prefix.bytes();
    }
    EXPECT_LE(bytes, kMax);
  }
  EXPECT_GT(corpus.size(), 4U);
}

// A run of 100 steps of 1,000 bytes that is kept after each: 5 MB where nothing is shared.
TEST(Corpus, CountsWhatPrefixesShareOnce) {
  Corpus corpus(1'000, CheckpointStrategy::kEnergy, 500'000);
  Rng rng(0);
  Tape tape;
  Prefix prefix;
  for (std::uint32_t step = 0; step < 100; ++step) {
    tape.begin_step(StepKind::kRule, 0, step);
    tape.begin_argument(1);
    tape.add(Choice::bytes(std::string(1'000, 'x')));
    prefix = Prefix(prefix, tape);
    Checkpoint kept = checkpoint(step);
    kept.prefix = prefix;
    corpus.add(std::move(kept), rng);
  }
  EXPECT_EQ(corpus.size(), 100U);
  EXPECT_EQ(corpus.find(99)->prefix.tape(), tape);
  // What others need is still there when an entry makes room.
  for (std::uint64_t id = 200; id < 230; ++id) {
    corpus.add(of_bytes(id, 120'000), rng);
  }
  EXPECT_LT(corpus.size(), 100U);
  for (const Checkpoint* const entry : corpus.entries()) {
    EXPECT_EQ(entry->prefix.tape().size(), entry->prefix.size());
  }
}

TEST(Corpus, MakesRoomForNoneThatIsTooLargeForIt) {
  Corpus corpus(1'000, CheckpointStrategy::kEnergy, 100'000);
  Rng rng(0);
  corpus.add(of_bytes(1, 1'000), rng);
  EXPECT_EQ(corpus.add(of_bytes(2, 50'000), rng), std::nullopt);
  EXPECT_EQ(ids(corpus), (std::vector<std::uint64_t>{1}));
}

TEST(Corpus, ForgetsTheBytesOfWhatMadeRoom) {
  Corpus corpus(1'000, CheckpointStrategy::kUniform, 100'000);
  Rng rng(0);
  for (std::uint64_t id = 0; id < 50; ++id) {
    corpus.add(of_bytes(id, 20'000), rng);
    EXPECT_NE(corpus.find(id), nullptr);
  }
  EXPECT_GE(corpus.size(), 3U);
}

TEST(ParseStrategy, KnowsThree) {
  EXPECT_EQ(parse_strategy("energy"), CheckpointStrategy::kEnergy);
  EXPECT_EQ(parse_strategy("uniform"), CheckpointStrategy::kUniform);
  EXPECT_EQ(parse_strategy("recent"), CheckpointStrategy::kRecent);
}

TEST(ParseStrategy, NamesTheValueAndTheAllowedOnes) {
  for (const std::string_view name : {"Energy", "", "energy ", "newest"}) {
    try {
      parse_strategy(name);
      FAIL() << name;
    } catch (const ConfigError& error) {
      EXPECT_EQ(error.what(),
                "checkpoint_strategy is '" + std::string(name) + "'; it must be one of: energy, uniform, recent");
    }
  }
}

TEST(CorpusPick, EnergyIsInProportion) {
  const std::vector<double> energies{1.0, 0.01, 3.0, 0.5, 21.0, 1.0, 2.0};
  Corpus corpus = corpus_of(CheckpointStrategy::kEnergy, energies);
  expect_fits(picks(corpus), energies);
}

TEST(CorpusPick, UniformIgnoresEnergy) {
  Corpus corpus = corpus_of(CheckpointStrategy::kUniform, {1.0, 0.01, 3.0, 0.5, 21.0});
  expect_fits(picks(corpus), std::vector<double>(5, 1.0));
}

TEST(CorpusPick, RecentIsLinearInTheOrderOfCreation) {
  Corpus corpus = corpus_of(CheckpointStrategy::kRecent, std::vector<double>(9, 1.0));
  expect_fits(picks(corpus), std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST(CorpusPick, RecentRanksOnlyWhatIsLeft) {
  Corpus corpus(4, CheckpointStrategy::kRecent);
  Rng rng(0);
  // Four of the eight make room; the others have the ranks 1 to 4 in the order of their creation.
  for (std::uint64_t id = 0; id < 8; ++id) {
    corpus.add(checkpoint(id), rng);
  }
  const std::vector<std::uint64_t> left = ids(corpus);
  ASSERT_EQ(left.size(), 4U);
  std::vector<std::uint64_t> counts(4);
  for (int i = 0; i < kDraws; ++i) {
    ++counts[static_cast<std::size_t>(std::ranges::find(left, corpus.pick(rng)->id) - left.begin())];
  }
  expect_fits(counts, std::vector<double>{1, 2, 3, 4});
}

TEST(CorpusPick, RewardAndDecayMoveTheShares) {
  Corpus corpus = corpus_of(CheckpointStrategy::kEnergy, {1.0, 1.0, 1.0});
  corpus.reward(0, 3);
  corpus.decay(1);
  EXPECT_DOUBLE_EQ(corpus.find(0)->energy, 7.0);
  EXPECT_DOUBLE_EQ(corpus.find(1)->energy, 0.95);
  expect_fits(picks(corpus), std::vector<double>{7.0, 0.95, 1.0});
}

TEST(CorpusPick, CountsSelections) {
  Corpus corpus = corpus_of(CheckpointStrategy::kUniform, {1.0, 1.0});
  const auto counts = picks(corpus);
  EXPECT_EQ(corpus.find(0)->times_selected, counts[0]);
  EXPECT_EQ(corpus.find(1)->times_selected, counts[1]);
}

TEST(CorpusPick, AnEmptyCorpusHasNothing) {
  Corpus corpus(4, CheckpointStrategy::kEnergy);
  Rng rng(1);
  EXPECT_TRUE(corpus.empty());
  EXPECT_EQ(corpus.pick(rng), nullptr);
}

TEST(CorpusAdd, KeepsWhatItWasGiven) {
  Corpus corpus(4, CheckpointStrategy::kEnergy);
  Rng rng(1);
  Tape prefix;
  prefix.begin_step(StepKind::kRule, 2, 0);
  corpus.add({.id = 9, .prefix = Prefix(prefix), .energy = 5.0, .new_edges = 2, .step = 1, .run_id = 3}, rng);
  const Checkpoint* found = corpus.find(9);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->prefix.tape(), prefix);
  EXPECT_EQ(found->new_edges, 2U);
  EXPECT_EQ(found->step, 1U);
  EXPECT_EQ(found->run_id, 3U);
  EXPECT_EQ(corpus.find(8), nullptr);
}

TEST(CorpusAdd, UnderEnergyTheLowestMakesRoom) {
  Corpus corpus = corpus_of(CheckpointStrategy::kEnergy, {2.0, 0.5, 1.0, 0.5});
  Rng rng(1);
  EXPECT_EQ(corpus.add(checkpoint(4), rng), 1U);  // of equals the oldest
  EXPECT_EQ(corpus.add(checkpoint(5), rng), 3U);
  EXPECT_EQ(corpus.size(), 4U);
  EXPECT_EQ(ids(corpus), (std::vector<std::uint64_t>{0, 2, 4, 5}));
}

TEST(CorpusAdd, TheNewestStaysEvenWithTheLowestEnergy) {
  Corpus corpus = corpus_of(CheckpointStrategy::kEnergy, {2.0, 1.0});
  Rng rng(1);
  EXPECT_EQ(corpus.add(checkpoint(2, kEnergyFloor), rng), 1U);
  EXPECT_NE(corpus.find(2), nullptr);
}

TEST(CorpusAdd, UnderOtherStrategiesAnyButTheNewestMakesRoom) {
  for (const auto strategy : {CheckpointStrategy::kUniform, CheckpointStrategy::kRecent}) {
    std::vector<std::uint64_t> counts(5);
    Rng rng(3);
    for (int i = 0; i < 20'000; ++i) {
      Corpus corpus = corpus_of(strategy, {2.0, 0.5, 1.0, 0.5, 9.0});
      const auto evicted = corpus.add(checkpoint(5), rng);
      ASSERT_TRUE(evicted.has_value());
      ASSERT_LT(*evicted, 5U);
      ++counts[*evicted];
    }
    expect_fits(counts, std::vector<double>(5, 1.0));
  }
}

TEST(CorpusAdd, ACorpusOfOneHoldsTheNewest) {
  for (const auto strategy : {CheckpointStrategy::kEnergy, CheckpointStrategy::kUniform, CheckpointStrategy::kRecent}) {
    Corpus corpus(1, strategy);
    Rng rng(1);
    EXPECT_EQ(corpus.add(checkpoint(0, 9.0), rng), std::nullopt);
    for (std::uint64_t id = 1; id < 300; ++id) {
      EXPECT_EQ(corpus.add(checkpoint(id), rng), id - 1);
      EXPECT_EQ(corpus.pick(rng)->id, id);
    }
  }
}

TEST(CorpusAdd, ACorpusOfZeroKeepsNothing) {
  Corpus corpus(0, CheckpointStrategy::kEnergy);
  Rng rng(1);
  EXPECT_EQ(corpus.add(checkpoint(0), rng), std::nullopt);
  EXPECT_TRUE(corpus.empty());
  EXPECT_EQ(corpus.pick(rng), nullptr);
}

TEST(CorpusAdd, RefusesASecondEntryOfAnIdAndEnergiesThatAreNone) {
  Corpus corpus = corpus_of(CheckpointStrategy::kEnergy, {1.0, 1.0});
  Rng rng(1);
  EXPECT_THROW(corpus.add(checkpoint(1), rng), CheckFailure);
  EXPECT_THROW(corpus.add(checkpoint(2, 0.0), rng), CheckFailure);
  EXPECT_THROW(corpus.add(checkpoint(2, -1.0), rng), CheckFailure);
  EXPECT_THROW(corpus.add(checkpoint(2, std::numeric_limits<double>::quiet_NaN()), rng), CheckFailure);
  EXPECT_THROW(corpus.add(checkpoint(2, std::numeric_limits<double>::infinity()), rng), CheckFailure);
  EXPECT_EQ(corpus.size(), 2U);
}

TEST(Corpus, HasALimit) {
  EXPECT_NO_THROW(Corpus(Corpus::kCheckpointsMax, CheckpointStrategy::kEnergy));
  try {
    const Corpus corpus(Corpus::kCheckpointsMax + 1, CheckpointStrategy::kEnergy);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "max_checkpoints is 1048577; it must be between 0 and 1048576");
  }
}

TEST(Corpus, EnergyIsHandedOverAndNoneIsMade) {
  Corpus corpus = corpus_of(CheckpointStrategy::kEnergy, {5.0, 3.0});
  corpus.transfer_energy(0, 1);
  EXPECT_DOUBLE_EQ(corpus.find(0)->energy, kEnergyFloor);
  EXPECT_DOUBLE_EQ(corpus.find(1)->energy, 8.0 - kEnergyFloor);
  corpus.transfer_energy(0, 1);
  corpus.transfer_energy(1, 99);
  corpus.transfer_energy(99, 1);
  EXPECT_DOUBLE_EQ(corpus.find(1)->energy, 8.0 - kEnergyFloor);
}

TEST(Corpus, AnEntryThatIsGoneIsIgnored) {
  Corpus corpus = corpus_of(CheckpointStrategy::kEnergy, {1.0});
  corpus.reward(5, 1);
  corpus.decay(5);
  corpus.set_frequency_class(5, 1);
  EXPECT_EQ(corpus.find(5), nullptr);
  EXPECT_DOUBLE_EQ(corpus.find(0)->energy, 1.0);
}

TEST(Corpus, SurvivesALongLife) {
  Corpus corpus(100, CheckpointStrategy::kRecent);
  std::set<std::uint64_t> model;  // ids ascend, so the set is in the order of creation
  Rng rng(5);
  for (std::uint64_t id = 0; id < 20'000; ++id) {
    if (const auto evicted = corpus.add(checkpoint(id), rng)) {
      ASSERT_EQ(model.erase(*evicted), 1U);
    }
    model.insert(id);
    ASSERT_TRUE(model.contains(corpus.pick(rng)->id));
    ASSERT_EQ(corpus.size(), model.size());
  }
  EXPECT_EQ(ids(corpus), std::vector<std::uint64_t>(model.begin(), model.end()));
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
