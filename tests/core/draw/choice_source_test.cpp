// Draws: live ones are recorded, recorded ones come back, and what does not fit becomes the simplest value and is
// counted.
#include "core/draw/choice_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/base/check.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kNormalMin = std::numeric_limits<double>::min();

// One step with one argument of these choices.
Tape recorded_tape(const std::vector<Choice>& choices, std::uint32_t name = 1) {
  Tape tape;
  tape.begin_step(StepKind::kRule, 0, 0);
  tape.begin_argument(name);
  for (const Choice& choice : choices) {
    tape.add(choice);
  }
  return tape;
}

// A source that replays a step of these choices, in its first argument.
struct Replaying {
  Tape recorded;
  Tape out;
  DrawNotes notes;
  ChoiceSource source{out, &notes};

  explicit Replaying(const std::vector<Choice>& choices) : recorded(recorded_tape(choices)) {
    // Not the last step of its run, which may draw beyond its record.
    recorded.begin_step(StepKind::kRule, 0, 1);
    source.replay(recorded, recorded.step(0));
    out.begin_step(StepKind::kRule, 0, 0);
    source.begin_argument(1);
  }
};

struct Live {
  Tape out;
  ChoiceSource source{out};

  explicit Live(std::uint64_t seed = 1) {
    source.live(Rng(seed));
    out.begin_step(StepKind::kRule, 0, 0);
    source.begin_argument(1);
  }
};

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

void draw_each_kind(ChoiceSource& source) {
  source.boolean(0.5);
  source.integer(-5, 1000, 0);
  source.position(3);
  source.real(-kInfinity, kInfinity, true, 0);
  source.put(source.recorded(ChoiceKind::kString).value_or(Choice::text("abc")));
}

TEST(ChoiceSource, WhatWasDrawnComesBack) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Live live(seed);
    draw_each_kind(live.source);
    live.source.begin_argument(2);
    draw_each_kind(live.source);
    EXPECT_TRUE(live.source.is_live());

    Tape out;
    ChoiceSource source(out);
    source.replay(live.out, live.out.step(0));
    EXPECT_FALSE(source.is_live());
    out.begin_step(StepKind::kRule, 0, 0);
    source.begin_argument(1);
    draw_each_kind(source);
    source.begin_argument(2);
    draw_each_kind(source);
    EXPECT_EQ(out, live.out);
    EXPECT_EQ(source.misaligned(), 0U);
  }
}

TEST(ChoiceSource, ArgumentsAreFoundByName) {
  Tape recorded = recorded_tape({Choice::integer(1)}, 1);
  recorded.begin_argument(2);
  recorded.add(Choice::integer(2));
  recorded.set_producer(9);
  Tape out;
  ChoiceSource source(out);
  source.replay(recorded, recorded.step(0));
  out.begin_step(StepKind::kRule, 0, 5);
  source.begin_argument(2);
  EXPECT_EQ(source.producer(), 9);
  EXPECT_EQ(source.integer(0, 10, 0), 2);
  source.begin_argument(3);
  EXPECT_EQ(source.producer(), TapeArgument::kNoProducer);
  EXPECT_EQ(source.integer(0, 10, 4), 4);
  source.begin_argument(1);
  EXPECT_EQ(source.integer(0, 10, 0), 1);
  EXPECT_EQ(source.misaligned(), 1U);
  EXPECT_EQ(source.origin(), 5U);
}

TEST(ChoiceSource, AMissingChoiceIsTheSimplestValue) {
  Replaying bench({});
  EXPECT_FALSE(bench.source.boolean(0.9));
  EXPECT_TRUE(bench.source.boolean(1.0));
  EXPECT_EQ(bench.source.integer(-5, 5, 2), 2);
  EXPECT_EQ(bench.source.integer(10, 20, 0), 10);
  EXPECT_EQ(bench.source.integer(-20, -10, 0), -10);
  EXPECT_EQ(bench.source.position(7), 0);
  EXPECT_EQ(bits(bench.source.real(-1, 1, true, 0)), bits(0.0));
  EXPECT_EQ(bench.source.recorded(ChoiceKind::kBytes), std::nullopt);
  EXPECT_EQ(bench.source.misaligned(), 8U);
  EXPECT_EQ(bench.out.choice_count(), 7U);
}

TEST(ChoiceSource, AChoiceThatDoesNotFitIsTheNearestBound) {
  Replaying bench({Choice::boolean(true), Choice::boolean(false), Choice::integer(99), Choice::integer(-1),
                   Choice::integer(3), Choice::integer(-1), Choice::big_integer(std::string(9, '\1')),
                   Choice::real(7.5), Choice::real(-7.5), Choice::real(kNan)});
  EXPECT_FALSE(bench.source.boolean(0));
  EXPECT_TRUE(bench.source.boolean(1));
  EXPECT_EQ(bench.source.integer(0, 10, 5), 10);
  EXPECT_EQ(bench.source.integer(0, 10, 5), 0);
  EXPECT_EQ(bench.source.position(3), 2);
  EXPECT_EQ(bench.source.position(3), 0);
  EXPECT_EQ(bench.source.integer(0, 10, 5), 5);
  EXPECT_EQ(bench.source.real(0, 1, true, 0), 1.0);
  EXPECT_EQ(bench.source.real(0.5, 1, true, 0), 0.5);
  EXPECT_EQ(bench.source.real(0.5, 1, false, 0), 0.5);
  EXPECT_EQ(bench.source.misaligned(), 10U);
  bench.source.reset_misaligned();
  EXPECT_EQ(bench.source.misaligned(), 0U);
}

TEST(ChoiceSource, NotesWhatReplayedDrawsAllowed) {
  Replaying bench({Choice::integer(3), Choice::boolean(true), Choice::real(7)});
  bench.source.integer(0, 10, 5);
  bench.source.boolean(0.5);
  bench.source.real(2, 3, false, 0);
  bench.source.note({.low = 1, .high = 2, .simplest = 3});
  bench.source.put(Choice::text("a"));
  const decltype(DrawNotes::constraints) noted{
      {0, {0, 10, 5}}, {1, {0, 1, 0}}, {2, {.simplest = std::bit_cast<std::int64_t>(2.0)}}, {3, {1, 2, 3}}};
  EXPECT_EQ(bench.notes.constraints, noted);
}

TEST(ChoiceSource, NotesWhichChoicesBelongTogether) {
  Replaying bench({Choice::integer(1), Choice::integer(2)});
  EXPECT_TRUE(bench.source.notes_spans());
  bench.source.integer(0, 4, 0);
  bench.source.end_span(0);
  bench.source.end_span(1);  // without a choice
  EXPECT_EQ(bench.notes.spans, (std::vector<Span>{{0, 1}}));
}

TEST(ChoiceSource, NotesWhatSelectsSomething) {
  Replaying bench({Choice::integer(3), Choice::integer(1)});
  bench.source.position(5);
  bench.source.integer(0, 4, 0);
  const decltype(DrawNotes::constraints) noted{{0, {.low = 0, .high = 4, .selects = true}}, {1, {.low = 0, .high = 4}}};
  EXPECT_EQ(bench.notes.constraints, noted);
}

TEST(ChoiceSource, WhatTheLastStepDrawsBeyondItsRecordIsNoMisalignment) {
  Tape recorded = recorded_tape({Choice::integer(3)});
  Tape out;
  ChoiceSource source(out);
  source.replay(recorded, recorded.step(0));
  out.begin_step(StepKind::kRule, 0, 0);
  source.begin_argument(1);
  EXPECT_EQ(source.integer(0, 10, 5), 3);
  EXPECT_EQ(source.integer(0, 10, 5), 5);
  EXPECT_EQ(source.misaligned(), 0U);
  source.begin_argument(2);  // of which there is no record at all
  EXPECT_EQ(source.integer(0, 10, 5), 5);
  EXPECT_EQ(source.misaligned(), 1U);
}

TEST(ChoiceSource, AnotherKindIsLeftForTheDrawThatWantsIt) {
  Replaying bench({Choice::boolean(true)});
  EXPECT_EQ(bench.source.integer(0, 10, 0), 0);
  EXPECT_TRUE(bench.source.boolean(0.5));
  EXPECT_EQ(bench.source.misaligned(), 1U);
}

TEST(ChoiceSource, ReplaysFloatsToTheBit) {
  for (const double value : {-0.0, 0.0, std::bit_cast<double>(std::uint64_t{0x7FF8000000000123}),
                             std::bit_cast<double>(std::uint64_t{0xFFF0000000000001}), kInfinity, 5e-324}) {
    Replaying bench({Choice::real(value)});
    EXPECT_EQ(bits(bench.source.real(-kInfinity, kInfinity, true, 0)), bits(value));
    EXPECT_EQ(bench.source.misaligned(), 0U);
    EXPECT_EQ(bench.out.choices()[0], Choice::real(value));
  }
}

// What replaying `recorded` gives within the bounds.
double replayed(double recorded, double low, double high, bool allow_nan = false, double smallest_nonzero = 0) {
  Replaying bench({Choice::real(recorded)});
  const double value = bench.source.real(low, high, allow_nan, smallest_nonzero);
  EXPECT_EQ(bench.source.misaligned(), bits(value) == bits(recorded) ? 0U : 1U);
  return value;
}

TEST(ChoiceSource, FloatsOutsideTheBoundsBecomeTheNearestBoundElseTheSimplest) {
  EXPECT_EQ(bits(replayed(kNan, -1, 1)), bits(0.0));
  EXPECT_TRUE(std::isnan(replayed(kNan, 5, 6, true)));
  EXPECT_EQ(replayed(9, 2, 3), 3);
  EXPECT_EQ(replayed(1, 2, 3), 2);
  EXPECT_EQ(replayed(9, -3, -2), -2);
  EXPECT_EQ(replayed(-kInfinity, 0, kInfinity), 0);
  EXPECT_EQ(replayed(1e-310, 0, 1, false, kNormalMin), 0);
  EXPECT_EQ(replayed(1e-310, 1e-320, 1, false, kNormalMin), kNormalMin);
  EXPECT_EQ(replayed(-1e-310, -1, -1e-320, false, kNormalMin), -kNormalMin);
}

TEST(ChoiceSource, MinusZeroIsBelowZero) {
  EXPECT_EQ(bits(replayed(-0.0, 0.0, 1)), bits(0.0));
  EXPECT_EQ(bits(replayed(-0.0, -0.0, 1)), bits(-0.0));
  EXPECT_EQ(bits(replayed(0.0, -1, -0.0)), bits(-0.0));
}

TEST(ChoiceSource, RecordedGivesOnlyTheKindAskedFor) {
  const Choice big = Choice::big_integer(std::string(12, '\x7f'));
  Replaying bench({big, Choice::text("a"), Choice::bytes("b")});
  EXPECT_EQ(bench.source.recorded(ChoiceKind::kInteger), big);
  EXPECT_EQ(bench.source.recorded(ChoiceKind::kBytes), std::nullopt);
  EXPECT_EQ(bench.source.recorded(ChoiceKind::kString), Choice::text("a"));
  EXPECT_EQ(bench.source.recorded(ChoiceKind::kBytes), Choice::bytes("b"));
  EXPECT_EQ(bench.source.misaligned(), 1U);
  bench.source.misalign();
  EXPECT_EQ(bench.source.misaligned(), 2U);
  EXPECT_EQ(Live().source.recorded(ChoiceKind::kInteger), std::nullopt);
}

TEST(ChoiceSource, LiveDrawsKeepTheirBounds) {
  Live live;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t integer = live.source.integer(-7, 300, 0);
    EXPECT_TRUE(integer >= -7 && integer <= 300);
    const std::int64_t position = live.source.position(3);
    EXPECT_TRUE(position >= 0 && position < 3);
    const double real = live.source.real(0.5, 2, false, 0);
    EXPECT_TRUE(real >= 0.5 && real <= 2);
    EXPECT_FALSE(live.source.boolean(0));
    EXPECT_TRUE(live.source.boolean(1));
  }
  EXPECT_EQ(live.source.misaligned(), 0U);
  const auto whole = std::numeric_limits<std::int64_t>();
  EXPECT_NO_THROW(live.source.integer(whole.min(), whole.max(), 0));
}

TEST(ChoiceSource, SimplifiedDrawsAreMoreOftenTheSimplest) {
  Live live;
  live.source.simplify(0.5);
  int simplest = 0;
  int goes_on = 0;
  for (int i = 0; i < 1000; ++i) {
    simplest += live.source.integer(1, 5, 3) == 3 ? 1 : 0;
    goes_on += live.source.boolean(0.8) ? 1 : 0;
    EXPECT_TRUE(live.source.boolean(1));
  }
  EXPECT_NEAR(simplest, 600, 60);
  EXPECT_NEAR(goes_on, 400, 60);
}

TEST(ChoiceSource, BoundsThatAllowNothingBreakACheck) {
  Live live;
  EXPECT_THROW(live.source.integer(1, 0, 0), CheckFailure);
  EXPECT_THROW(live.source.position(0), CheckFailure);
  EXPECT_THROW(live.source.real(1, 0, false, 0), CheckFailure);
  EXPECT_THROW(live.source.real(kNan, 0, true, 0), CheckFailure);
  EXPECT_THROW(live.source.real(0.0, -0.0, false, 0), CheckFailure);
  Replaying replaying({});
  EXPECT_THROW(replaying.source.real(0.0, -0.0, false, 0), CheckFailure);
  EXPECT_THROW(replaying.source.real(0.25, 0.5, false, 1), CheckFailure);
}

TEST(ChoiceSource, WhatWasRecordedForAnArgumentIsKnownBeforeItBegins) {
  Tape recorded;
  recorded.begin_step(StepKind::kRule, 0, 0);
  recorded.begin_argument(1);
  recorded.add(Choice::integer(4));
  recorded.begin_argument(2);
  recorded.add(Choice::boolean(true));
  recorded.add(Choice::boolean(false));
  Tape out;
  out.begin_step(StepKind::kRule, 0, 0);
  ChoiceSource source(out);
  EXPECT_TRUE(source.recorded_for(2).empty());  // live
  source.replay(recorded, recorded.step(0));
  source.begin_argument(1);
  const auto choices = source.recorded_for(2);
  ASSERT_EQ(choices.size(), 2U);
  EXPECT_EQ(choices[0], Choice::boolean(true));
  EXPECT_TRUE(source.recorded_for(3).empty());
  EXPECT_EQ(source.integer(0, 9, 0), 4);  // the argument that has begun goes on
  EXPECT_EQ(source.misaligned(), 0U);
}

// A live source that takes values again at times.
struct Reusing : Live {
  Dictionary dictionary;

  explicit Reusing(std::uint64_t seed, double prob = 0.1) : Live(seed) { source.reuse(dictionary, prob); }
};

TEST(Reuse, DrawsMeetWhatTheRunDrewBefore) {
  Reusing run(3);
  std::vector<std::int64_t> drawn;
  int met = 0;
  for (int i = 0; i < 1'000; ++i) {
    run.source.begin_argument(1);
    const std::int64_t value = run.source.integer(1LL << 60, 1LL << 62, 1LL << 61);
    met += std::ranges::find(drawn, value) != drawn.end() ? 1 : 0;
    drawn.push_back(value);
  }
  EXPECT_GT(met, 30);
}

TEST(Reuse, DrawsMeetThePoolAndStayInTheirBounds) {
  Reusing run(4);
  run.dictionary.add(DictionarySource::kConstant, Choice::integer(0x5EED'5EED));
  run.dictionary.add(DictionarySource::kOperand, Choice::text("key"));
  run.dictionary.add(DictionarySource::kOperand, Choice::real(1234.5678));
  int integers = 0;
  int texts = 0;
  int reals = 0;
  for (int i = 0; i < 2'000; ++i) {
    run.source.begin_argument(1);
    integers += run.source.integer(0, INT64_MAX, 0) == 0x5EED'5EED ? 1 : 0;
    run.source.begin_argument(2);
    ASSERT_LE(run.source.integer(0, 1'000, 0), 1'000);
    const double real = run.source.real(0, 1'000'000, false, kNormalMin);
    ASSERT_GE(real, 0);
    reals += real == 1234.5678 ? 1 : 0;
    const auto text = run.source.recorded(ChoiceKind::kString);
    texts += text == Choice::text("key") ? 1 : 0;
    run.source.put(Choice::text("other"));
  }
  EXPECT_GT(integers, 30);
  EXPECT_GT(texts, 30);
  EXPECT_GT(reals, 30);
}

TEST(Reuse, PositionsMeetInManyElementsAndAreDrawnEvenlyInFew) {
  Reusing run(5);
  std::vector<std::int64_t> drawn;
  int met = 0;
  for (int i = 0; i < 500; ++i) {
    run.source.begin_argument(1);
    const std::int64_t position = run.source.position(1'000'000);
    met += std::ranges::find(drawn, position) != drawn.end() ? 1 : 0;
    drawn.push_back(position);
    ASSERT_LT(run.source.position(5), 5);
  }
  EXPECT_GT(met, 15);
}

TEST(Reuse, IsTheSameForTheSameSeedAndNoneWithProbabilityZero) {
  Reusing one(6);
  Reusing other(6);
  Reusing none(6, 0.0);
  Live plain(6);
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(one.source.integer(0, 1'000'000, 0), other.source.integer(0, 1'000'000, 0));
    EXPECT_EQ(none.source.integer(0, 1'000'000, 0), plain.source.integer(0, 1'000'000, 0));
  }
}

TEST(ChoiceSource, ADrawNeedsAnArgument) {
  Tape out;
  ChoiceSource source(out);
  EXPECT_THROW(source.begin_argument(1), CheckFailure);
  out.begin_step(StepKind::kRule, 0, 0);
  EXPECT_THROW(source.boolean(0.5), CheckFailure);
  EXPECT_THROW(source.set_producer(1), CheckFailure);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
