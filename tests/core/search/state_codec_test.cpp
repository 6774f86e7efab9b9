// A session goes on from bytes as if it had not stopped, tapes find their names again, and hostile bytes are refused.
#include "core/search/state_codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/search/session.h"
#include "search/classic.h"
#include "toy_targets.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

MachineNames toy_names() {
  return {.rules = {"open", "write", "close", "look"},
          .initializers = {"format"},
          .faults = {"noisy", "slow", "full", "late"},
          .arguments = {"(body)", "amount"}};
}

// Without one name that every_choice() needs.
std::vector<MachineNames> poorer_names() {
  std::vector<MachineNames> poorer(4, toy_names());
  poorer[0].rules[1] = "other";
  poorer[1].initializers.clear();
  poorer[2].faults.pop_back();
  poorer[3].arguments[1] = "other";
  return poorer;
}

struct Exploration {
  std::shared_ptr<CoverageMap> coverage = std::make_shared<CoverageMap>(64);
  Session session;

  explicit Exploration(const SessionOptions& options) : session(Logbook::kShape, classic(options), coverage) {}

  std::vector<Tape> run(int runs) {
    std::vector<Tape> tapes;
    for (int i = 0; i < runs; ++i) {
      run_once<Logbook>(session, *coverage);
      tapes.push_back(session.tape());
    }
    return tapes;
  }
};

std::vector<SessionOptions> all_options() {
  return {SessionOptions{.seed = 1},
          SessionOptions{.seed = 2, .max_checkpoints = 8},
          SessionOptions{.seed = 3, .max_checkpoints = 8, .checkpoint_strategy = CheckpointStrategy::kUniform},
          SessionOptions{.seed = 4, .checkpoint_strategy = CheckpointStrategy::kRecent, .rule_swarm = true},
          SessionOptions{.seed = 5, .rule_swarm = true, .pair_features = true},
          SessionOptions{.seed = 6, .swarm = SwarmDistribution::kCoinFlip, .pair_features = true}};
}

std::string saved_bytes(int runs = 60) {
  Exploration exploration({.seed = 7, .rule_swarm = true, .pair_features = true});
  const std::vector<Tape> tapes = exploration.run(runs);
  return encode_state(toy_names(), exploration.session.save(), std::vector<Tape>(tapes.end() - 3, tapes.end()));
}

// The message of the TraceError that reading gives, "" when there was none.
std::string refusal(std::string_view bytes, const MachineNames& names = toy_names()) {
  try {
    static_cast<void>(decode_state(bytes, names));
  } catch (const TraceError& error) {
    return error.what();
  }
  return "";
}

Tape every_choice() {
  Tape tape;
  tape.begin_step(StepKind::kInitialize, 0, 0);
  tape.begin_step(StepKind::kFaultOn, 3, 1);
  tape.begin_step(StepKind::kRule, 1, 4);
  tape.begin_argument(1);
  tape.set_producer((std::int64_t{3} << 32) | 1);
  tape.add(Choice::boolean(true));
  tape.add(Choice::integer(INT64_MIN));
  tape.add(Choice::big_integer("123456789\xFF"));
  tape.add(Choice::real(std::nan("7")));
  tape.add(Choice::real(-0.0));
  tape.begin_argument(0);
  tape.add(Choice::text("gr\xC3\xBC\xC3\x9F \xED\xA0\x80 \xF0\x9F\x8E\x89"));  // with a lone surrogate
  tape.add(Choice::bytes(std::string("\x00\xFF", 2)));
  tape.begin_step(StepKind::kFaultOff, 3, 5);
  return tape;
}

Tape one_step(StepKind kind, std::uint32_t target) {
  Tape tape;
  tape.begin_step(kind, target, 0);
  return tape;
}

std::string with_tapes(const std::vector<Tape>& tapes) {
  const Exploration exploration({});
  return encode_state(toy_names(), exploration.session.save(), tapes);
}

TEST(StateCodec, ASessionGoesOnAsIfItHadNotStopped) {
  for (const SessionOptions& options : all_options()) {
    for (const int runs_before : {0, 1, 15, 120}) {
      Exploration whole(options);
      whole.run(runs_before);
      Exploration first(options);
      first.run(runs_before);
      const std::string bytes = encode_state(toy_names(), first.session.save(), {});
      Exploration second(options);
      second.session.restore(decode_state(bytes, toy_names()).session);
      EXPECT_EQ(second.run(100), whole.run(100)) << "seed " << options.seed << " after " << runs_before;
      EXPECT_EQ(encode_state(toy_names(), second.session.save(), {}),
                encode_state(toy_names(), whole.session.save(), {}));
    }
  }
}

TEST(StateCodec, AnEdgeThatRanAfterTheLastRunComesBack) {
  Exploration exploration({});
  exploration.run(3);
  exploration.coverage->mark(exploration.coverage->add_edge(0xED6E));  // by a finaliser, or while the state is copied
  EXPECT_EQ(refusal(encode_state(toy_names(), exploration.session.save(), {})), "");
}

TEST(StateCodec, EveryKindOfChoiceComesBack) {
  const LoadedState loaded = decode_state(with_tapes({every_choice(), Tape()}), toy_names());
  ASSERT_EQ(loaded.tapes.size(), 2U);
  EXPECT_EQ(loaded.tapes[0], every_choice());
  EXPECT_EQ(loaded.tapes[1], Tape());
  EXPECT_EQ(loaded.tapes_in_file, 2U);
  EXPECT_FALSE(loaded.machine_changed);
}

TEST(StateCodec, TapesFollowNamesThatMoved) {
  MachineNames moved = toy_names();
  std::swap(moved.rules[1], moved.rules[3]);
  std::swap(moved.arguments[0], moved.arguments[1]);
  moved.faults.insert(moved.faults.begin(), "new");
  const LoadedState loaded = decode_state(with_tapes({every_choice()}), moved);
  ASSERT_TRUE(loaded.tapes[0].has_value());
  const Tape& tape = *loaded.tapes[0];
  EXPECT_EQ(tape.step(1).target, 4U);
  EXPECT_EQ(tape.step(2).target, 3U);
  EXPECT_EQ(tape.arguments(tape.step(2))[0].name, 0U);
  EXPECT_TRUE(loaded.machine_changed);
  EXPECT_EQ(loaded.tapes_dropped, 0U);
}

TEST(StateCodec, FaultsOfOneNameAreToldApartByTheirOrder) {
  MachineNames names = toy_names();
  names.faults = {"slow", "slow", "full", "late"};
  const Exploration exploration({});
  const std::string bytes =
      encode_state(names, exploration.session.save(), std::vector<Tape>{one_step(StepKind::kFaultOn, 1)});
  names.faults = {"late", "slow", "slow"};
  EXPECT_EQ(decode_state(bytes, names).tapes[0]->step(0).target, 2U);
  names.faults = {"slow"};
  EXPECT_FALSE(decode_state(bytes, names).tapes[0].has_value());
}

TEST(StateCodec, ATapeThatNamesWhatIsGoneIsDroppedAndCounted) {
  for (const MachineNames& names : poorer_names()) {
    const LoadedState loaded = decode_state(with_tapes({every_choice(), one_step(StepKind::kRule, 0)}), names);
    EXPECT_FALSE(loaded.tapes[0].has_value());
    EXPECT_TRUE(loaded.tapes[1].has_value());
    EXPECT_EQ(loaded.tapes_dropped, 1U);
  }
}

TEST(StateCodec, ACheckpointWhoseRuleIsGoneIsDroppedAndTheOthersStay) {
  const std::string bytes = saved_bytes();
  const std::size_t all = decode_state(bytes, toy_names()).session.checkpoints.size();
  MachineNames names = toy_names();
  names.rules[3] = "other";
  const LoadedState loaded = decode_state(bytes, names);
  EXPECT_GT(loaded.session.checkpoints.size(), 0U);
  EXPECT_LT(loaded.session.checkpoints.size(), all);
  EXPECT_TRUE(loaded.session.swarm.history.empty());
  EXPECT_TRUE(loaded.session.features.entries.empty());
  EXPECT_FALSE(loaded.session.coverage.edges.empty());
}

TEST(StateCodec, ASmallerCorpusTakesWhatFits) {
  Exploration exploration({.max_checkpoints = 2});
  exploration.session.restore(decode_state(saved_bytes(), toy_names()).session);
  EXPECT_EQ(exploration.session.corpus().size(), 2U);
}

TEST(StateCodec, SavingAndRestoringHaveTheirTimes) {
  Exploration exploration({});
  exploration.session.begin_run();
  EXPECT_TRUE(exploration.session.running());
  EXPECT_THROW(static_cast<void>(exploration.session.save()), CheckFailure);
  exploration.session.end_run();
  EXPECT_FALSE(exploration.session.running());
  EXPECT_THROW(exploration.session.restore(exploration.session.save()), CheckFailure);
}

TEST(StateCodec, RefusesAPrefixAboveTheLimit) {
  SessionState state = Exploration({}).session.save();
  Checkpoint checkpoint;
  checkpoint.id = 1;
  Tape tape;
  for (std::uint32_t i = 0; i < Session::kTapeStepsMax; ++i) {
    tape.begin_step(StepKind::kRule, 0, i);
  }
  checkpoint.prefix = Prefix(tape);
  state.checkpoints.push_back(checkpoint);
  Exploration exploration({});
  EXPECT_THROW(exploration.session.restore(std::move(state)), TraceError);
}

TEST(StateCodec, RefusesValuesOutOfRange) {
  const auto with = [](const auto& change) {
    SessionState state = decode_state(saved_bytes(), toy_names()).session;
    change(state);
    return refusal(encode_state(toy_names(), state, {}));
  };
  EXPECT_EQ(with([](SessionState&) {}), "");
  EXPECT_NE(with([](SessionState& state) { state.schedule = {}; }), "");
  EXPECT_NE(with([](SessionState& state) { state.checkpoints[0].energy = -1; }), "");
  EXPECT_NE(with([](SessionState& state) { state.checkpoints[0].energy = std::nan(""); }), "");
  EXPECT_NE(with([](SessionState& state) { state.checkpoints[1].id = state.checkpoints[0].id; }), "");
  EXPECT_NE(with([](SessionState& state) { state.checkpoints[0].prefix = Prefix(); }), "");
  EXPECT_NE(with([](SessionState& state) { state.next_checkpoint = 1; }), "");
  EXPECT_NE(with([](SessionState& state) { state.swarm.history[0].energy = 1e9; }), "");
  EXPECT_NE(with([](SessionState& state) { state.swarm.history[0].configuration.rules.assign(4, false); }), "");
  EXPECT_NE(with([](SessionState& state) { state.swarm.history[0].configuration.rules.push_back(true); }), "");
  EXPECT_NE(with([](SessionState& state) { state.swarm.history.clear(); }), "");
  EXPECT_NE(with([](SessionState& state) { state.swarm.history.resize(2000, state.swarm.history[0]); }), "");
  EXPECT_NE(with([](SessionState& state) { state.coverage.edges[0].buckets = 0; }), "");
  EXPECT_NE(with([](SessionState& state) { state.coverage.edges[0].frequency = {.runs = 2, .last_run = 1}; }), "");
  EXPECT_NE(with([](SessionState& state) { state.coverage.edges[0].frequency.last_run = 1'000'000; }), "");
  EXPECT_NE(with([](SessionState& state) { state.coverage.runs = state.runs + 1; }), "");
  EXPECT_NE(with([](SessionState& state) { state.coverage.runs_sampled = state.runs + 1; }), "");
  EXPECT_NE(with([](SessionState& state) { state.checkpoints[0].frequency_class = kFrequencyClassMax + 1; }), "");
  EXPECT_EQ(with([](SessionState& state) { state.step_risk = {{.place = 0, .failed = 1}, {.place = 9, .failed = 2}}; }),
            "");
  EXPECT_NE(with([](SessionState& state) { state.step_risk = {{.place = 9, .failed = 1}, {.place = 9, .failed = 2}}; }),
            "");
  EXPECT_NE(with([](SessionState& state) { state.step_risk = {{.place = RuleStats::kPlaces, .failed = 1}}; }), "");
  EXPECT_NE(with([](SessionState& state) { state.step_risk = {{.place = 9, .passed = 1}}; }), "");
  EXPECT_NE(with([](SessionState& state) {
              state.features.entries.push_back({.feature = {.kind = static_cast<FeatureKind>(kFeatureKinds), .key = 1},
                                                .frequency = {.runs = 1, .last_run = 1}});
            }),
            "");
}

TEST(StateCodec, RefusesStringsThatPythonCannotHold) {
  for (const std::string_view text : {"\x80", "\xC3", "\xC0\x80", "\xE0\x80\x80", "\xF0\x80\x80\x80",
                                      "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xC3(", "a\xFF"}) {
    Tape tape = one_step(StepKind::kRule, 0);
    tape.begin_argument(0);
    tape.add(Choice::text(std::string(text)));
    EXPECT_EQ(refusal(with_tapes({tape})), "a string is not UTF-8");
  }
}

TEST(StateCodec, RefusesMoreNamesThanAnyMachineHas) {
  for (const int table : {0, 1, 2, 3}) {
    ByteWriter out;
    for (int i = 0; i < table; ++i) {
      out.number(0);
    }
    out.number(1'000'000);
    const std::string bytes = std::move(out).take() + std::string(1'000'000, '\0');
    EXPECT_NE(refusal(bytes).find("at most 65536 are possible"), std::string::npos) << table << refusal(bytes);
  }
}

TEST(StateCodec, RefusesMoreTapesThanASessionHas) {
  EXPECT_NE(refusal(with_tapes(std::vector<Tape>(70'000))).find("at most 65536 are possible"), std::string::npos);
}

TEST(StateCodec, RefusesIndexesOutsideTheirTables) {
  EXPECT_EQ(refusal(with_tapes({one_step(StepKind::kRule, 4)})), "a step is number 4 of 4");
  EXPECT_EQ(refusal(with_tapes({one_step(StepKind::kInitialize, 1)})), "a step is number 1 of 1");
  Tape tape = one_step(StepKind::kRule, 0);
  tape.begin_argument(9);
  EXPECT_EQ(refusal(with_tapes({tape})), "an argument is number 9 of 2");
}

TEST(StateCodec, RefusesEveryTruncation) {
  const std::string bytes = saved_bytes(3);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(refusal(std::string_view(bytes).substr(0, size)), "") << size;
  }
  EXPECT_EQ(refusal(bytes + "x"), "1 bytes follow the end");
}

// Whatever the bytes say: an error, or a state that a session takes and goes on with.
void take_or_refuse(std::string_view bytes) {
  try {
    LoadedState loaded = decode_state(bytes, toy_names());
    Exploration exploration({.rule_swarm = true});
    exploration.session.restore(std::move(loaded.session));
    exploration.run(3);
  } catch (const TraceError&) {
    return;
  }
}

TEST(StateCodec, FlippedAndSplicedBytesAreTakenOrRefusedAndNothingElse) {
  const std::string bytes = saved_bytes(12);
  Rng rng(5);
  for (int attempt = 0; attempt < 2000; ++attempt) {
    std::string damaged = bytes;
    const std::uint64_t changes = 1 + rng.below(4);
    for (std::uint64_t i = 0; i < changes; ++i) {
      const std::size_t at = rng.below(damaged.size());
      if (rng.chance(0.5)) {
        damaged[at] = static_cast<char>(static_cast<std::uint8_t>(damaged[at]) ^ (1U << rng.below(8)));
      } else {
        damaged.replace(at, rng.below(10), std::string(rng.below(10), static_cast<char>(rng.below(256))));
      }
    }
    take_or_refuse(damaged);
  }
}

TEST(StateCodec, RandomBytesAreRefused) {
  Rng rng(6);
  for (int attempt = 0; attempt < 1000; ++attempt) {
    std::string bytes(rng.below(200), '\0');
    for (char& byte : bytes) {
      byte = static_cast<char>(rng.chance(0.3) ? 0xFFU : rng.below(256));
    }
    take_or_refuse(bytes);
  }
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
