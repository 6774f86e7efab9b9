// What is found in Python source without a parser.
#include "core/coverage/source_scan.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

using Texts = std::vector<std::string_view>;

struct Lines {
  std::string_view name;
  std::uint32_t first;
  std::uint32_t header_last;
  std::uint32_t last;
  std::uint32_t parent;

  friend bool operator==(const Lines&, const Lines&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Lines& lines) {
    return out << lines.name << ' ' << lines.first << '-' << lines.header_last << '-' << lines.last << " in "
               << lines.parent;
  }
};

constexpr std::uint32_t kNone = SourceBlock::kNoParent;

std::vector<Lines> lines_of(std::string_view source) {
  std::vector<Lines> found;
  for (const SourceBlock& block : source_blocks(source)) {
    found.push_back({block.name, block.first, block.header_last, block.last, block.parent});
  }
  return found;
}

TEST(SourceScanTest, EachConstantOnceInOrder) {
  EXPECT_EQ(constant_expressions("A = 7\nB = {'key': b'x', 2.5: 7}\ndef f(x, y=-12):\n    return x in (1, 'key')\n"),
            (Texts{"7", "'key'", "b'x'", "2.5", "-12", "1"}));
}

TEST(SourceScanTest, WhatIsComputedFromNumbersIsOneConstant) {
  EXPECT_EQ(constant_expressions("A = 2**32 - 1\nB = 1 << 20\nC = ~5\nD = x * (60 * 60)\nE = -(2**63) + y\n"),
            (Texts{"2**32 - 1", "1 << 20", "~5", "(60 * 60)", "-(2**63)"}));
  EXPECT_EQ(constant_expressions("x ** -1, 2 ** 3 ** 4, 1e-5, 0xe+1\n"), (Texts{"-1", "2 ** 3 ** 4", "1e-5", "0xe+1"}));
}

TEST(SourceScanTest, OperandsOfOtherOperationsAreApart) {
  EXPECT_EQ(constant_expressions("y = x - 5 + 6\n"), (Texts{"5", "6"}));
  EXPECT_EQ(constant_expressions("y = 6 // 2 * 3\n"), (Texts{"6", "2", "3"}));
  EXPECT_EQ(constant_expressions("y = 2 * 3 + x\n"), (Texts{"2 * 3"}));
  EXPECT_EQ(constant_expressions("y = 'a' + 'b' % 4\n"), (Texts{"'a'", "'b'", "4"}));
  EXPECT_EQ(constant_expressions("y = 5 + f(6) - 7\n"), (Texts{"5", "6", "7"}));
  EXPECT_EQ(constant_expressions("y = 5 if x == 3 else -4\n"), (Texts{"5", "3", "-4"}));
}

TEST(SourceScanTest, TextsSideBySideAreOne) {
  EXPECT_EQ(constant_expressions("x = ('a'\n     \"b\")\ny = 'c'.join(d)\n"), (Texts{"('a'\n     \"b\")", "'c'"}));
}

TEST(SourceScanTest, TextsForPeopleAreLeftOut) {
  EXPECT_EQ(constant_expressions("\"\"\"A module.\"\"\"\n__all__ = ['f']\nclass C:\n    __slots__ = ('g',)\n"
                                 "    def f(self, x):\n        '''Do it.'''\n        assert x != 'a', 'message'\n"
                                 "        if x == 'b': raise ValueError('c')\n        return f'd{x[5]!r:>{6}}{{'\n"),
            (Texts{"'a'", "'b'"}));
}

TEST(SourceScanTest, QuotesAndBracketsInTextsEndNothing) {
  EXPECT_EQ(
      constant_expressions("a = 'it\\'s (', r\"\\\"[\", \"\"\"x\n\"y\" # z\n\"\"\", f\"{d[\"k\"]}\", 'end'  # 'no'\n"),
      (Texts{"'it\\'s ('", "r\"\\\"[\"", "\"\"\"x\n\"y\" # z\n\"\"\"", "'end'"}));
}

TEST(SourceScanTest, SourceThatIsNotValidEndsAnyway) {
  for (const std::string_view source :
       {"def (:", "x = '", "f'{", "f'{a:{", "((((", "))))", "5 +", "- ", "a = (5 +", "@"}) {
    static_cast<void>(constant_expressions(source));
    static_cast<void>(source_blocks(source));
  }
  const std::string deep = std::string(100'000, '(') + "1" + std::string(100'000, '-');
  static_cast<void>(constant_expressions(deep));
  static_cast<void>(constant_expressions(std::string(100'000, '-')));
  std::string nested;
  for (int i = 0; i < 10'000; ++i) {
    nested += "f'{";
  }
  static_cast<void>(constant_expressions(nested));
}

TEST(SourceScanTest, BlocksKnowTheirLinesAndParents) {
  EXPECT_EQ(lines_of("x = 1\n"
                     "@deco(1,\n"
                     "      2)\n"
                     "def f(a,\n"
                     "      b):\n"
                     "    text = '''\n"
                     "def no():\n"
                     "'''\n"
                     "    return a\n"
                     "\n"
                     "# a comment\n"
                     "class C(Base):\n"
                     "    x = 5\n"
                     "    async def g(self): return 6\n"
                     "    if x:\n"
                     "        def h(self):\n"
                     "            pass\n"
                     "y = 7\n"),
            (std::vector<Lines>{{"f", 2, 5, 9, kNone},
                                {"C", 12, 12, 17, kNone},
                                {"g", 14, 14, 14, 1},
                                {"", 15, 15, 17, 1},
                                {"h", 16, 16, 17, 3}}));
}

TEST(SourceScanTest, ImportsOfTheModuleAreBlocks) {
  EXPECT_EQ(
      lines_of("from a import (b,\n  c)\ntry:\n    import d\nexcept E:\n    d = None\n"
               "def f():\n    import e\n"),
      (std::vector<Lines>{
          {"", 1, 2, 2, kNone}, {"", 3, 3, 4, kNone}, {"", 4, 4, 4, 1}, {"", 5, 5, 6, kNone}, {"f", 7, 7, 8, kNone}}));
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
