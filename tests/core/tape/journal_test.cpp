// Journals: what a tape holds is read back from the memory as it stands at any moment, whatever the memory holds.
#include "core/tape/journal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/draw/replay.h"
#include "core/search/session.h"
#include "search/classic.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr MachineShape kShape{.rules = 4, .initializers = 2, .faults = 2};
constexpr std::uint32_t kNames = 20;
constexpr std::uint32_t kDecisions = kNames - 1;
// The places of numbers in the header.
constexpr std::size_t kMagicAt = 0;
constexpr std::size_t kCapacityAt = 8;
constexpr std::size_t kUsedAt = 16;
constexpr std::size_t kStageAt = 40;
constexpr std::size_t kCutAt = 44;
constexpr std::size_t kHeaderBytes = 48;

// Memory that two processes would share.
class Memory {
 public:
  explicit Memory(std::size_t size = 1U << 16U) : words_(size / sizeof(std::uint64_t)) {}

  [[nodiscard]] std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(words_)); }
  [[nodiscard]] JournalRecord read() { return read_journal(bytes(), kShape, kNames); }
  [[nodiscard]] std::uint64_t used() { return get<std::uint64_t>(kUsedAt); }

  template <typename Number>
  [[nodiscard]] Number get(std::size_t at) {
    Number value{};
    std::memcpy(&value, bytes().data() + at, sizeof(value));
    return value;
  }
  template <typename Number>
  void set(std::size_t at, Number value) {
    std::memcpy(bytes().data() + at, &value, sizeof(value));
  }

  // Why it cannot be read; empty when it can.
  [[nodiscard]] std::string refusal() {
    try {
      static_cast<void>(read());
    } catch (const TraceError& error) {
      return error.what();
    }
    return "";
  }

 private:
  std::vector<std::uint64_t> words_;
};

struct Journaled {
  Memory memory;
  std::shared_ptr<Journal> journal;

  explicit Journaled(std::size_t size = 1U << 16U) : memory(size), journal(std::make_shared<Journal>(memory.bytes())) {}
};

// Each kind of choice, of step and of argument.
Tape tape_of_all_kinds() {
  Tape tape;
  tape.begin_step(StepKind::kInitialize, 1, 0);
  tape.begin_step(StepKind::kFaultOn, 1, 2);
  tape.begin_step(StepKind::kRule, 3, std::numeric_limits<std::uint32_t>::max());
  tape.begin_argument(1);
  tape.add(Choice::boolean(true));
  tape.add(Choice::boolean(false));
  tape.add(Choice::integer(std::numeric_limits<std::int64_t>::min()));
  tape.add(Choice::integer(std::numeric_limits<std::int64_t>::max()));
  tape.add(Choice::big_integer(std::string(9, '\x11')));
  tape.add(Choice::big_integer(std::string(300, '\x80')));
  tape.add(Choice::real(-0.0));
  tape.add(Choice::real(std::bit_cast<double>(0x7FF8'0000'0000'0123ULL)));
  tape.begin_argument(kNames - 1);
  tape.set_producer((std::int64_t{7} << TapeArgument::kPlaceBits) | 1);
  tape.add(Choice::text("h\xc3\xa4\xed\xa0\x80"));
  tape.add(Choice::text(""));
  tape.add(Choice::bytes(std::string("\0\xff", 2)));
  tape.add(Choice::bytes(""));
  tape.begin_argument(0);
  tape.begin_step(StepKind::kFaultOff, 0, 4);
  return tape;
}

// Draws as a rule does, the more the higher its number.
template <typename StepSource>
void draw(StepSource& step_source, std::uint32_t rule) {
  ChoiceSource& source = step_source.source();
  source.begin_argument(1);
  source.integer(0, 1'000'000, 0);
  for (std::uint32_t i = 0; i < rule; ++i) {
    source.begin_argument(2 + i);
    source.set_producer(std::int64_t{i} - 1);
    source.real(-1, 1, true, 0);
    source.boolean(0.5);
    source.put(Choice::text(std::string(i, 'x')));
  }
}

// Runs to the end; rules below `rules_from` cannot run. `look` is called wherever the program under test could die.
template <typename StepSource>
void finish(StepSource& step_source, std::uint32_t rules_from, const std::function<void()>& look) {
  for (NextStep next = step_source.next(); next.kind != NextKind::kEnd && next.kind != NextKind::kStuck;
       next = step_source.next()) {
    look();
    if (next.kind == NextKind::kRule && next.target < rules_from) {
      step_source.reject();
    } else {
      if (next.kind == NextKind::kRule) {
        draw(step_source, next.target);
      }
      look();
      if constexpr (std::is_same_v<StepSource, Session>) {
        step_source.done();
      }
    }
    look();
  }
}

// Runs of a session; `look` also is called between two of them.
struct Exploring {
  Session session{kShape, classic({.seed = 3, .checkpoint_prob = 0.5, .steps_per_run = 30}),
                  std::make_shared<CoverageMap>(64)};

  void run(std::uint32_t rules_from, const std::function<void()>& look) {
    const RunSpec spec = session.begin_run();
    look();
    if (spec.checkpoint != 0 && spec.run_id % 2 == 0) {
      session.restored();
      look();
    }
    finish(session, rules_from, look);
    if (session.tape().size() > 3) {
      session.keep();
    }
    session.end_run();
    look();
  }
};

TEST(Journal, GivesATapeBack) {
  Journaled it;
  it.journal->begin_run();
  it.journal->append(tape_of_all_kinds());
  const JournalRecord record = it.memory.read();
  EXPECT_EQ(record.tape, tape_of_all_kinds());
  EXPECT_FALSE(record.cut);
  EXPECT_FALSE(record.ended);
  EXPECT_EQ(record.run, 1U);
  EXPECT_EQ(record.stage, JournalStage::kMaking);
}

TEST(Journal, IsTheTapeOfASessionAtAnyMoment) {
  Journaled it;
  Exploring exploring;
  exploring.session.set_journal(it.journal);
  std::size_t looks = 0;
  std::uint64_t from_checkpoints = 0;
  for (std::uint32_t run = 1; run <= 100; ++run) {
    exploring.run(run % 3, [&] {
      const JournalRecord record = it.memory.read();
      EXPECT_EQ(record.tape, exploring.session.tape());
      EXPECT_EQ(record.run, run);
      EXPECT_EQ(record.ended, !exploring.session.running());
      ++looks;
    });
    from_checkpoints += exploring.session.spec().checkpoint != 0 ? 1U : 0U;
  }
  EXPECT_GT(looks, 1000U);
  EXPECT_GT(from_checkpoints, 20U);
}

TEST(Journal, IsTheTapeOfAReplayAtAnyMoment) {
  Exploring exploring;
  exploring.run(0, [] {});
  Journaled it;
  std::uint64_t rejected = 0;
  for (const std::uint32_t rules_from : {0U, 1U, 3U}) {
    Replay replay(exploring.session.tape());
    replay.set_journal(it.journal);
    finish(replay, rules_from, [&] { EXPECT_EQ(it.memory.read().tape, replay.realized()); });
    EXPECT_FALSE(it.memory.read().ended);
    replay.set_journal(nullptr);
    EXPECT_TRUE(it.memory.read().ended);
    EXPECT_EQ(it.memory.read().tape, replay.realized());
    rejected += replay.rejected();
  }
  EXPECT_GT(rejected, 0U);
  EXPECT_EQ(it.memory.read().run, 3U);
}

TEST(Journal, TakesUpARunThatIsUnderWay) {
  Journaled it;
  Exploring exploring;
  exploring.session.begin_run();
  exploring.session.next();
  exploring.session.set_journal(it.journal);
  EXPECT_EQ(it.memory.read().tape, exploring.session.tape());
  EXPECT_EQ(it.memory.read().tape.size(), 1U);
  exploring.session.set_journal(it.journal);
  EXPECT_EQ(it.memory.read().run, 1U);
  exploring.session.set_journal(nullptr);
  EXPECT_TRUE(it.memory.read().ended);
  EXPECT_EQ(it.journal.use_count(), 1);
}

TEST(Journal, OfNoRunWaitsForOne) {
  Journaled it;
  Exploring exploring;
  exploring.session.set_journal(it.journal);
  const JournalRecord record = it.memory.read();
  EXPECT_EQ(record.run, 0U);
  EXPECT_TRUE(record.tape.empty());
  EXPECT_EQ(record.stage, JournalStage::kIdle);
}

TEST(Journal, TheHeartbeatMovesWithEveryStepAndEveryRun) {
  Journaled it;
  Exploring exploring;
  exploring.session.set_journal(it.journal);
  std::uint64_t before = read_journal_steps(it.memory.bytes());
  const auto moves = [&] { return std::exchange(before, read_journal_steps(it.memory.bytes())) != before; };
  exploring.session.begin_run();
  EXPECT_TRUE(moves());
  exploring.session.next();
  EXPECT_TRUE(moves());
  exploring.session.done();
  exploring.session.next();
  EXPECT_TRUE(moves());
  exploring.session.end_run();
  EXPECT_TRUE(moves());
  EXPECT_EQ(it.journal->steps(), before);
  EXPECT_EQ(it.memory.read().steps, before);
  Replay replay(exploring.session.tape());
  replay.set_journal(it.journal);
  EXPECT_TRUE(moves());
  replay.next();
  EXPECT_TRUE(moves());
  replay.set_journal(nullptr);
  EXPECT_TRUE(moves());
}

TEST(Journal, KnowsTheStage) {
  Journaled it;
  Exploring exploring;
  exploring.session.set_journal(it.journal);
  exploring.session.begin_run();
  EXPECT_EQ(it.memory.read().stage, JournalStage::kMaking);
  exploring.session.next();
  EXPECT_EQ(it.memory.read().stage, JournalStage::kStep);
  it.journal->enter(JournalStage::kTeardown);
  EXPECT_EQ(it.memory.read().stage, JournalStage::kTeardown);
  it.journal->enter(JournalStage::kInspecting);
  EXPECT_EQ(it.memory.read().stage, JournalStage::kInspecting);
  EXPECT_EQ(it.journal->stage(), JournalStage::kInspecting);
  exploring.session.end_run();
  EXPECT_EQ(it.memory.read().stage, JournalStage::kIdle);
}

TEST(Journal, DecisionsOfAStepThatDoesNotEndAreItsLastArgument) {
  Journaled it;
  it.journal->begin_run();
  it.journal->begin_step(StepKind::kRule, 0, 0);
  it.journal->begin_argument(1);
  it.journal->add_decision(kDecisions, true);
  it.journal->add(Choice::integer(5));
  it.journal->add_decision(kDecisions, false);
  Tape expected;
  expected.begin_step(StepKind::kRule, 0, 0);
  expected.begin_argument(1);
  expected.add(Choice::integer(5));
  expected.begin_argument(kDecisions);
  expected.add(Choice::boolean(true));
  expected.add(Choice::boolean(false));
  EXPECT_EQ(it.memory.read().tape, expected);
  // They are written when the step ends, one after the other.
  it.journal->begin_argument(kDecisions);
  EXPECT_EQ(it.memory.read().tape, expected);
  it.journal->add(Choice::boolean(true));
  EXPECT_EQ(it.memory.read().tape, expected);
  it.journal->add(Choice::boolean(false));
  EXPECT_EQ(it.memory.read().tape, expected);
  it.journal->begin_step(StepKind::kRule, 1, 1);
  expected.begin_step(StepKind::kRule, 1, 1);
  EXPECT_EQ(it.memory.read().tape, expected);
}

TEST(Journal, DecisionsOfADroppedStepAreGone) {
  Journaled it;
  it.journal->begin_run();
  it.journal->begin_step(StepKind::kRule, 0, 0);
  it.journal->begin_step(StepKind::kRule, 0, 1);
  it.journal->add_decision(kDecisions, true);
  it.journal->drop_step();
  EXPECT_EQ(it.memory.read().tape.size(), 1U);
  EXPECT_EQ(it.memory.read().tape.choice_count(), 0U);
}

TEST(Journal, IsCutWhereThereIsNoRoom) {
  Journaled it(Journal::kBytesMin);
  it.journal->begin_run();
  Tape whole;
  while (!it.memory.read().cut) {
    whole.begin_step(StepKind::kRule, 0, static_cast<std::uint32_t>(whole.size()));
    it.journal->begin_step(StepKind::kRule, 0, whole.last_step().origin);
  }
  const std::uint64_t used = it.memory.used();
  // What is smaller does not fit either: there would be a gap.
  it.journal->drop_step();
  it.journal->begin_argument(1);
  it.journal->add(Choice::boolean(true));
  it.journal->add(Choice::text(std::string(10'000, 'x')));
  EXPECT_EQ(it.memory.used(), used);
  whole.drop_step();
  EXPECT_EQ(it.memory.read().tape, whole);
  const std::uint64_t steps = it.memory.read().steps;
  it.journal->begin_step(StepKind::kRule, 0, 0);
  EXPECT_GT(it.memory.read().steps, steps);
  it.journal->begin_run();
  EXPECT_FALSE(it.memory.read().cut);
  EXPECT_TRUE(it.memory.read().tape.empty());
}

TEST(Journal, ATextThatIsTooLongIsLeftOut) {
  Journaled it(Journal::kBytesMin);
  it.journal->begin_run();
  it.journal->begin_step(StepKind::kRule, 0, 0);
  it.journal->begin_argument(1);
  it.journal->add(Choice::text(std::string(Journal::kBytesMin, 'x')));
  EXPECT_TRUE(it.memory.read().cut);
  EXPECT_EQ(it.memory.read().tape.choice_count(), 0U);
}

TEST(Journal, FillsTheMemoryToTheLastByte) {
  Journaled it(Journal::kBytesMin);
  it.journal->begin_run();
  it.journal->begin_step(StepKind::kRule, 0, 0);
  it.journal->begin_argument(1);
  const std::size_t left = Journal::kBytesMin - kHeaderBytes - it.memory.used();
  it.journal->add(Choice::bytes(std::string(left - 5, 'x')));
  EXPECT_FALSE(it.memory.read().cut);
  EXPECT_EQ(it.memory.read().tape.choice_count(), 1U);
  it.journal->end_run();
  EXPECT_TRUE(it.memory.read().cut);
}

TEST(Journal, RefusesMemoryThatDoesNotServe) {
  Memory memory;
  EXPECT_THROW(Journal(memory.bytes().subspan(0, Journal::kBytesMin - 1)), ConfigError);
  EXPECT_THROW(Journal(memory.bytes().subspan(4)), ConfigError);
  EXPECT_THROW(Journal(memory.bytes().subspan(0, 0)), ConfigError);
}

TEST(JournalDeathTest, AStrangerEndsBeforeItWrites) {
  Journaled it;
  it.journal->begin_run();
  const std::vector<std::function<void()>> writes{
      [&] { it.journal->begin_run(); },
      [&] { it.journal->begin_step(StepKind::kRule, 0, 0); },
      [&] { it.journal->begin_argument(0); },
      [&] { it.journal->set_producer(0); },
      [&] { it.journal->add(Choice::boolean(true)); },
      [&] { it.journal->add(Choice::text("x")); },
      [&] { it.journal->add_decision(0, true); },
      [&] { it.journal->drop_step(); },
      [&] { it.journal->end_run(); },
      [&] { it.journal->enter(JournalStage::kTeardown); },
  };
  for (const auto& write : writes) {
    EXPECT_EXIT((Journal::forked(), write(), std::_Exit(1)), testing::ExitedWithCode(0), "");
    EXPECT_EXIT((Journal::forked(), it.journal->own(), write(), std::_Exit(1)), testing::ExitedWithCode(1), "");
  }
}

TEST(Journal, IsNotWhereNoneWasMade) {
  Memory memory;
  EXPECT_EQ(memory.refusal(), "the memory holds no journal of this version");
  EXPECT_THROW(static_cast<void>(read_journal_steps(memory.bytes())), TraceError);
  EXPECT_THROW(static_cast<void>(read_journal({}, kShape, kNames)), TraceError);
  EXPECT_THROW(static_cast<void>(read_journal(memory.bytes().subspan(1), kShape, kNames)), TraceError);
}

TEST(Journal, RefusesAHeaderThatCannotBe) {
  for (const auto& [at, value] : std::vector<std::pair<std::size_t, std::uint64_t>>{
           {kMagicAt, 0}, {kCapacityAt, 1U << 20U}, {kCapacityAt, 0}, {kUsedAt, 1U << 16U}, {kUsedAt, UINT64_MAX}}) {
    Journaled it;
    it.memory.set(at, value);
    EXPECT_NE(it.memory.refusal(), "") << at;
  }
  for (const std::size_t at : {kStageAt, kCutAt}) {
    Journaled it;
    it.memory.set(at, std::uint32_t{5});
    EXPECT_NE(it.memory.refusal(), "") << at;
  }
}

// What is said of a run of these records.
std::string refusal_of(const std::function<void(Journal&)>& write) {
  Journaled it;
  it.journal->begin_run();
  write(*it.journal);
  return it.memory.refusal();
}

TEST(Journal, RefusesWhatNamesNothing) {
  const auto step = [](StepKind kind, std::uint32_t target) {
    return refusal_of([=](Journal& journal) { journal.begin_step(kind, target, 0); });
  };
  EXPECT_EQ(step(StepKind::kRule, kShape.rules - 1), "");
  EXPECT_EQ(step(StepKind::kRule, kShape.rules), "a step in the journal is number 4 of 4");
  EXPECT_EQ(step(StepKind::kInitialize, kShape.initializers), "a step in the journal is number 2 of 2");
  EXPECT_EQ(step(StepKind::kFaultOn, kShape.faults), "a step in the journal is number 2 of 2");
  EXPECT_EQ(step(StepKind::kFaultOff, UINT32_MAX), "a step in the journal is number 4294967295 of 2");
  const auto argument = [](std::uint32_t name) {
    return refusal_of([=](Journal& journal) {
      journal.begin_step(StepKind::kRule, 0, 0);
      journal.begin_argument(name);
    });
  };
  EXPECT_EQ(argument(kNames - 1), "");
  EXPECT_EQ(argument(kNames), "an argument in the journal is number 20 of 20");
}

TEST(Journal, RefusesWhatStandsNowhere) {
  EXPECT_EQ(refusal_of([](Journal& journal) { journal.begin_argument(0); }),
            "the journal has an argument without a step");
  EXPECT_EQ(refusal_of([](Journal& journal) { journal.drop_step(); }), "the journal has nothing to drop");
  EXPECT_EQ(refusal_of([](Journal& journal) { journal.add_decision(0, true); }),
            "the journal has a decision without a step");
  const auto in_step = [](const std::function<void(Journal&)>& write) {
    return refusal_of([&](Journal& journal) {
      journal.begin_step(StepKind::kRule, 0, 0);
      write(journal);
    });
  };
  EXPECT_EQ(in_step([](Journal& journal) { journal.add(Choice::boolean(true)); }),
            "the journal has a choice without an argument");
  EXPECT_EQ(in_step([](Journal& journal) { journal.set_producer(1); }),
            "the journal has a producer without an argument");
  EXPECT_EQ(in_step([](Journal& journal) {
              journal.add_decision(1, true);
              journal.add_decision(2, true);
            }),
            "the journal has decisions of two kinds in a step");
  EXPECT_EQ(in_step([](Journal& journal) {
              journal.end_run();
              journal.drop_step();
            }),
            "the journal goes on after the end of its run");
}

TEST(Journal, RefusesValuesThatAreNone) {
  const auto choice = [](const Choice& value) {
    return refusal_of([&](Journal& journal) {
      journal.begin_step(StepKind::kRule, 0, 0);
      journal.begin_argument(0);
      journal.add(value);
    });
  };
  EXPECT_EQ(choice(Choice::text("\xff")), "the journal has a string that is not UTF-8");
  EXPECT_EQ(choice(Choice::big_integer("12345678")), "the journal has a big integer that is small");
}

// The memory after a run with every kind of record, and with a drop.
Journaled full_journal() {
  Journaled it(1U << 13U);
  it.journal->begin_run();
  it.journal->append(tape_of_all_kinds());
  it.journal->begin_step(StepKind::kRule, 0, 9);
  it.journal->drop_step();
  it.journal->begin_step(StepKind::kRule, 2, 10);
  it.journal->begin_argument(3);
  it.journal->add_decision(kDecisions, true);
  it.journal->add(Choice::text("text"));
  return it;
}

// Whatever the memory says: an error, or a tape of this machine that can be replayed.
bool read_or_refuse(Memory& memory) {
  JournalRecord record;
  try {
    record = memory.read();
  } catch (const TraceError&) {
    return false;
  }
  for (const TapeStep& step : record.tape.steps()) {
    EXPECT_LT(step.target, kShape.rules);
  }
  for (const TapeArgument& argument : record.tape.arguments()) {
    EXPECT_LT(argument.name, kNames);
  }
  const std::size_t steps = record.tape.size();
  Replay replay(std::move(record.tape));
  finish(replay, 1, [] {});
  EXPECT_EQ(replay.realized().size() + replay.rejected(), steps);
  return true;
}

TEST(Journal, EveryTruncationIsRefusedOrAShorterTape) {
  Journaled it = full_journal();
  const std::uint64_t used = it.memory.used();
  const Tape whole = it.memory.read().tape;
  std::size_t read = 0;
  for (std::uint64_t size = 0; size < used; ++size) {
    it.memory.set(kUsedAt, size);
    if (read_or_refuse(it.memory)) {
      EXPECT_LE(it.memory.read().tape.size(), whole.size() + 1);  // a step that is dropped later
      ++read;
    }
  }
  EXPECT_GT(read, 20U);
  EXPECT_LT(read, 50U);
}

TEST(Journal, DamagedMemoryIsReadOrRefusedAndNothingElse) {
  Journaled it = full_journal();
  Memory& memory = it.memory;
  const std::vector<std::byte> whole(memory.bytes().begin(), memory.bytes().end());
  const std::size_t end = kHeaderBytes + memory.used();
  Rng rng(5);
  int read = 0;
  for (int attempt = 0; attempt < 20'000; ++attempt) {
    std::ranges::copy(whole, memory.bytes().begin());
    const std::uint64_t changes = 1 + rng.below(4);
    // Mostly behind the header, or little else would be seen.
    const std::size_t begin = rng.chance(0.9) ? kHeaderBytes : 0;
    for (std::uint64_t i = 0; i < changes; ++i) {
      const std::size_t at = begin + rng.below(end - begin);
      const auto change = static_cast<std::byte>(rng.chance(0.5) ? 1U << rng.below(8) : rng.below(256));
      memory.bytes()[at] ^= change;
    }
    if (rng.chance(0.1)) {
      memory.set(kUsedAt, rng.below(end));
    }
    read += read_or_refuse(memory) ? 1 : 0;
  }
  EXPECT_GT(read, 1000);
  EXPECT_LT(read, 19'000);
}

TEST(Journal, RandomRecordsAreReadOrRefused) {
  Journaled it(1U << 13U);
  Rng rng(6);
  for (int attempt = 0; attempt < 5000; ++attempt) {
    for (std::byte& byte : it.memory.bytes().subspan(kHeaderBytes, 200)) {
      byte = static_cast<std::byte>(rng.chance(0.5) ? rng.below(13) : rng.below(256));
    }
    it.memory.set(kUsedAt, rng.below(200));
    read_or_refuse(it.memory);
  }
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
