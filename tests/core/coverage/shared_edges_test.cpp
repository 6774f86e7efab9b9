// The set of shared edges: what is in it, several writers at a time, and memory that somebody else has written to.
#include "core/coverage/shared_edges.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <set>
#include <span>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/base/rng.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

using Keys = std::vector<std::uint64_t>;

class Memory {
 public:
  explicit Memory(std::size_t size = SharedEdges::kDefaultBytes) : words_(size / sizeof(std::uint64_t)) {}

  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(words_)); }
  Keys& words() { return words_; }

 private:
  Keys words_;
};

TEST(SharedEdges, HoldsWhatWasInserted) {
  Memory memory;
  SharedEdges edges(memory.bytes());
  EXPECT_EQ(edges.capacity(), 8192U);
  EXPECT_TRUE(edges.keys().empty());
  EXPECT_FALSE(edges.holds(7));
  EXPECT_TRUE(edges.insert(7));
  EXPECT_TRUE(edges.insert(7));
  EXPECT_TRUE(edges.insert(7 + 8192)) << "another key of the same place";
  EXPECT_TRUE(edges.holds(7));
  EXPECT_TRUE(edges.holds(7 + 8192));
  EXPECT_FALSE(edges.holds(7 + (2 * 8192)));
  EXPECT_EQ(edges.keys(), (Keys{7, 7 + 8192}));
}

TEST(SharedEdges, ASecondOneOverTheSameMemorySeesTheSame) {
  Memory memory;
  SharedEdges edges(memory.bytes());
  EXPECT_TRUE(edges.insert(99));
  const SharedEdges other(memory.bytes());
  EXPECT_TRUE(other.holds(99));
  EXPECT_EQ(other.keys(), (Keys{99}));
}

TEST(SharedEdges, NeverHoldsWhatMarksPlaces) {
  Memory memory;
  SharedEdges edges(memory.bytes());
  EXPECT_TRUE(edges.insert(8));
  EXPECT_TRUE(edges.insert(8191));
  edges.erase(8191);
  for (const std::uint64_t key : {std::uint64_t{0}, ~std::uint64_t{0}}) {
    EXPECT_FALSE(edges.insert(key));
    EXPECT_FALSE(edges.holds(key));
    edges.erase(key);
  }
  EXPECT_EQ(edges.keys(), (Keys{8}));
}

TEST(SharedEdges, WhatWasErasedIsGoneAndHidesNothing) {
  Memory memory;
  SharedEdges edges(memory.bytes());
  for (const std::uint64_t key : {7U, 7U + 8192U, 7U + (2U * 8192U)}) {
    EXPECT_TRUE(edges.insert(key));
  }
  edges.erase(7 + 8192);
  edges.erase(100);
  EXPECT_FALSE(edges.holds(7 + 8192));
  EXPECT_EQ(edges.keys(), (Keys{7, 7 + (2 * 8192)}));
  EXPECT_TRUE(edges.insert(7 + 8192));
  EXPECT_EQ(edges.keys(), (Keys{7, 7 + 8192, 7 + (2 * 8192)}));
}

TEST(SharedEdges, SaysWhatItHasNoRoomFor) {
  Memory memory;
  SharedEdges edges(memory.bytes());
  Rng rng(1);
  std::set<std::uint64_t> in;
  std::size_t refused = 0;
  for (int number = 0; number < 20'000; ++number) {
    const std::uint64_t key = rng.next();
    if (edges.insert(key)) {
      in.insert(key);
    } else {
      ++refused;
      EXPECT_FALSE(edges.holds(key));
    }
  }
  EXPECT_GT(refused, 0U);
  EXPECT_GT(in.size(), edges.capacity() * 9 / 10);
  EXPECT_EQ(edges.keys(), Keys(in.begin(), in.end()));
}

TEST(SharedEdges, HalfFullItHasRoomForAll) {
  Memory memory(SharedEdges::kDefaultBytes * 16);
  SharedEdges edges(memory.bytes());
  Rng rng(2);
  for (std::size_t number = 0; number < edges.capacity() / 2; ++number) {
    ASSERT_TRUE(edges.insert(rng.next()));
  }
}

TEST(SharedEdges, CountsOfItsMemoryThePowerOfTwoBelow) {
  Memory memory(SharedEdges::kDefaultBytes * 3);
  EXPECT_EQ(SharedEdges(memory.bytes()).capacity(), 16384U);
}

TEST(SharedEdges, RefusesMemoryThatCannotHoldOne) {
  Memory memory(SharedEdges::kDefaultBytes * 2);
  EXPECT_THROW(SharedEdges(memory.bytes().first(SharedEdges::kDefaultBytes - 1)), ConfigError);
  EXPECT_THROW(SharedEdges(memory.bytes().subspan(1)), ConfigError);
  EXPECT_THROW(SharedEdges(std::span<std::byte>()), ConfigError);
}

TEST(SharedEdges, WritersAtTheSameTimeLoseNothing) {
  Memory memory;
  SharedEdges edges(memory.bytes());
  constexpr std::size_t kWriters = 4;
  constexpr std::size_t kEach = 800;
  std::array<std::vector<std::uint64_t>, kWriters> keys;
  std::set<std::uint64_t> all;
  Rng shared(3);
  Keys common;
  for (std::size_t number = 0; number < kEach; ++number) {
    common.push_back(shared.next());
  }
  for (std::size_t writer = 0; writer < kWriters; ++writer) {
    Rng rng(100 + writer);
    for (const std::uint64_t key : common) {
      keys[writer].push_back(key);
      keys[writer].push_back(rng.next());
    }
    all.insert(keys[writer].begin(), keys[writer].end());
  }
  std::vector<std::thread> writers;
  writers.reserve(kWriters);
  for (std::size_t writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&edges, &mine = keys[writer]] {
      for (const std::uint64_t key : mine) {
        EXPECT_TRUE(edges.insert(key));
        EXPECT_TRUE(edges.holds(key));
      }
    });
  }
  for (std::thread& writer : writers) {
    writer.join();
  }
  EXPECT_EQ(edges.keys(), Keys(all.begin(), all.end()));
}

TEST(SharedEdges, LeavesOutWhatStandsWhereNobodyPutsIt) {
  Memory memory;
  SharedEdges edges(memory.bytes());
  EXPECT_TRUE(edges.insert(8190));
  EXPECT_TRUE(edges.insert(8190 + 8192));
  EXPECT_TRUE(edges.insert(8190 + (2 * 8192))) << "goes on at the beginning";
  memory.words()[5000] = 12;
  EXPECT_EQ(edges.keys(), (Keys{8190, 8190 + 8192, 8190 + (2 * 8192)}));
}

TEST(SharedEdges, AnyMemoryIsASet) {
  Memory memory;
  Rng rng(4);
  for (int round = 0; round < 20; ++round) {
    for (std::uint64_t& word : memory.words()) {
      word = rng.next();
    }
    SharedEdges edges(memory.bytes());
    EXPECT_LT(edges.keys().size(), edges.capacity() / 50) << "some 64 of 8,192 places suit a key";
    const std::uint64_t key = rng.next();
    EXPECT_FALSE(edges.insert(key)) << "it is full";
    EXPECT_FALSE(edges.holds(key));
    memory.words()[key % 8192] = key;
    EXPECT_TRUE(edges.holds(key));
    EXPECT_TRUE(edges.insert(key));
  }
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
