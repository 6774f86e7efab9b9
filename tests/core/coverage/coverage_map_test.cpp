// The coverage map: ids, buckets, novelty, runs and growth.
#include "core/coverage/coverage_map.h"

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/rng.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

TEST(CoverageMap, GivesOneDenseIdPerKey) {
  CoverageMap map;
  EXPECT_EQ(map.add_edge(77).id, 0U);
  EXPECT_EQ(map.add_edge(5).id, 1U);
  EXPECT_EQ(map.add_edge(77).id, 0U);
  EXPECT_EQ(map.edges_seen(), 0U) << "adding an edge is not seeing it";
}

TEST(CoverageMap, MarkIsFreshOnce) {
  CoverageMap map;
  auto& edge = map.add_edge(1);
  map.mark(edge);
  map.mark(edge);
  const NewCoverage fresh = map.take_new_coverage();
  EXPECT_EQ(fresh.edges, 1U);
  EXPECT_EQ(fresh.buckets, 1U);
  EXPECT_EQ(map.take_new_coverage().edges, 0U);
  EXPECT_EQ(map.hits(edge), 0U) << "the novelty level does not count";
}

TEST(CoverageMap, WhatIsForgottenIsFreshAgainUnderItsOldId) {
  CoverageMap map;
  auto& marked = map.add_edge(1);
  auto& hit = map.add_edge(2);
  map.mark(marked);
  map.hit(hit);
  map.forget();
  EXPECT_TRUE(map.keys().empty());
  EXPECT_EQ(map.edges_seen(), 0U);
  EXPECT_EQ(map.hits(hit), 0U);
  EXPECT_EQ(map.take_new_coverage().edges, 0U);
  EXPECT_EQ(&map.add_edge(2), &hit);
  map.hit(hit);
  EXPECT_EQ(map.keys(), (std::vector<std::uint64_t>{2}));
  EXPECT_EQ(map.take_new_coverage().edges, 1U);
}

TEST(CoverageMap, EachBucketIsFreshOnce) {
  CoverageMap map;
  auto& edge = map.add_edge(1);
  std::vector<int> fresh_at;
  for (int hit = 1; hit <= 300; ++hit) {
    map.hit(edge);
    if (map.take_new_coverage().buckets != 0) {
      fresh_at.push_back(hit);
    }
  }
  EXPECT_EQ(fresh_at, (std::vector<int>{1, 2, 3, 4, 8, 16, 32, 128}));
  EXPECT_EQ(map.hits(edge), 128U) << "the counter saturates";
}

// An edge that ran in so many runs without anything new has nothing to show, until it shows something.
TEST(CoverageMap, EdgesGrowStale) {
  CoverageMap map;
  auto& edge = map.add_edge(1);
  for (int run = 0; run <= CoverageMap::kStaleRuns; ++run) {
    map.begin_run();
    EXPECT_FALSE(map.is_stale(edge)) << "before run " << run;
    map.hit(edge);
    EXPECT_FALSE(map.is_stale(edge)) << "in run " << run;
  }
  map.begin_run();
  EXPECT_TRUE(map.is_stale(edge));
  map.hit(edge);
  EXPECT_TRUE(map.is_stale(edge));
  map.hit(edge);
  EXPECT_FALSE(map.is_stale(edge)) << "two passages are new";
}

TEST(CoverageMap, AnotherRuleMakesAnEdgeFresh) {
  CoverageMap map;
  auto& edge = map.add_edge(1);
  for (int run = 0; run < 100; ++run) {
    map.begin_run();
    map.hit(edge);
  }
  EXPECT_TRUE(map.is_stale(edge));
  CoverageMap restored;
  restored.restore(map.save());
  EXPECT_TRUE(restored.is_stale(restored.add_edge(1))) << "a later session goes on alike";
  map.begin_run();
  map.enter_rule(2);
  map.hit(edge);
  EXPECT_FALSE(map.is_stale(edge));
}

TEST(CoverageMap, AnEdgeThatARuleOfItsFunctionHasNotPassedIsFresh) {
  CoverageMap map;
  auto& entry = map.add_edge(1);
  auto& inside = map.add_edge(2);
  for (int run = 0; run < 100; ++run) {
    map.begin_run();
    map.enter_rule(1);
    map.hit(entry);
    map.hit(inside);
    map.enter_rule(2);
    map.hit(entry);
  }
  EXPECT_TRUE(map.is_stale(inside));
  EXPECT_FALSE(map.is_stale(inside, entry)) << "the second rule may pass it yet";
  for (int run = 0; run < 100; ++run) {
    map.begin_run();
    map.enter_rule(2);
    map.hit(entry);
    map.hit(inside);
  }
  EXPECT_TRUE(map.is_stale(inside, entry));
}

TEST(CoverageMap, CountsBeginAgainInEachRunButNoveltyDoesNot) {
  CoverageMap map;
  auto& edge = map.add_edge(1);
  auto& other = map.add_edge(2);
  for (int hit = 0; hit < 3; ++hit) {
    map.hit(edge);
  }
  map.take_new_coverage();
  map.begin_run();
  EXPECT_EQ(map.hits(edge), 0U);
  for (int hit = 0; hit < 3; ++hit) {
    map.hit(edge);
  }
  EXPECT_EQ(map.take_new_coverage().buckets, 0U);
  map.hit(edge);
  EXPECT_EQ(map.take_new_coverage().buckets, 1U) << "four hits are a new bucket";
  map.hit(other);
  const NewCoverage fresh = map.take_new_coverage();
  EXPECT_EQ(fresh.edges, 1U);
  EXPECT_EQ(fresh.buckets, 1U);
}

TEST(CoverageMap, KeysAreSortedAndOnlyOfSeenEdges) {
  CoverageMap map;
  for (const std::uint64_t key : {9ULL, 3ULL, 7ULL}) {
    map.mark(map.add_edge(key));
  }
  map.add_edge(1);
  EXPECT_EQ(map.keys(), (std::vector<std::uint64_t>{3, 7, 9}));
  EXPECT_EQ(map.edges_seen(), 3U);
}

TEST(CoverageMap, GrowsPastItsCapacityWithoutLosingEdges) {
  CoverageMap map(4);
  constexpr std::uint32_t kEdges = 20000;
  for (std::uint32_t key = 0; key < kEdges; ++key) {
    auto& id = map.add_edge(mix64(key));
    ASSERT_EQ(id.id, key);
    map.hit(id);
  }
  EXPECT_EQ(map.edges_seen(), kEdges);
  EXPECT_EQ(map.take_new_coverage().edges, kEdges);
  map.begin_run();
  EXPECT_EQ(map.hits(map.edge_at(0)), 0U);
  EXPECT_EQ(map.hits(map.edge_at(kEdges - 1)), 0U);
}

TEST(CoverageMap, AnEdgeIsFreshForEachRuleThatPassesIt) {
  CoverageMap map;
  auto& edge = map.add_edge(1);
  map.enter_rule(1);
  map.hit(edge);
  map.hit(edge);
  EXPECT_EQ(map.take_new_coverage().rules, 1U);
  map.enter_rule(2);
  map.mark(edge);
  EXPECT_EQ(map.take_new_coverage().rules, 1U);
  map.enter_rule(0);
  map.hit(edge);
  EXPECT_EQ(map.take_new_coverage().rules, 0U);
  map.enter_rule(1);
  for (int i = 0; i < 200; ++i) {
    map.hit(edge);  // far above what is counted
  }
  map.enter_rule(4);
  map.hit(edge);
  EXPECT_EQ(map.take_new_coverage().rules, 1U);
}

TEST(CoverageMap, FreshEdgesAreToldByName) {
  CoverageMap map;
  for (std::uint64_t key = 10; key < 30; ++key) {
    map.mark(map.add_edge(key));
    map.mark(map.add_edge(key));
  }
  EXPECT_EQ(map.take_new_coverage().edges, 20U);
  ASSERT_EQ(map.new_edge_ids().size(), CoverageMap::kNewEdgesListed);
  EXPECT_EQ(map.key(map.new_edge_ids().front()), 10U);
  EXPECT_EQ(map.take_new_coverage().edges, 0U);
  EXPECT_TRUE(map.new_edge_ids().empty());
}

TEST(CoverageMap, CountsTheRunsThatAreSampled) {
  CoverageMap map;
  auto& often = map.add_edge(1);
  auto& once = map.add_edge(2);
  for (int run = 0; run < 10; ++run) {
    map.begin_run();
    map.sample({.hits = true, .marks = run % 5 == 0});
    map.hit(often);
    map.hit(often);
    map.mark(run < 5 ? once : often);
    map.end_run();
  }
  map.begin_run();
  map.sample({});
  map.hit(often);
  map.mark(once);
  map.end_run();
  EXPECT_EQ(map.runs_sampled(), 10U);
  EXPECT_EQ(map.runs_of(1), 10U);
  EXPECT_EQ(map.runs_of(2), 1U);
  EXPECT_EQ(map.runs_of(3), 0U);
  EXPECT_EQ(map.sample_counts(), (SampleCounts{.runs = 10, .seen = 2, .once = 1, .twice = 0, .runs_alone = 1}));
  map.forget_sample();
  EXPECT_EQ(map.sample_counts(), SampleCounts{});
  EXPECT_EQ(map.edges_seen(), 2U);
}

TEST(CoverageMap, AMarkThatDoesNotComeInEachRunIsNoSample) {
  CoverageMap map;
  map.mark(map.add_edge(1), false);
  EXPECT_EQ(map.runs_of(1), 0U);
  EXPECT_EQ(map.edges_seen(), 1U);
}

TEST(CoverageMap, GoesOnFromWhatWasSaved) {
  CoverageMap map;
  map.enter_rule(1);
  map.hit(map.add_edge(1));
  map.end_run();
  map.begin_run();
  map.mark(map.add_edge(2));
  const CoverageState state = [&] {
    map.end_run();
    return map.save();
  }();
  CoverageMap other;
  other.restore(state);
  EXPECT_EQ(other.save(), state);
  EXPECT_EQ(other.sample_counts(), map.sample_counts());
  other.enter_rule(1);
  other.hit(other.add_edge(1));
  EXPECT_EQ(other.take_new_coverage().rules, 0U);
}

TEST(CoverageMap, ARefusedCapacityNamesTheValue) {
  EXPECT_THROW(CoverageMap(0), ConfigError);
  EXPECT_THROW(CoverageMap(CoverageMap::kEdgesMax + 1), ConfigError);
}

TEST(CoverageMap, AnUnknownIdIsRefused) {
  CoverageMap map;
  EXPECT_THROW(static_cast<void>(map.edge_at(0)), CheckFailure);
}

// ---------------------------------------------------------------------------------------------------------------------
// Shared edges

struct Listener : CoverageMap {
  explicit Listener(std::shared_ptr<SharedEdges> others) { share(std::move(others), true); }
};

class SharedCoverage : public ::testing::Test {
 protected:
  SharedCoverage() : memory_(SharedEdges::kDefaultBytes / sizeof(std::uint64_t)) {}

  std::shared_ptr<SharedEdges> edges() {
    return std::make_shared<SharedEdges>(std::as_writable_bytes(std::span(memory_)));
  }

  static void see(CoverageMap& map, std::uint64_t key) { map.hit(map.add_edge(key)); }

 private:
  std::vector<std::uint64_t> memory_;
};

TEST_F(SharedCoverage, AnEdgeThatAnotherHasIsNotNew) {
  Listener first(edges());
  Listener second(edges());
  see(first, 5);
  EXPECT_EQ(first.take_new_coverage().edges, 1U);
  first.end_run();
  see(second, 5);
  see(second, 6);
  EXPECT_EQ(second.take_new_coverage().edges, 1U);
  EXPECT_EQ(second.keys(), (std::vector<std::uint64_t>{5, 6})) << "it has run here all the same";
  see(second, 5);
  EXPECT_EQ(second.take_new_coverage().buckets, 1U) << "that it ran twice is news of this session";
}

TEST_F(SharedCoverage, OthersLearnOfAnEdgeAtTheEndOfItsRun) {
  Listener first(edges());
  Listener second(edges());
  see(first, 5);
  see(second, 5);
  EXPECT_EQ(second.take_new_coverage().edges, 1U);
  EXPECT_TRUE(edges()->keys().empty());
  first.end_run();
  EXPECT_EQ(edges()->keys(), (std::vector<std::uint64_t>{5}));
}

TEST_F(SharedCoverage, WhoDoesNotListenOnlyTells) {
  EXPECT_TRUE(edges()->insert(5));
  CoverageMap map;
  map.share(edges(), false);
  see(map, 5);
  see(map, 6);
  EXPECT_EQ(map.take_new_coverage().edges, 2U);
  map.end_run();
  EXPECT_EQ(edges()->keys(), (std::vector<std::uint64_t>{5, 6}));
}

TEST_F(SharedCoverage, HowOthersCameToAnEdgeIsNewOnce) {
  EXPECT_TRUE(edges()->insert(5));
  Listener map(edges());
  see(map, 5);
  EXPECT_TRUE(map.import_edge(5));
  EXPECT_FALSE(map.import_edge(5));
}

TEST_F(SharedCoverage, WhatWasSeenBeforeIsSharedAtOnce) {
  CoverageMap map;
  see(map, 5);
  map.share(edges(), true);
  EXPECT_EQ(edges()->keys(), (std::vector<std::uint64_t>{5}));
  map.forget();
  see(map, 5);
  EXPECT_EQ(map.take_new_coverage().edges, 0U);
  map.share(nullptr, false);
  see(map, 6);
  EXPECT_EQ(map.take_new_coverage().edges, 1U);
  map.end_run();
  EXPECT_EQ(edges()->keys(), (std::vector<std::uint64_t>{5}));
}

// ---------------------------------------------------------------------------------------------------------------------
// Several threads

// Also under the thread sanitizer.
TEST(CoverageMap, ThreadsLoseNothingNew) {
  constexpr std::uint64_t kEdges = 500;
  CoverageMap map(4);
  map.share_with_threads();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (std::uint64_t key = 0; key < kEdges; ++key) {
        CoverageMap::Cell& edge = map.add_edge(key);
        for (int passage = 0; passage < 300; ++passage) {
          map.hit(edge);
        }
      }
    });
  }
  NewCoverage sum;
  for (int run = 0; run < 50; ++run) {
    map.begin_run();
    map.enter_rule(1);
    const NewCoverage taken = map.take_new_coverage();
    sum.edges += taken.edges;
    map.end_run();
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  sum.edges += map.take_new_coverage().edges;
  EXPECT_EQ(sum.edges, kEdges);
  EXPECT_EQ(map.keys().size(), kEdges);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
