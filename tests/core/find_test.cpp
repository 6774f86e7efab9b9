// Tests of finds: their bytes, and what sessions and coverage maps make of those of others.
#include "core/find.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/coverage_map.h"
#include "core/error.h"
#include "core/session.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

const MachineNames kNames{.rules = {"put", "take"}, .initializers = {"open"}, .faults = {"slow"}, .arguments = {"n"}};

Tape tape_of(std::uint32_t rule, std::int64_t value) {
  Tape tape;
  tape.begin_step(StepKind::kRule, rule, 0);
  tape.begin_argument(0);
  tape.add(Choice::integer(value));
  return tape;
}

std::vector<Find> some_finds() {
  return {{.prefix = tape_of(0, 7), .shows = {{FeatureKind::kEdge, 11}, {FeatureKind::kEvent, 12}}, .energy = 3.5},
          {.prefix = tape_of(1, -1), .shows = {}, .energy = 1.0},
          {.prefix = {}, .shows = {}, .energy = 0.25}};
}

TEST(Find, survives_its_bytes) {
  const std::vector<Find> finds = some_finds();
  const LoadedFinds loaded = decode_finds(encode_finds(kNames, finds), kNames);
  EXPECT_EQ(loaded.finds, finds);
  EXPECT_EQ(loaded.dropped, 0U);
}

TEST(Find, goes_by_names_and_is_dropped_without_them) {
  MachineNames now = kNames;
  now.rules = {"peek", "put"};
  const LoadedFinds loaded = decode_finds(encode_finds(kNames, some_finds()), now);
  ASSERT_EQ(loaded.finds.size(), 2U);
  EXPECT_EQ(loaded.finds[0].prefix, tape_of(1, 7));
  EXPECT_EQ(loaded.dropped, 1U);
}

TEST(Find, damaged_bytes_are_refused_or_read_as_a_find) {
  const std::string bytes = encode_finds(kNames, some_finds());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(decode_finds(bytes.substr(0, size), kNames), TraceError) << size;
  }
  EXPECT_THROW(decode_finds(bytes + "x", kNames), TraceError);
  Rng rng(5);
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = bytes;
    for (std::uint64_t changes = rng.below(3) + 1; changes > 0; --changes) {
      damaged[rng.below(damaged.size())] = static_cast<char>(rng.below(256));
    }
    try {
      for (const Find& find : decode_finds(damaged, kNames).finds) {
        EXPECT_GT(find.energy, 0.0);
        EXPECT_LE(find.energy, 1e6);
      }
    } catch (const TraceError&) {  // NOLINT(bugprone-empty-catch): what is refused is well
    }
  }
}

TEST(Find, an_energy_out_of_range_is_refused) {
  for (const double energy :
       {0.0, -1.0, 1e7, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    const std::vector<Find> finds{{.prefix = tape_of(0, 1), .shows = {}, .energy = energy}};
    EXPECT_THROW(decode_finds(encode_finds(kNames, finds), kNames), TraceError) << energy;
  }
}

struct Searching {
  std::shared_ptr<CoverageMap> coverage = std::make_shared<CoverageMap>();
  Session session{{.rules = 2, .initializers = 1, .faults = 1}, {.seed = 3}, coverage};

  void run_with_edge(std::uint64_t key) {
    session.begin_run();
    session.next();
    coverage->hit(coverage->add_edge(key));
    session.done();
    session.keep();
    session.end_run();
  }
};

TEST(Find, a_session_gives_each_of_its_checkpoints_once) {
  Searching searching;
  searching.run_with_edge(21);
  const std::vector<Find> finds = searching.session.take_finds();
  ASSERT_EQ(finds.size(), 1U);
  EXPECT_EQ(finds[0].prefix, searching.session.corpus().entries()[0]->prefix);
  EXPECT_TRUE(searching.session.take_finds().empty());
}

TEST(Find, a_session_adopts_what_is_new_to_it_and_runs_from_there) {
  Searching giver;
  giver.run_with_edge(21);
  Searching taker;
  const std::vector<Find> finds = giver.session.take_finds();
  const Kept kept = taker.session.adopt(finds[0]);
  EXPECT_NE(kept.id, 0U);
  EXPECT_EQ(taker.session.adopt(finds[0]).id, 0U);
  EXPECT_EQ(taker.coverage->keys(), giver.coverage->keys());
  EXPECT_TRUE(taker.session.take_finds().empty());
  bool branched = false;
  for (int i = 0; i < 100 && !branched; ++i) {
    branched = taker.session.begin_run().checkpoint == kept.id;
    taker.session.end_run();
  }
  EXPECT_TRUE(branched);
}

TEST(Find, what_was_adopted_is_not_found_again) {
  Searching taker;
  EXPECT_TRUE(taker.coverage->adopt(21));
  EXPECT_FALSE(taker.coverage->adopt(21));
  taker.run_with_edge(21);
  EXPECT_EQ(taker.session.edges_in_run(), 0U);
  EXPECT_EQ(taker.coverage->edges_seen(), 1U);
}

TEST(Find, a_merged_map_has_seen_what_each_has) {
  CoverageMap one;
  CoverageMap other;
  for (const std::uint64_t key : {1U, 2U}) {
    one.hit(one.add_edge(key));
  }
  one.end_run();
  other.hit(other.add_edge(2));
  other.hit(other.add_edge(3));
  other.end_run();
  CoverageMap all;
  all.merge(one.save());
  all.merge(other.save());
  EXPECT_EQ(all.keys(), (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(all.runs_of(2), 2U);
  EXPECT_EQ(all.runs_of(3), 1U);
  EXPECT_EQ(all.runs_sampled(), 2U);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
