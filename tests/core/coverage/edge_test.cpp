// Keys of edges: stable for ever, different for different places.
#include "core/coverage/edge.h"

#include <gtest/gtest.h>

#include <set>

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

TEST(Edge, KeysAreTheSameInEveryProcessAndVersion) {
  // A state file written by an older version holds these numbers: changing them is a change of format.
  EXPECT_EQ(code_key("shop.cart", "Cart.add", 7), 10758683270079734398ULL);
  EXPECT_EQ(branch_key(1, 10, 24), 8796481592056882588ULL);
}

TEST(Edge, PartsAreNotInterchangeable) {
  EXPECT_NE(code_key("a", "b", 0), code_key("b", "a", 0));
  EXPECT_NE(code_key("a.b", "c", 0), code_key("a", "b.c", 0));
  EXPECT_NE(code_key("a", "f", 0), code_key("a", "f", 1));
  EXPECT_NE(branch_key(1, 2, 4), branch_key(1, 4, 2));
  EXPECT_NE(entry_key(1), line_key(1, 0));
  EXPECT_NE(line_key(1, 0), branch_key(1, 0, 0));
  EXPECT_NE(line_key(1, -1), line_key(1, 1));
}

TEST(Edge, NearbyPlacesDoNotCollide) {
  std::set<std::uint64_t> keys;
  std::size_t made = 0;
  for (std::uint64_t function = 0; function < 20; ++function) {
    const std::uint64_t code = code_key("module", "function", function);
    for (std::int64_t from = 0; from < 100; from += 2) {
      for (std::int64_t to = 0; to < 100; to += 2) {
        keys.insert(branch_key(code, from, to));
        ++made;
      }
    }
  }
  EXPECT_EQ(keys.size(), made);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
