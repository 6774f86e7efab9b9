// What one coverage map has counted, told to another as bytes.
#include "core/coverage/coverage_hits.h"

#include <gtest/gtest.h>

#include <string>

#include "core/base/error.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

void hit(CoverageMap& map, std::uint64_t key, int times) {
  const std::uint32_t edge = map.add_edge(key);
  for (int i = 0; i < times; ++i) {
    map.hit(edge);
  }
}

TEST(CoverageHits, CountAsThePassagesDid) {
  CoverageMap there;
  there.add_edge(99);  // so that ids differ
  CoverageMap here;
  CoverageMap direct;
  for (const int times : {1, 3, 200}) {
    hit(there, 7, times);
    hit(there, 8, 1);
    add_hits(here, take_hits(there), true);
    hit(direct, 7, times);
    hit(direct, 8, 1);
    const NewCoverage told = here.take_new_coverage();
    const NewCoverage seen = direct.take_new_coverage();
    EXPECT_EQ(told.edges, seen.edges);
    EXPECT_EQ(told.buckets, seen.buckets);
  }
  EXPECT_EQ(here.save(), direct.save());
  EXPECT_EQ(here.hits(here.add_edge(7)), direct.hits(direct.add_edge(7)));
}

TEST(CoverageHits, TakingStartsTheCountersAgain) {
  CoverageMap map;
  hit(map, 7, 5);
  take_hits(map);
  EXPECT_EQ(map.hits(map.add_edge(7)), 0U);
  EXPECT_EQ(take_hits(map), std::string(1, '\0'));
}

TEST(CoverageHits, UncountedTheyOnlyMark) {
  CoverageMap there;
  hit(there, 7, 5);
  CoverageMap here;
  add_hits(here, take_hits(there), false);
  EXPECT_EQ(here.hits(here.add_edge(7)), 0U);
  EXPECT_EQ(here.edges_seen(), 1U);
}

TEST(CoverageHits, RefusesWhatIsDamagedAndTakesNothingOfIt) {
  CoverageMap there;
  hit(there, 7, 5);
  hit(there, 8, 5);
  const std::string whole = take_hits(there);
  CoverageMap here;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(add_hits(here, whole.substr(0, size), true), TraceError) << size;
  }
  EXPECT_THROW(add_hits(here, whole + "x", true), TraceError);
  std::string zero = whole;
  zero.back() = '\0';
  EXPECT_THROW(add_hits(here, zero, true), TraceError);
  zero.back() = '\x81';
  EXPECT_THROW(add_hits(here, zero, true), TraceError);
  EXPECT_EQ(here.edges_seen(), 0U);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
