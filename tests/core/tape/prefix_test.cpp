// What ways to states hold, alone and where they share, and that a long chain of parts does no harm.
#include "core/tape/prefix.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "core/base/check.h"
#include "core/base/rng.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

void add_step(Tape& tape, Rng& rng) {
  const auto origin = static_cast<std::uint32_t>(tape.size());
  tape.begin_step(rng.chance(0.2) ? StepKind::kFaultOn : StepKind::kRule, static_cast<std::uint32_t>(rng.below(5)),
                  origin);
  for (std::uint64_t arguments = rng.below(3); arguments > 0; --arguments) {
    tape.begin_argument(static_cast<std::uint32_t>(rng.below(4)));
    if (rng.chance(0.2)) {
      tape.set_producer(static_cast<std::int64_t>(rng.below(100)));
    }
    for (std::uint64_t choices = rng.below(4); choices > 0; --choices) {
      tape.add(rng.chance(0.3) ? Choice::text(std::string(rng.below(40), 'x'))
                               : Choice::integer(static_cast<std::int64_t>(rng.below(1'000))));
    }
  }
}

Tape tape_of(std::size_t steps, std::uint64_t seed) {
  Rng rng(seed);
  Tape tape;
  while (tape.size() < steps) {
    add_step(tape, rng);
  }
  return tape;
}

// The same by the plain way, step by step.
Tape slice(const Tape& tape, std::size_t first, std::size_t end) {
  Tape result;
  for (std::size_t i = first; i < end; ++i) {
    result.append(tape, tape.step(i));
  }
  return result;
}

// Kept now and then, as a run goes on.
Prefix kept_while_it_grows(const Tape& tape, Rng& rng) {
  Prefix prefix;
  for (std::size_t steps = 0; steps <= tape.size(); ++steps) {
    if (rng.chance(0.3) || steps == tape.size()) {
      prefix = Prefix(prefix, slice(tape, 0, steps));
    }
  }
  return prefix;
}

TEST(Prefix, HoldsTheTapeInHoweverManyParts) {
  Rng rng(1);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Tape tape = tape_of(rng.below(40), seed);
    const Prefix prefix = kept_while_it_grows(tape, rng);
    EXPECT_EQ(prefix.size(), tape.size());
    EXPECT_EQ(prefix.tape(), tape);
    EXPECT_EQ(prefix.tape().hash(), tape.hash());
    Tape other = tape_of(7, 99);
    prefix.copy_to(other);
    EXPECT_EQ(other, tape);
    const std::size_t first = rng.below(tape.size() + 1);
    const std::size_t end = first + rng.below(tape.size() - first + 1);
    EXPECT_EQ(prefix.tape(first, end), slice(tape, first, end));
  }
}

TEST(Prefix, KnowsWhatItBegins) {
  Rng rng(2);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Tape tape = tape_of(1 + rng.below(40), seed);
    const Prefix prefix = kept_while_it_grows(tape, rng);
    Tape longer = tape;
    add_step(longer, rng);
    EXPECT_TRUE(prefix.begins(tape));
    EXPECT_TRUE(prefix.begins(longer));
    EXPECT_FALSE(prefix.begins(slice(tape, 0, tape.size() - 1)));
    if (tape.choice_count() > 0) {
      longer.replace_choice(rng.below(tape.choice_count()), Choice::real(0.5));
      EXPECT_FALSE(prefix.begins(longer));
    }
  }
  EXPECT_TRUE(Prefix().begins(Tape()));
  EXPECT_THROW(Prefix(Prefix(tape_of(3, 1)), tape_of(2, 1)), CheckFailure);
}

TEST(Prefix, SharesWhatItBeginsWith) {
  const Tape tape = tape_of(1'000, 3);
  const Prefix begin(slice(tape, 0, 990));
  const Prefix one(begin, tape);
  EXPECT_EQ(one.last()->before.get(), begin.last());
  EXPECT_LT(one.last()->bytes, tape.bytes() / 20);
  EXPECT_GE(one.bytes(), tape.bytes());
  EXPECT_EQ(Prefix(one, tape).last(), one.last()) << "nothing is new";
}

// As many parts as a run can have steps, and more: letting go of them must not take the stack.
TEST(Prefix, ALongChainIsLetGoOf) {
  Rng rng(4);
  Tape tape;
  Prefix prefix;
  for (int i = 0; i < 3'000; ++i) {
    add_step(tape, rng);
    prefix = Prefix(prefix, tape);
  }
  const Prefix middle = prefix;
  add_step(tape, rng);
  prefix = Prefix(prefix, tape);
  EXPECT_EQ(prefix.tape(), tape);
  prefix = Prefix();
  EXPECT_EQ(middle.size(), 3'000U);
  EXPECT_EQ(middle.tape(), slice(tape, 0, 3'000));
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
