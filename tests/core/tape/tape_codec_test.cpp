// Tapes as bytes and back, under names that have moved.
#include "core/tape/tape_codec.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "core/base/error.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

Tape some_tape() {
  Tape tape;
  tape.begin_step(StepKind::kInitialize, 0, 0);
  tape.begin_step(StepKind::kRule, 1, 3);
  tape.begin_argument(1);
  tape.add(Choice::integer(-5));
  tape.add(Choice::big_integer(std::string(9, '\x11')));
  tape.add(Choice::real(-0.0));
  tape.begin_argument(0);
  tape.set_producer(7);
  tape.add(Choice::text("h\xc3\xa4"));
  tape.add(Choice::bytes(std::string("\0\xff", 2)));
  tape.add(Choice::boolean(true));
  return tape;
}

std::string written(const Tape& tape) {
  ByteWriter out;
  write_tape(out, tape);
  return std::move(out).take();
}

TEST(TapeCodec, GoesThereAndBack) {
  const std::string bytes = written(some_tape());
  ByteReader in(bytes);
  EXPECT_EQ(read_tape(in, {{0, 1}, {0}, {}, {0, 1}}), some_tape());
  in.check_end();
}

TEST(TapeCodec, FollowsWhatMovedAndLeavesOutWhatIsGone) {
  const std::string bytes = written(some_tape());
  ByteReader in(bytes);
  const auto moved = read_tape(in, {{1, 0}, {2}, {}, {1, 0}});
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->step(0).target, 2U);
  EXPECT_EQ(moved->step(1).target, 0U);
  ByteReader again(bytes);
  EXPECT_FALSE(read_tape(again, {{0, Renaming::kGone}, {0}, {}, {0, 1}}));
  again.check_end();
}

TEST(TapeCodec, RefusesWhatNamesNothing) {
  const std::string bytes = written(some_tape());
  ByteReader in(bytes);
  EXPECT_THROW(static_cast<void>(read_tape(in, {{0}, {0}, {}, {0, 1}})), TraceError);
  ByteReader kind("\x09");
  EXPECT_THROW(static_cast<void>(read_choice(kind)), TraceError);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
