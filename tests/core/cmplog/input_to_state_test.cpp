// From two values that were compared to the choices that make them equal.
#include "core/cmplog/input_to_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/tape/wide_integer.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

Tape tape_of(const std::vector<Choice>& choices) {
  Tape tape;
  std::uint32_t origin = 0;
  for (const Choice& choice : choices) {
    tape.begin_step(StepKind::kRule, 0, origin++);
    tape.begin_argument(1);
    tape.add(choice);
  }
  return tape;
}

std::vector<ChoiceEdit> edits(const std::vector<Choice>& drawn, const Choice& left, const Choice& right,
                              Relation relation = Relation::kEqual) {
  return edits_toward(tape_of(drawn), {drawn.size(), relation, left, right});
}

bool has(const std::vector<ChoiceEdit>& found, std::size_t index, const Choice& value) {
  return std::ranges::find(found, ChoiceEdit{index, value}) != found.end();
}

TEST(InputToState, ReplacesTheChoiceThatWasCompared) {
  const std::vector<ChoiceEdit> found =
      edits({Choice::integer(7), Choice::integer(123'456)}, Choice::integer(123'456), Choice::integer(987'654));
  EXPECT_EQ(found, (std::vector<ChoiceEdit>{{1, Choice::integer(987'654)}}));
}

TEST(InputToState, KnowsEitherSideAndIntegersOfAnySize) {
  const Choice big = integer_choice((Wide{1} << 70U) + 5);
  const Choice other = integer_choice((Wide{1} << 65U) + 9);
  EXPECT_TRUE(has(edits({big}, big, other), 0, other));
  EXPECT_TRUE(has(edits({big}, other, big), 0, other));
}

TEST(InputToState, ReplacesTheByteThatWasCompared) {
  EXPECT_TRUE(has(edits({Choice::integer(0xAABBCCDD)}, Choice::integer(0xBB), Choice::integer(0x4E)), 0,
                  Choice::integer(0xAA4ECCDD)));
}

// Operands are drawn again, so that some are bound to lie about.
TEST(InputToState, AnEarlierChoiceThatIsTheSameByChanceHidesNothing) {
  const std::vector<ChoiceEdit> found =
      edits({Choice::integer(0xBB), Choice::integer(0x4E), Choice::integer(0xAABBCCDD)}, Choice::integer(0xBB),
            Choice::integer(0x4E));
  EXPECT_TRUE(has(found, 2, Choice::integer(0xAA4ECCDD)));
  EXPECT_TRUE(has(found, 0, Choice::integer(0x4E)));
}

TEST(InputToState, UndoesAnOffsetAMaskAndAFactor) {
  EXPECT_TRUE(has(edits({Choice::integer(5'000)}, Choice::integer(5'017), Choice::integer(90'017)), 0,
                  Choice::integer(90'000)));
  EXPECT_TRUE(has(edits({Choice::integer(5'000)}, Choice::integer(5'000 ^ 0x5A5A5A5A), Choice::integer(77)), 0,
                  Choice::integer(77 ^ 0x5A5A5A5A)));
  EXPECT_TRUE(
      has(edits({Choice::integer(5'000)}, Choice::integer(15'000), Choice::integer(99)), 0, Choice::integer(33)));
}

TEST(InputToState, TakesBothSidesOfALimit) {
  const auto found = edits({Choice::integer(50)}, Choice::integer(50), Choice::integer(1'000), Relation::kOrder);
  for (const std::int64_t value : {999, 1'000, 1'001}) {
    EXPECT_TRUE(has(found, 0, Choice::integer(value))) << value;
  }
}

TEST(InputToState, ReplacesTextsWholeInPartAndWithWhatIsAroundThem) {
  EXPECT_TRUE(has(edits({Choice::text("abc")}, Choice::text("abc"), Choice::text("xyzzy")), 0, Choice::text("xyzzy")));
  EXPECT_TRUE(has(edits({Choice::text("Abc")}, Choice::text("aBC"), Choice::text("xyzzy")), 0, Choice::text("xyzzy")));
  EXPECT_TRUE(has(edits({Choice::text("k=v;")}, Choice::text("k"), Choice::text("name")), 0, Choice::text("name=v;")));
  EXPECT_TRUE(has(edits({Choice::text("7")}, Choice::text("id-7!"), Choice::text("id-41!")), 0, Choice::text("41")));
  EXPECT_TRUE(has(edits({Choice::text("abc")}, Choice::bytes("abc"), Choice::bytes("MZ")), 0, Choice::text("MZ")));
}

TEST(InputToState, TextsStayTexts) {
  const auto found = edits({Choice::text("abc")}, Choice::bytes("abc"), Choice::bytes("\xff\xfe"));
  EXPECT_TRUE(has(found, 0, Choice::text("\xc3\xbf\xc3\xbe")));
}

TEST(InputToState, PutsAPrefixInFront) {
  const auto found =
      edits({Choice::bytes("12345678")}, Choice::bytes("12345678"), Choice::bytes("PK"), Relation::kPrefix);
  EXPECT_TRUE(has(found, 0, Choice::bytes("PK345678")));
  EXPECT_TRUE(has(found, 0, Choice::bytes("PK12345678")));
}

TEST(InputToState, PutsAPartInside) {
  const auto found = edits({Choice::text("hay")}, Choice::text("needle"), Choice::text("hay"), Relation::kInside);
  EXPECT_TRUE(has(found, 0, Choice::text("hayneedle")));
}

TEST(InputToState, FindsNumbersInBytesAndInTexts) {
  EXPECT_TRUE(has(edits({Choice::bytes(std::string("ab\x34\x12"
                                                   "cd"))},
                        Choice::integer(0x1234), Choice::integer(0x5678)),
                  0,
                  Choice::bytes(std::string("ab\x78\x56"
                                            "cd"))));
  EXPECT_TRUE(
      has(edits({Choice::text("v=421")}, Choice::integer(421), Choice::integer(999)), 0, Choice::text("v=999")));
  EXPECT_TRUE(has(edits({Choice::integer(421)}, Choice::text("421"), Choice::text("17")), 0, Choice::integer(17)));
}

TEST(InputToState, ChangesALength) {
  EXPECT_TRUE(has(edits({Choice::text("abcde")}, Choice::integer(5), Choice::integer(7)), 0, Choice::text("abcdeee")));
  EXPECT_TRUE(has(edits({Choice::bytes("abcde")}, Choice::integer(5), Choice::integer(2)), 0, Choice::bytes("ab")));
}

TEST(InputToState, ChangesALengthBetweenTheEnds) {
  EXPECT_TRUE(has(edits({Choice::text("abcd")}, Choice::integer(4), Choice::integer(6)), 0, Choice::text("abbbcd")));
  EXPECT_TRUE(
      has(edits({Choice::bytes("PK..--ZZ")}, Choice::integer(8), Choice::integer(6)), 0, Choice::bytes("PK--ZZ")));
  EXPECT_TRUE(
      has(edits({Choice::bytes("")}, Choice::integer(0), Choice::integer(2)), 0, Choice::bytes(std::string(2, '\0'))));
}

TEST(InputToState, NumbersOfBothKindsAreAlike) {
  EXPECT_TRUE(has(edits({Choice::real(2.0)}, Choice::integer(2), Choice::integer(40)), 0, Choice::real(40.0)));
  EXPECT_TRUE(has(edits({Choice::integer(70)}, Choice::real(70.0), Choice::real(40.0)), 0, Choice::integer(40)));
}

TEST(InputToState, KnowsOnlyWhatWasDrawnByThen) {
  const Tape tape = tape_of({Choice::integer(1'000), Choice::integer(2'000)});
  EXPECT_TRUE(edits_toward(tape, {0, Relation::kEqual, Choice::integer(2'000), Choice::integer(5)}).empty());
  for (const ChoiceEdit& edit : edits_toward(tape, {1, Relation::kEqual, Choice::text("2000"), Choice::text("5")})) {
    EXPECT_EQ(edit.index, 0U);
  }
}

TEST(InputToState, IsBounded) {
  const std::vector<Choice> same(100, Choice::integer(77'777));
  EXPECT_EQ(edits(same, Choice::integer(77'777), Choice::integer(5)).size(), kEditsMax);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
