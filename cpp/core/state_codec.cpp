#include "core/state_codec.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "core/byte_stream.h"
#include "core/error.h"
#include "core/script.h"

namespace ordeal {
namespace {

constexpr std::uint32_t kGone = UINT32_MAX;
constexpr std::uint8_t kBigInteger = 5;  // follows the kinds of choices
constexpr std::size_t kBigIntegerBytesMin = 9;
// The fewest bytes that an item takes: what bounds how many of them can follow.
constexpr std::size_t kStepBytesMin = 4;
constexpr std::size_t kArgumentBytesMin = 3;
constexpr std::size_t kChoiceBytesMin = 2;
constexpr std::size_t kCheckpointBytesMin = 14;
constexpr std::size_t kEdgeBytes = 9;
constexpr std::size_t kFeatureBytes = 8;
constexpr std::size_t kSwarmEntryBytesMin = 12;

// -- names --

void write_names(ByteWriter& out, const std::vector<std::string>& names) {
  out.number(names.size());
  for (const std::string& name : names) {
    out.text(name);
  }
}

std::vector<std::string> read_names(ByteReader& in, const char* what, std::size_t size_max) {
  const std::size_t size = in.count(what, 1);
  if (size > size_max) {
    throw TraceError(std::string(what) + " are " + std::to_string(size) + "; at most " + std::to_string(size_max) +
                     " are possible");
  }
  std::vector<std::string> names(size);
  for (std::string& name : names) {
    name = in.text(what);
  }
  return names;
}

// The index that each name has now, kGone for one that is no longer there. The n-th of a name stands for the n-th.
std::vector<std::uint32_t> indexes_now(const std::vector<std::string>& then, const std::vector<std::string>& now) {
  std::map<std::string_view, std::vector<std::uint32_t>> places;
  for (std::size_t i = 0; i < now.size(); ++i) {
    places[now[i]].push_back(static_cast<std::uint32_t>(i));
  }
  std::map<std::string_view, std::size_t> used;
  std::vector<std::uint32_t> indexes(then.size(), kGone);
  for (std::size_t i = 0; i < then.size(); ++i) {
    const auto found = places.find(then[i]);
    const std::size_t place = used[then[i]]++;
    if (found != places.end() && place < found->second.size()) {
      indexes[i] = found->second[place];
    }
  }
  return indexes;
}

struct Renaming {
  std::vector<std::uint32_t> rules;
  std::vector<std::uint32_t> initializers;
  std::vector<std::uint32_t> faults;
  std::vector<std::uint32_t> arguments;

  [[nodiscard]] const std::vector<std::uint32_t>& of(StepKind kind) const noexcept {
    if (is_fault(kind)) {
      return faults;
    }
    return kind == StepKind::kInitialize ? initializers : rules;
  }
};

// -- choices --

// The bytes of a character that begin with this one, 0 when none does.
std::size_t character_size(std::uint8_t first) noexcept {
  if (first < 0x80U) {
    return 1;
  }
  if (first >= 0xC2U && first < 0xE0U) {
    return 2;
  }
  if (first >= 0xE0U && first < 0xF0U) {
    return 3;
  }
  return first >= 0xF0U && first < 0xF5U ? 4 : 0;
}

// UTF-8 in which surrogates may stand, as strings of Python hold them.
bool is_text(std::string_view text) noexcept {
  const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = character_size(at(i));
    if (size == 0 || i + size > text.size()) {
      return false;
    }
    for (std::size_t k = 1; k < size; ++k) {
      if ((at(i + k) & 0xC0U) != 0x80U) {
        return false;
      }
    }
    const bool is_too_long = (at(i) == 0xE0U && at(i + 1) < 0xA0U) || (at(i) == 0xF0U && at(i + 1) < 0x90U);
    const bool is_beyond_unicode = at(i) == 0xF4U && at(i + 1) >= 0x90U;
    if (is_too_long || is_beyond_unicode) {
      return false;
    }
    i += size;
  }
  return true;
}

void write_choice(ByteWriter& out, const Choice& choice) {
  out.byte(choice.is_big() ? kBigInteger : static_cast<std::uint8_t>(choice.kind));
  switch (choice.kind) {
    case ChoiceKind::kBoolean:
      out.byte(choice.number != 0 ? 1 : 0);
      break;
    case ChoiceKind::kInteger:
      choice.is_big() ? out.text(choice.blob) : out.integer(choice.number);
      break;
    case ChoiceKind::kFloat:
      out.real(choice.as_real());
      break;
    case ChoiceKind::kString:
    case ChoiceKind::kBytes:
      out.text(choice.blob);
      break;
  }
}

Choice read_big_integer(ByteReader& in) {
  const std::string_view blob = in.text("an integer");
  if (blob.size() < kBigIntegerBytesMin) {
    throw TraceError("a big integer has " + std::to_string(blob.size()) + " bytes; it must have at least " +
                     std::to_string(kBigIntegerBytesMin));
  }
  return Choice::big_integer(std::string(blob));
}

Choice read_string(ByteReader& in) {
  const std::string_view text = in.text("a string");
  if (!is_text(text)) {
    throw TraceError("a string is not UTF-8");
  }
  return Choice::text(std::string(text));
}

Choice read_choice(ByteReader& in) {
  const std::uint8_t kind = in.byte("a choice");
  if (kind == kBigInteger) {
    return read_big_integer(in);
  }
  switch (static_cast<ChoiceKind>(kind)) {
    case ChoiceKind::kBoolean:
      return Choice::boolean(in.number("a boolean", 1) == 1);
    case ChoiceKind::kInteger:
      return Choice::integer(in.integer("an integer"));
    case ChoiceKind::kFloat:
      return Choice::real(in.real("a float"));
    case ChoiceKind::kString:
      return read_string(in);
    case ChoiceKind::kBytes:
      return Choice::bytes(std::string(in.text("bytes")));
  }
  throw TraceError("a choice has the unknown kind " + std::to_string(kind));
}

// -- tapes --

void write_tape(ByteWriter& out, const Tape& tape) {
  out.number(tape.size());
  for (const TapeStep& step : tape.steps()) {
    out.byte(static_cast<std::uint8_t>(step.kind));
    out.number(step.target);
    out.number(step.origin);
    const auto arguments = tape.arguments(step);
    out.number(arguments.size());
    for (const TapeArgument& argument : arguments) {
      out.number(argument.name);
      out.integer(argument.producer);
      const auto choices = tape.choices(argument);
      out.number(choices.size());
      for (const Choice& choice : choices) {
        write_choice(out, choice);
      }
    }
  }
}

std::uint32_t read_index(ByteReader& in, const char* what, const std::vector<std::uint32_t>& table) {
  const std::uint64_t index = in.number(what);
  if (index >= table.size()) {
    throw TraceError(std::string(what) + " is number " + std::to_string(index) + " of " + std::to_string(table.size()));
  }
  return table[static_cast<std::size_t>(index)];
}

// False when its name is no longer there.
bool read_argument(ByteReader& in, const Renaming& renaming, Tape& tape) {
  const std::uint32_t name = read_index(in, "an argument", renaming.arguments);
  tape.begin_argument(name);
  tape.set_producer(in.integer("a producer"));
  const std::size_t choices = in.count("choices", kChoiceBytesMin);
  for (std::size_t i = 0; i < choices; ++i) {
    tape.add(read_choice(in));
  }
  return name != kGone;
}

// False when what it names is no longer there.
bool read_step(ByteReader& in, const Renaming& renaming, Tape& tape) {
  const std::uint8_t kind = in.byte("a step");
  if (kind > static_cast<std::uint8_t>(StepKind::kFaultOff)) {
    throw TraceError("a step has the unknown kind " + std::to_string(kind));
  }
  const auto step_kind = static_cast<StepKind>(kind);
  const std::uint32_t target = read_index(in, "a step", renaming.of(step_kind));
  tape.begin_step(step_kind, target, in.number32("an origin"));
  bool applies = target != kGone;
  const std::size_t arguments = in.count("arguments", kArgumentBytesMin);
  for (std::size_t i = 0; i < arguments; ++i) {
    applies = read_argument(in, renaming, tape) && applies;
  }
  return applies;
}

std::optional<Tape> read_tape(ByteReader& in, const Renaming& renaming) {
  Tape tape;
  bool applies = true;
  const std::size_t steps = in.count("steps", kStepBytesMin);
  for (std::size_t i = 0; i < steps; ++i) {
    applies = read_step(in, renaming, tape) && applies;
  }
  return applies ? std::optional(std::move(tape)) : std::nullopt;
}

// -- the corpus --

void write_checkpoint(ByteWriter& out, const Checkpoint& checkpoint) {
  out.number(checkpoint.id);
  out.real(checkpoint.energy);
  out.number(checkpoint.new_edges);
  out.number(checkpoint.run_id);
  out.number(checkpoint.times_selected);
  write_tape(out, checkpoint.prefix);
}

double read_energy(ByteReader& in) {
  const double energy = in.real("an energy");
  if (!std::isfinite(energy) || energy <= 0) {
    throw TraceError("an energy is not a number above 0");
  }
  return energy;
}

std::optional<Checkpoint> read_checkpoint(ByteReader& in, const Renaming& renaming) {
  Checkpoint checkpoint;
  checkpoint.id = in.number("a checkpoint");
  checkpoint.energy = read_energy(in);
  checkpoint.new_edges = in.number32("new edges");
  checkpoint.run_id = in.number("a run");
  checkpoint.times_selected = in.number("a number of selections");
  std::optional<Tape> prefix = read_tape(in, renaming);
  if (!prefix) {
    return std::nullopt;
  }
  checkpoint.prefix = std::move(*prefix);
  checkpoint.step = static_cast<std::uint32_t>(checkpoint.prefix.size());
  return checkpoint;
}

void read_checkpoints(ByteReader& in, const Renaming& renaming, LoadedState& loaded) {
  const std::size_t count = in.count("checkpoints", kCheckpointBytesMin);
  loaded.session.checkpoints.reserve(count);
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::optional<Checkpoint> checkpoint = read_checkpoint(in, renaming);
    if (!checkpoint) {
      ++loaded.tapes_dropped;
      continue;
    }
    if (checkpoint->id <= last || checkpoint->id >= loaded.session.next_checkpoint || checkpoint->prefix.empty()) {
      throw TraceError("checkpoint " + std::to_string(checkpoint->id) + " is out of order or empty");
    }
    last = checkpoint->id;
    loaded.session.checkpoints.push_back(std::move(*checkpoint));
  }
  loaded.tapes_in_file += count;
}

// -- the swarm --

void write_swarm(ByteWriter& out, const SwarmState& swarm) {
  for (const std::uint64_t draws : swarm.draws) {
    out.number(draws);
  }
  out.number(swarm.total);
  out.byte(swarm.rules_near_gaps.empty() ? 0 : 1);
  if (!swarm.rules_near_gaps.empty()) {
    out.flags(swarm.rules_near_gaps);
  }
  out.number(swarm.history.size());
  for (const SwarmState::Entry& entry : swarm.history) {
    out.flags(entry.configuration.rules);
    out.flags(entry.configuration.faults);
    out.byte(static_cast<std::uint8_t>(entry.source));
    out.byte(entry.productive ? 1 : 0);
    out.real(entry.energy);
  }
}

SwarmState::Entry read_swarm_entry(ByteReader& in, std::size_t rules, std::size_t faults) {
  SwarmState::Entry entry;
  entry.configuration.rules = in.flags("rules of the swarm", rules);
  entry.configuration.faults = in.flags("faults of the swarm", faults);
  entry.source = static_cast<SwarmSource>(in.number("a source", static_cast<std::uint64_t>(SwarmSource::kEnergy)));
  entry.productive = in.number("a flag", 1) == 1;
  entry.energy = read_energy(in);
  if (entry.configuration.rule_count() == 0 || entry.energy < Swarm::kEnergyMin || entry.energy > Swarm::kEnergyMax) {
    throw TraceError("a configuration of the swarm has no rule, or an energy out of range");
  }
  return entry;
}

SwarmState read_swarm(ByteReader& in, std::size_t rules, std::size_t faults) {
  SwarmState swarm;
  for (std::uint64_t& draws : swarm.draws) {
    draws = in.number("draws");
  }
  swarm.total = in.number("draws");
  if (in.number("a flag", 1) == 1) {
    swarm.rules_near_gaps = in.flags("rules near gaps", rules);
  }
  const std::size_t count = in.count("the history of the swarm", kSwarmEntryBytesMin);
  if (count > Swarm::kHistoryMax) {
    throw TraceError("the history of the swarm has " + std::to_string(count) + " entries; at most " +
                     std::to_string(Swarm::kHistoryMax) + " are possible");
  }
  if (count == 0 && swarm.total >= Swarm::kWarmUpRuns) {
    throw TraceError("the history of the swarm is empty after " + std::to_string(swarm.total) + " draws");
  }
  swarm.history.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    swarm.history.push_back(read_swarm_entry(in, rules, faults));
  }
  return swarm;
}

// -- coverage --

void write_coverage(ByteWriter& out, const CoverageState& coverage) {
  out.number(coverage.edges.size());
  for (const CoverageState::Edge& edge : coverage.edges) {
    out.word(edge.key);
    out.byte(edge.buckets);
  }
  out.number(coverage.features.size());
  for (const std::uint64_t feature : coverage.features) {
    out.word(feature);
  }
}

CoverageState read_coverage(ByteReader& in) {
  CoverageState coverage;
  coverage.edges.resize(in.count("edges", kEdgeBytes));
  for (CoverageState::Edge& edge : coverage.edges) {
    edge.key = in.word("an edge");
    edge.buckets = in.byte("hit counts");
    if (edge.buckets == 0) {
      throw TraceError("an edge was never seen");
    }
  }
  coverage.features.resize(in.count("features", kFeatureBytes));
  for (std::uint64_t& feature : coverage.features) {
    feature = in.word("a feature");
  }
  if (coverage.edges.size() > CoverageMap::kEdgesMax || coverage.features.size() > CoverageMap::kFeaturesMax) {
    throw TraceError("there are more edges or features than a session can hold");
  }
  return coverage;
}

MachineNames read_machine_names(ByteReader& in) {
  MachineNames names;
  names.rules = read_names(in, "names of rules", MachineShape::kTargetsMax);
  names.initializers = read_names(in, "names of initialize rules", MachineShape::kTargetsMax);
  names.faults = read_names(in, "names of faults", MachineShape::kTargetsMax);
  names.arguments = read_names(in, "names of arguments", UINT32_MAX);
  return names;
}

Rng::State read_rng(ByteReader& in) {
  Rng::State state{};
  for (std::uint64_t& word : state) {
    word = in.word("a random generator");
  }
  if (std::ranges::count(state, 0U) == static_cast<std::ptrdiff_t>(state.size())) {
    throw TraceError("a random generator is all zeros");
  }
  return state;
}

}  // namespace

std::string encode_state(const MachineNames& names, const SessionState& session, std::span<const Tape> tapes) {
  ByteWriter out;
  write_names(out, names.rules);
  write_names(out, names.initializers);
  write_names(out, names.faults);
  write_names(out, names.arguments);
  out.number(session.runs);
  for (const std::uint64_t word : session.schedule) {
    out.word(word);
  }
  out.number(session.next_checkpoint);
  out.number(session.checkpoints_saved);
  out.number(session.checkpoints.size());
  for (const Checkpoint& checkpoint : session.checkpoints) {
    write_checkpoint(out, checkpoint);
  }
  write_swarm(out, session.swarm);
  write_coverage(out, session.coverage);
  out.number(tapes.size());
  for (const Tape& tape : tapes) {
    write_tape(out, tape);
  }
  return std::move(out).take();
}

LoadedState decode_state(std::string_view bytes, const MachineNames& now) {
  ByteReader in(bytes);
  const MachineNames then = read_machine_names(in);
  const Renaming renaming{indexes_now(then.rules, now.rules), indexes_now(then.initializers, now.initializers),
                          indexes_now(then.faults, now.faults), indexes_now(then.arguments, now.arguments)};
  LoadedState loaded;
  loaded.machine_changed =
      then.rules != now.rules || then.initializers != now.initializers || then.faults != now.faults;
  loaded.session.runs = in.number("runs");
  loaded.session.schedule = read_rng(in);
  loaded.session.next_checkpoint = in.number("the next checkpoint");
  loaded.session.checkpoints_saved = in.number("checkpoints saved");
  read_checkpoints(in, renaming, loaded);
  loaded.session.swarm = read_swarm(in, then.rules.size(), then.faults.size());
  loaded.session.coverage = read_coverage(in);
  loaded.tapes.resize(in.count("tapes", 1));
  loaded.tapes_in_file += loaded.tapes.size();
  for (std::optional<Tape>& tape : loaded.tapes) {
    tape = read_tape(in, renaming);
    loaded.tapes_dropped += tape ? 0U : 1U;
  }
  in.check_end();
  if (loaded.machine_changed) {
    loaded.session.swarm = {};
    loaded.session.coverage.features.clear();
  }
  return loaded;
}

}  // namespace ordeal
