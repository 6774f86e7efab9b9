// The shrinker on random machines: draws of every kind, in rules that depend on each other, against failures that hang
// on nothing sensible. Whatever a replay makes of a candidate, no check may fail, and the end is reached.
//
// ORDEAL_SHRINKS sets how many machines are tried; `make fuzz-shrinks` tries 100,000 under the sanitizers.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/rng.h"
#include "core/draw/replay.h"
#include "core/draw/value_draws.h"
#include "core/shrink/shrinker.h"
#include "core/tape/alphabet.h"
#include "core/tape/choice_rank.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

// Few are enough for each pass to be asked; where the failure hangs on a hash, there may be no end to be had in time.
constexpr std::uint64_t kCandidatesMax = 400;
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::uint64_t machines_to_try() {
  const char* const given = std::getenv("ORDEAL_SHRINKS");  // NOLINT(concurrency-mt-unsafe): before any thread
  return given == nullptr ? 700 : std::strtoull(given, nullptr, 10);
}

// A bound as programs have them: mostly small, sometimes at an end of what fits.
std::int64_t some_bound(Rng& rng) {
  switch (rng.below(6)) {
    case 0:
      return kLeast + static_cast<std::int64_t>(rng.below(3));
    case 1:
      return kMost - static_cast<std::int64_t>(rng.below(3));
    case 2:
      return rng.between(kLeast, kMost);
    default:
      return rng.between(-300, 300);
  }
}

Wide some_wide_bound(Rng& rng) {
  const Wide bound = (Wide{some_bound(rng)} << rng.below(60)) + some_bound(rng);
  return rng.below(2) == 0 ? bound : -bound;
}

// What one argument draws: a tree of these, which takes values drawn before for bounds, sizes and branches.
struct Draw {
  enum class Kind : std::uint8_t {
    kBoolean,
    kInteger,
    kOpenInteger,
    kWideInteger,
    kPosition,
    kReal,
    kText,
    kBytes,
    kList,       // asks before each element whether there is one more
    kCounted,    // a number, and so many elements
    kOneOf,      // a branch, and what is drawn there
    kDependent,  // a bound, and an integer up to it
    kNothing,
  };

  Kind kind = Kind::kNothing;
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::int64_t toward = 0;
  bool has_low = true;
  bool has_high = true;
  Wide wide_low = 0;
  Wide wide_high = 0;
  double real_low = 0;
  double real_high = 0;
  std::vector<Draw> parts;
};

Draw some_draw(Rng& rng, int depth) {
  Draw draw;
  draw.kind = static_cast<Draw::Kind>(rng.below(depth > 0 ? 13 : 8));
  draw.low = some_bound(rng);
  draw.high = some_bound(rng);
  if (draw.low > draw.high) {
    std::swap(draw.low, draw.high);
  }
  draw.toward = rng.below(2) == 0 ? 0 : some_bound(rng);
  draw.has_low = rng.below(2) == 0;
  draw.has_high = rng.below(2) == 0;
  draw.wide_low = some_wide_bound(rng);
  draw.wide_high = draw.wide_low + (Wide{rng.between(0, kMost)} << rng.below(60));
  draw.real_low = static_cast<double>(rng.between(-50, 50)) / 8;
  draw.real_high = rng.below(3) == 0 ? std::numeric_limits<double>::infinity()
                                     : draw.real_low + static_cast<double>(rng.between(0, 1000)) / 16;
  if (draw.kind == Draw::Kind::kText || draw.kind == Draw::Kind::kBytes) {
    draw.low = rng.between(0, 3);
    draw.high = draw.low + rng.between(0, 12);
  }
  for (std::uint64_t i = 1 + rng.below(3); draw.kind >= Draw::Kind::kList && i > 0; --i) {
    draw.parts.push_back(some_draw(rng, depth - 1));
  }
  return draw;
}

// Of two kinds, as a draw with 'Z' and one without have their own orders.
const std::shared_ptr<const Alphabet>& alphabet(bool few) {
  static const auto kMany = std::make_shared<const Alphabet>(
      std::vector<Alphabet::Interval>{{0x20, 0x7E}, {0xE0, 0x17F}, {0x1F600, 0x1F64F}});
  static const auto kFew =
      std::make_shared<const Alphabet>(std::vector<Alphabet::Interval>{{0x0A, 0x0A}, {0x20, 0x20}, {0x61, 0x65}});
  return few ? kFew : kMany;
}

bool is_far(const Choice& integer) { return integer.is_big() || integer.number < -5 || integer.number > 5; }

std::uint64_t hash_of(const Choice& choice) {
  return hash_bytes(choice.blob(), static_cast<std::uint64_t>(choice.number));
}

// What was drawn, as a number that all of it decides.
std::uint64_t made(const Draw& draw, ChoiceSource& source) {
  const auto up_to = [](std::uint64_t value, std::uint64_t most) { return static_cast<std::int64_t>(value % most); };
  std::uint64_t value = 0;
  switch (draw.kind) {
    case Draw::Kind::kBoolean:
      return source.boolean(0.5) ? 1 : 0;
    case Draw::Kind::kInteger:
      return static_cast<std::uint64_t>(source.integer(draw.low, draw.high, draw.toward));
    case Draw::Kind::kOpenInteger:
      return hash_of(draw_open_integer(source, draw.has_low ? std::optional(draw.low) : std::nullopt,
                                       draw.has_high ? std::optional(draw.high) : std::nullopt, draw.toward));
    case Draw::Kind::kWideInteger:
      return hash_of(draw_wide_integer(source, draw.wide_low, draw.wide_high, draw.toward));
    case Draw::Kind::kPosition:
      return static_cast<std::uint64_t>(source.position(1 + up_to(static_cast<std::uint64_t>(draw.high), 40)));
    case Draw::Kind::kReal:
      return std::bit_cast<std::uint64_t>(source.real(draw.real_low, draw.real_high, draw.has_low, 0.0));
    case Draw::Kind::kText:
      return hash_bytes(draw_text(source, alphabet(draw.has_low), draw.low, draw.high));
    case Draw::Kind::kBytes:
      return hash_bytes(draw_bytes(source, draw.low, draw.high));
    case Draw::Kind::kList:
      for (int i = 0; i < 8 && source.boolean(0.7); ++i) {
        value = mix64(value ^ made(draw.parts[0], source));
      }
      return value;
    case Draw::Kind::kCounted:
      for (std::int64_t i = source.integer(0, 6, 0); i > 0; --i) {
        value = mix64(value ^ made(draw.parts[0], source));
      }
      return value;
    case Draw::Kind::kOneOf: {
      const std::int64_t branch = source.integer(0, static_cast<std::int64_t>(draw.parts.size()) - 1, 0);
      source.note_selection();
      return made(draw.parts[static_cast<std::size_t>(branch)], source);
    }
    case Draw::Kind::kDependent:
      value = made(draw.parts[0], source);
      return value ^ static_cast<std::uint64_t>(source.integer(-3, up_to(value, 50), 0));
    case Draw::Kind::kNothing:
      break;
  }
  return 7;
}

struct FuzzedRule {
  std::vector<Draw> arguments;
  bool makes_value = false;
  bool takes_value = false;
  std::uint64_t refusals = 0;  // it cannot run in one state of so many; 0 for none
};

// A machine whose state is a hash of all that happened, and how a run of it ended.
class Fuzzed {
 public:
  explicit Fuzzed(Rng& rng) {
    for (std::uint64_t i = 1 + rng.below(4); i > 0; --i) {
      FuzzedRule rule;
      for (std::uint64_t a = rng.below(3); a > 0; --a) {
        rule.arguments.push_back(some_draw(rng, 2));
      }
      rule.makes_value = rng.below(3) == 0;
      rule.takes_value = rng.below(4) == 0;
      rule.refusals = rng.below(3) == 0 ? 2 + rng.below(4) : 0;
      rules_.push_back(std::move(rule));
    }
    modulus_ = 1 + rng.below(4);
    alarm_ = static_cast<Alarm>(rng.below(5));
  }

  // A tape of this machine, drawn by chance.
  [[nodiscard]] Tape first_tape(Rng& rng) const {
    Tape tape;
    ChoiceSource source(tape);
    source.live(Rng(rng.next()));
    State state;
    for (std::uint64_t step = 2 + rng.below(16); step > 0; --step) {
      if (rng.below(4) == 0) {
        source.begin_step(rng.below(2) == 0 ? StepKind::kFaultOn : StepKind::kFaultOff,
                          static_cast<std::uint32_t>(rng.below(2)), static_cast<std::uint32_t>(tape.size()));
        continue;
      }
      const auto rule = static_cast<std::uint32_t>(rng.below(rules_.size()));
      if (may_run(rule, state)) {
        source.begin_step(StepKind::kRule, rule, static_cast<std::uint32_t>(tape.size()));
        take(rule, source, state);
      }
    }
    return tape;
  }

  // Replays the tape to its end. In how many steps the alarm went off.
  [[nodiscard]] std::uint64_t run(Replay& replay) const {
    State state;
    while (true) {
      const NextStep step = replay.next();
      if (step.kind == NextKind::kEnd) {
        const auto goes_off = [&](const TapeStep& each) { return raises_alarm(replay.realized(), each); };
        return alarm_ == Alarm::kHash
                   ? state.alarms
                   : static_cast<std::uint64_t>(std::ranges::count_if(replay.realized().steps(), goes_off));
      }
      if (step.kind != NextKind::kRule) {
        state.hash ^= step.target;
      } else if (may_run(step.target, state)) {
        take(step.target, replay.source(), state);
      } else {
        replay.reject();
      }
    }
  }

 private:
  enum class Alarm : std::uint8_t { kHash, kBigInteger, kFarInteger, kLongText, kManyChoices };

  struct State {
    std::uint64_t hash = 0;
    std::uint64_t alarms = 0;          // by the hash of what a step drew
    std::vector<std::int64_t> values;  // by producer, the newest last
  };

  [[nodiscard]] bool raises_alarm(const Tape& tape, const TapeStep& step) const {
    std::size_t choices = 0;
    bool found = false;
    for (const TapeArgument& argument : tape.arguments(step)) {
      for (const Choice& choice : tape.choices(argument)) {
        ++choices;
        const bool is_integer = choice.kind == ChoiceKind::kInteger;
        found = found || (alarm_ == Alarm::kBigInteger && choice.is_big()) ||
                (alarm_ == Alarm::kFarInteger && is_integer && is_far(choice)) ||
                (alarm_ == Alarm::kLongText && !is_integer && choice.blob().size() > 1);
      }
    }
    return found || (alarm_ == Alarm::kManyChoices && choices > 2);
  }

  [[nodiscard]] bool may_run(std::uint32_t rule, const State& state) const {
    const FuzzedRule& wanted = rules_[rule];
    return (!wanted.takes_value || !state.values.empty()) &&
           (wanted.refusals == 0 || state.hash % wanted.refusals != 1);
  }

  void take(std::uint32_t number, ChoiceSource& source, State& state) const {
    const FuzzedRule& rule = rules_[number];
    std::uint64_t drawn = number;
    if (rule.takes_value) {
      source.begin_argument(0);
      drawn ^= static_cast<std::uint64_t>(value_of_bundle(source, state));
    }
    for (std::size_t i = 0; i < rule.arguments.size(); ++i) {
      source.begin_argument(static_cast<std::uint32_t>(i + 1));
      drawn = mix64(drawn) ^ made(rule.arguments[i], source);
    }
    if (rule.makes_value) {
      state.values.push_back(static_cast<std::int64_t>(source.origin()) << TapeArgument::kPlaceBits);
    }
    state.alarms += mix64(drawn) % modulus_ == 0 ? 1U : 0U;
    state.hash = mix64(state.hash) ^ drawn;
  }

  // As bundles are drawn from: by who made the value, else by its position.
  static std::int64_t value_of_bundle(ChoiceSource& source, const State& state) {
    const std::int64_t wanted = source.is_live() ? TapeArgument::kNoProducer : source.producer();
    const auto size = static_cast<std::int64_t>(state.values.size());
    std::int64_t position = 0;
    if (wanted < 0) {
      position = source.position(size);
    } else {
      const auto found = std::ranges::find(state.values, wanted);
      position = found == state.values.end() ? 0 : state.values.end() - found - 1;
      source.put(Choice::integer(position));
    }
    const std::int64_t producer = state.values[static_cast<std::size_t>(size - 1 - position)];
    source.set_producer(producer);
    return producer;
  }

  std::vector<FuzzedRule> rules_;
  std::uint64_t modulus_ = 1;
  Alarm alarm_ = Alarm::kHash;
};

// Answers as an exploration does: with what ran, or, where a run could not be made, without. How many candidates it
// took; none where the alarm does not go off in the first place.
std::uint64_t shrink_one(std::uint64_t seed) {
  Rng rng(seed);
  const Fuzzed machine(rng);
  Replay failing(machine.first_tape(rng));
  const std::uint64_t alarms = machine.run(failing);
  if (alarms == 0) {
    return 0;
  }
  const std::uint64_t needed = alarms - rng.below(alarms);
  Shrinker shrinker(failing.realized());
  while (shrinker.candidates() < kCandidatesMax) {
    const std::optional<Tape> candidate = shrinker.candidate();
    if (!candidate) {
      break;
    }
    Replay replay(*candidate);
    if (machine.run(replay) >= needed) {
      shrinker.accept(replay.realized(), replay.constraints());
    } else if (rng.below(8) == 0) {
      shrinker.refuse();
    } else {
      shrinker.refuse(replay.realized(), replay.constraints());
    }
  }
  Replay last(shrinker.current());
  EXPECT_GE(machine.run(last), needed) << "seed " << seed;
  return shrinker.candidates();
}

TEST(ShrinkerFuzz, NoCheckFailsWhateverIsDrawn) {
  std::uint64_t left = machines_to_try();
  std::uint64_t candidates = 0;
  std::uint64_t machines = 0;
  for (std::uint64_t seed = 1; left > 0; ++seed) {
    std::uint64_t tried = 0;
    EXPECT_NO_THROW(tried = shrink_one(seed)) << "seed " << seed;
    if (testing::Test::HasFailure()) {
      return;
    }
    candidates += tried;
    machines += tried > 0 ? 1U : 0U;
    left -= tried > 0 ? 1U : 0U;
  }
  EXPECT_GT(candidates, 20 * machines) << "most machines are too simple to say anything";
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
