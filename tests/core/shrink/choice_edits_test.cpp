// Where choices are, and tapes with one changed or some gone.
#include "core/shrink/choice_edits.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "failing_tapes.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

TEST(ChoiceEdits, PlacesAreThoseOfEveryChoice) {
  const Tape tape = steps_with({{Choice::integer(1)}, {}, {Choice::text("a"), Choice::integer(2)}});
  const std::vector<Place> places = places_of(tape);
  ASSERT_EQ(places.size(), 3U);
  EXPECT_EQ(places[0].step, 0U);
  EXPECT_EQ(places[2].step, 2U);
  EXPECT_EQ(places[2].argument, 2U);
  EXPECT_EQ(places[2].number, 1U);
}

TEST(ChoiceEdits, APlaceHashesTheSameWhenStepsBeforeItGo) {
  const Tape tape = steps_with({{Choice::integer(1)}, {Choice::integer(2), Choice::integer(3)}});
  const Tape left = tape.subset({false, true});
  EXPECT_EQ(hash_of_place(tape, places_of(tape)[2]), hash_of_place(left, places_of(left)[1]));
  EXPECT_NE(hash_of_place(tape, places_of(tape)[1]), hash_of_place(tape, places_of(tape)[2]));
  EXPECT_NE(hash_of_place(tape, places_of(tape)[0]), hash_of_place(tape, places_of(tape)[1]));
}

TEST(ChoiceEdits, ChoicesHashByKindAndValue) {
  EXPECT_EQ(hash_of(Choice::text("a")), hash_of(Choice::text("a")));
  EXPECT_NE(hash_of(Choice::text("a")), hash_of(Choice::bytes("a")));
  EXPECT_NE(hash_of(Choice::integer(1)), hash_of(Choice::boolean(true)));
}

TEST(ChoiceEdits, OneIsChangedOrSomeGo) {
  const Tape tape = step_with(list_of({1, 2}));
  EXPECT_EQ(with_choice(tape, 3, Choice::integer(7)), step_with(list_of({1, 7})));
  EXPECT_EQ(without_choices(tape, 0, 2), step_with(list_of({2})));
}

TEST(ChoiceEdits, RoomIsWhatTheConstraintLeaves) {
  EXPECT_EQ(room_of(3, true, {-5, 10, 0}), 7U);
  EXPECT_EQ(room_of(3, false, {-5, 10, 0}), 8U);
  EXPECT_EQ(room_of(10, true, {-5, 10, 0}), 0U);
  EXPECT_EQ(room_of(20, true, {-5, 10, 0}), 0U);
  EXPECT_EQ(room_of(Constraint::kAny, true, {}), std::numeric_limits<std::uint64_t>::max());
}

TEST(ChoiceEdits, IntegersAreOpenAboveTheSimplest) {
  const FailingTape failing(step_with({Choice::integer(5), Choice::integer(5), Choice::text("a")}),
                            {{}, {0, 9, 5}, {}});
  EXPECT_TRUE(is_open_integer(failing, 0));
  EXPECT_FALSE(is_open_integer(failing, 1));
  EXPECT_FALSE(is_open_integer(failing, 2));
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
