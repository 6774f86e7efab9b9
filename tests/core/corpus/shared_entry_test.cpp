// Tests of shared entries: their bytes, and what sessions and coverage maps make of those of others.
#include "core/corpus/shared_entry.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/coverage/coverage_map.h"
#include "core/search/session.h"
#include "search/classic.h"

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

std::vector<SharedEntry> some_entries() {
  return {{.prefix = tape_of(0, 7), .shows = {{FeatureKind::kEdge, 11}, {FeatureKind::kEvent, 12}}, .energy = 3.5},
          {.prefix = tape_of(1, -1), .shows = {}, .energy = 1.0},
          {.prefix = {}, .shows = {}, .energy = 0.25}};
}

TEST(SharedEntry, survives_its_bytes) {
  const std::vector<SharedEntry> entries = some_entries();
  const LoadedEntries loaded = decode_entries(encode_entries(kNames, entries), kNames);
  EXPECT_EQ(loaded.entries, entries);
  EXPECT_EQ(loaded.dropped, 0U);
}

TEST(SharedEntry, goes_by_names_and_is_dropped_without_them) {
  MachineNames now = kNames;
  now.rules = {"peek", "put"};
  const LoadedEntries loaded = decode_entries(encode_entries(kNames, some_entries()), now);
  ASSERT_EQ(loaded.entries.size(), 2U);
  EXPECT_EQ(loaded.entries[0].prefix, tape_of(1, 7));
  EXPECT_EQ(loaded.dropped, 1U);
}

TEST(SharedEntry, damaged_bytes_are_refused_or_read_as_a_find) {
  const std::string bytes = encode_entries(kNames, some_entries());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(decode_entries(bytes.substr(0, size), kNames), TraceError) << size;
  }
  EXPECT_THROW(decode_entries(bytes + "x", kNames), TraceError);
  Rng rng(5);
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = bytes;
    for (std::uint64_t changes = rng.below(3) + 1; changes > 0; --changes) {
      damaged[rng.below(damaged.size())] = static_cast<char>(rng.below(256));
    }
    try {
      for (const SharedEntry& entry : decode_entries(damaged, kNames).entries) {
        EXPECT_GT(entry.energy, 0.0);
        EXPECT_LE(entry.energy, 1e6);
      }
    } catch (const TraceError&) {  // NOLINT(bugprone-empty-catch): what is refused is well
    }
  }
}

TEST(SharedEntry, an_energy_out_of_range_is_refused) {
  for (const double energy :
       {0.0, -1.0, 1e7, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    const std::vector<SharedEntry> entries{{.prefix = tape_of(0, 1), .shows = {}, .energy = energy}};
    EXPECT_THROW(decode_entries(encode_entries(kNames, entries), kNames), TraceError) << energy;
  }
}

struct Searching {
  std::shared_ptr<CoverageMap> coverage = std::make_shared<CoverageMap>();
  Session session{{.rules = 2, .initializers = 1, .faults = 1}, classic({.seed = 3}), coverage};

  void run_with_edge(std::uint64_t key) {
    session.begin_run();
    session.next();
    coverage->hit(coverage->add_edge(key));
    session.done();
    session.keep();
    session.end_run();
  }
};

TEST(SharedEntry, a_session_gives_each_of_its_checkpoints_once) {
  Searching searching;
  searching.run_with_edge(21);
  const std::vector<SharedEntry> entries = searching.session.take_new_entries();
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].prefix, searching.session.corpus().entries()[0]->prefix.tape());
  EXPECT_TRUE(searching.session.take_new_entries().empty());
}

TEST(SharedEntry, a_session_adopts_what_is_new_to_it_and_runs_from_there) {
  Searching giver;
  giver.run_with_edge(21);
  Searching taker;
  const std::vector<SharedEntry> entries = giver.session.take_new_entries();
  const KeepResult kept = taker.session.import_entry(entries[0]);
  EXPECT_NE(kept.id, 0U);
  EXPECT_EQ(taker.session.import_entry(entries[0]).id, 0U);
  EXPECT_EQ(taker.coverage->keys(), giver.coverage->keys());
  EXPECT_TRUE(taker.session.take_new_entries().empty());
  bool branched = false;
  for (int i = 0; i < 100 && !branched; ++i) {
    branched = taker.session.begin_run().checkpoint == kept.id;
    taker.session.end_run();
  }
  EXPECT_TRUE(branched);
}

TEST(SharedEntry, what_was_adopted_is_not_found_again) {
  Searching taker;
  EXPECT_TRUE(taker.coverage->import_edge(21));
  EXPECT_FALSE(taker.coverage->import_edge(21));
  taker.run_with_edge(21);
  EXPECT_EQ(taker.session.edges_in_run(), 0U);
  EXPECT_EQ(taker.coverage->edges_seen(), 1U);
}

TEST(SharedEntry, a_merged_map_has_seen_what_each_has) {
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
