#include "core/search/state_codec.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <set>
#include <utility>

#include "core/base/byte_stream.h"
#include "core/base/error.h"
#include "core/cmplog/dictionary_codec.h"
#include "core/coverage/feature_codec.h"
#include "core/tape/tape_codec.h"

namespace ordeal {
namespace {

// The minimum size of an item, which limits how many of them can follow.
constexpr std::size_t kCheckpointBytesMin = 16;
constexpr std::size_t kEdgeBytesMin = 20;
constexpr std::size_t kSeenBytesMin = kFeatureBytes + 2;
constexpr std::size_t kBestBytesMin = 9;
constexpr std::size_t kSwarmEntryBytesMin = 12;
constexpr std::size_t kTallyBytesMin = 2;
constexpr std::size_t kRiskBytesMin = 2;
constexpr std::size_t kCircumstanceBytesMin = 3;
// More than any bandit has.
constexpr std::size_t kArmsMax = 1024;
// More tapes than a session has besides its checkpoints: those of its findings, and of runs worth a trace.
constexpr std::size_t kTapesMax = std::size_t{1} << 16U;

// -- features --

// In how many runs, and in which last.
void write_frequency(ByteWriter& out, const FeatureFrequency& frequency) {
  out.number(frequency.runs);
  out.number(frequency.last_run);
}

// No feature can have been seen in more runs than there were.
FeatureFrequency read_frequency(ByteReader& in, std::uint64_t runs) {
  const FeatureFrequency frequency{in.number32("runs of a feature"), in.number32("a run of a feature")};
  if (frequency.runs > frequency.last_run || frequency.last_run > runs) {
    throw TraceError("a feature was seen in " + std::to_string(frequency.runs) + " runs, last in run " +
                     std::to_string(frequency.last_run) + " of " + std::to_string(runs));
  }
  return frequency;
}

// Entries are sorted by the writer, so that equal states are equal bytes.
void write_features(ByteWriter& out, const FeaturesState& features) {
  out.number(features.entries.size());
  for (const FeaturesState::Entry& entry : features.entries) {
    write_feature(out, entry.feature);
    write_frequency(out, entry.frequency);
  }
  out.number(features.targets.size());
  for (const FeaturesState::Best& best : features.targets) {
    out.word(best.label);
    out.integer(best.rung);
  }
  for (const std::uint64_t novelty : features.novelty) {
    out.number(novelty);
  }
}

// No feature was seen in a run that has not been: `runs` bounds what follows.
FeaturesState read_features(ByteReader& in, std::uint64_t runs) {
  FeaturesState features;
  constexpr std::size_t kFeaturesMax = kFeatureKinds * Features::kOfKindMax;
  features.entries = in.items<FeaturesState::Entry>("features", kSeenBytesMin, kFeaturesMax, [&] {
    const Feature feature = read_feature(in);
    return FeaturesState::Entry{feature, read_frequency(in, runs)};
  });
  features.targets = in.items<FeaturesState::Best>("targets", kBestBytesMin, kFeaturesMax, [&] {
    const std::uint64_t label = in.word("a target");
    return FeaturesState::Best{label, in.integer("the value of a target")};
  });
  for (std::uint64_t& novelty : features.novelty) {
    novelty = in.number("new features");
  }
  return features;
}

// -- the corpus --

// Without the step, which is the length of the prefix.
void write_checkpoint(ByteWriter& out, const Checkpoint& checkpoint) {
  out.number(checkpoint.id);
  out.real(checkpoint.energy);
  out.number(checkpoint.new_edges);
  out.number(checkpoint.run_id);
  out.number(checkpoint.times_selected);
  out.number(checkpoint.frequency_class);
  out.number(checkpoint.is_tip ? 1 : 0);
  out.number(checkpoint.shows.size());
  for (const Feature& feature : checkpoint.shows) {
    write_feature(out, feature);
  }
  write_tape(out, checkpoint.prefix.tape());
}

// A zero or a NaN would break the tree that draws by energy.
double read_energy(ByteReader& in) {
  const double energy = in.real("an energy");
  if (!std::isfinite(energy) || energy <= 0) {
    throw TraceError("an energy is not a number above 0");
  }
  return energy;
}

// Nothing if its tape names something gone.
std::optional<Checkpoint> read_checkpoint(ByteReader& in, const Renaming& renaming) {
  Checkpoint checkpoint;
  checkpoint.id = in.number("a checkpoint");
  checkpoint.energy = read_energy(in);
  checkpoint.new_edges = in.number32("new edges");
  checkpoint.run_id = in.number("a run");
  checkpoint.times_selected = in.number("a number of selections");
  checkpoint.frequency_class = static_cast<std::uint32_t>(in.number("the commonness of features", kFrequencyClassMax));
  checkpoint.is_tip = in.number("whether it is a tip", 1) == 1;
  checkpoint.shows =
      in.items<Feature>("features of a checkpoint", kFeatureBytes, SIZE_MAX, [&] { return read_feature(in); });
  std::optional<Tape> prefix = read_tape(in, renaming);
  if (!prefix) {
    return std::nullopt;
  }
  checkpoint.prefix = Prefix(*prefix);
  checkpoint.step = static_cast<std::uint32_t>(checkpoint.prefix.size());
  return checkpoint;
}

// In ascending order of their numbers, all below the next one: the session relies on it.
void read_checkpoints(ByteReader& in, const Renaming& renaming, LoadedState& loaded) {
  const std::size_t count = in.count("checkpoints", kCheckpointBytesMin);
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

// What was drawn, by source, then the configurations with their energies.
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

// The sizes are those of the machine at the time of writing.
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

// After the warm-up there must be a history for draws by energy.
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
  for (std::size_t i = 0; i < count; ++i) {
    swarm.history.push_back(read_swarm_entry(in, rules, faults));
  }
  return swarm;
}

// -- kinds of runs --

// Arms in their order.
void write_bandit(ByteWriter& out, const BanditState& bandit) {
  out.number(bandit.tallies.size());
  for (const BanditState::Tally& tally : bandit.tallies) {
    out.number(tally.reward);
    out.number(tally.cost);
  }
}

// restore() checks whether the sums are in range.
BanditState read_bandit(ByteReader& in) {
  BanditState bandit;
  bandit.tallies = in.items<BanditState::Tally>("arms", kTallyBytesMin, kArmsMax, [&] {
    const std::uint64_t reward = in.number("a reward");
    return BanditState::Tally{reward, in.number("a cost")};
  });
  return bandit;
}

// Starts and swarms: the states of their bandits, then how many runs of each there were.
void write_kinds(ByteWriter& out, const RunScheduleState& kinds) {
  for (const BanditState* bandit : {&kinds.starts, &kinds.swarms}) {
    write_bandit(out, *bandit);
  }
  for (const std::span<const std::uint64_t> counts :
       {std::span<const std::uint64_t>(kinds.counts.starts), std::span<const std::uint64_t>(kinds.counts.swarms)}) {
    for (const std::uint64_t count : counts) {
      out.number(count);
    }
  }
}

// The two bandits, then how many runs of each kind were made.
RunScheduleState read_kinds(ByteReader& in) {
  RunScheduleState kinds;
  for (BanditState* bandit : {&kinds.starts, &kinds.swarms}) {
    *bandit = read_bandit(in);
  }
  for (const std::span<std::uint64_t> counts :
       {std::span<std::uint64_t>(kinds.counts.starts), std::span<std::uint64_t>(kinds.counts.swarms)}) {
    for (std::uint64_t& count : counts) {
      count = in.number("runs of a kind");
    }
  }
  // Reports errors now, while the file can still be named.
  RunSchedule().restore(kinds);
  return kinds;
}

// -- coverage --

// Edges by ascending key.
void write_coverage(ByteWriter& out, const CoverageState& coverage) {
  out.number(coverage.edges.size());
  for (const CoverageState::Edge& edge : coverage.edges) {
    out.word(edge.key);
    out.byte(edge.buckets);
    out.byte(edge.stale_runs);
    out.word(edge.rules);
    write_frequency(out, edge.frequency);
  }
  out.number(coverage.runs);
  out.number(coverage.runs_sampled);
}

// An edge without a bucket would count as seen and unseen at once.
CoverageState::Edge read_edge(ByteReader& in, std::uint64_t runs) {
  CoverageState::Edge edge;
  edge.key = in.word("an edge");
  edge.buckets = in.byte("hit counts");
  if (edge.buckets == 0) {
    throw TraceError("an edge was never seen");
  }
  edge.stale_runs = in.byte("the runs of an edge without anything new");
  edge.rules = in.word("the rules of an edge");
  // What runs after a run belongs to the next one.
  edge.frequency = read_frequency(in, runs + 1);
  return edge;
}

// As many edges as a map can hold, and no more sampled runs than runs.
CoverageState read_coverage(ByteReader& in, std::uint64_t runs) {
  CoverageState coverage;
  coverage.edges = in.items<CoverageState::Edge>("edges", kEdgeBytesMin, CoverageMap::kEdgesMax,
                                                 [&] { return read_edge(in, runs); });
  coverage.runs = in.number("runs", runs);
  coverage.runs_sampled = in.number("sampled runs", coverage.runs);
  return coverage;
}

// xoshiro never leaves the all-zero state.
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

// -- rules that fail --

void write_risk(ByteWriter& out, const std::vector<RuleRiskCounts>& risk) {
  out.number(risk.size());
  for (const RuleRiskCounts& counts : risk) {
    out.number(counts.passed);
    out.number(counts.failed);
  }
}

// One for each rule of the machine at the time of writing.
std::vector<RuleRiskCounts> read_risk(ByteReader& in, std::size_t rules) {
  auto risk = in.items<RuleRiskCounts>("rules that fail", kRiskBytesMin, rules, [&] {
    const std::uint64_t passed = in.number("passed steps");
    return RuleRiskCounts{.passed = passed, .failed = in.number("failed steps")};
  });
  if (risk.size() != rules) {
    throw TraceError("the failures of " + std::to_string(risk.size()) + " rules are known, of " +
                     std::to_string(rules));
  }
  return risk;
}

void write_step_risk(ByteWriter& out, const std::vector<CircumstanceCounts>& risk) {
  out.number(risk.size());
  for (const CircumstanceCounts& counts : risk) {
    out.number(counts.place);
    out.number(counts.passed);
    out.number(counts.failed);
  }
}

// Only circumstances in which a step failed are written, in ascending order.
std::vector<CircumstanceCounts> read_step_risk(ByteReader& in) {
  std::uint64_t next = 0;
  return in.items<CircumstanceCounts>("steps that fail", kCircumstanceBytesMin, RuleStats::kPlaces, [&] {
    const CircumstanceCounts counts{.place = in.number32("a circumstance"),
                                    .passed = in.number32("passed steps"),
                                    .failed = in.number32("failed steps")};
    if (counts.place < next || counts.place >= RuleStats::kPlaces || counts.failed == 0) {
      throw TraceError("steps failed " + std::to_string(counts.failed) + " times in circumstance " +
                       std::to_string(counts.place));
    }
    next = std::uint64_t{counts.place} + 1;
    return counts;
  });
}

// Leaves out what is keyed by indices of rules, faults and bundles.
void forget_rules(SessionState& session) {
  session.swarm = {};
  session.risk.clear();
  session.step_risk.clear();
  session.features.entries.clear();
  for (CoverageState::Edge& edge : session.coverage.edges) {
    edge.rules = 0;
  }
}

}  // namespace

// The names come first, because tapes use their indices.
std::string encode_state(const MachineNames& names, const SessionState& session, std::span<const Tape> tapes) {
  ByteWriter out;
  write_machine_names(out, names);
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
  write_kinds(out, session.runs_by_kind);
  write_coverage(out, session.coverage);
  write_features(out, session.features);
  write_values(out, session.values);
  write_cmplog(out, session.cmplog);
  out.number(session.cost);
  out.number(session.climb_cost);
  out.number(session.tips.size());
  for (const auto& [label, checkpoint] : session.tips) {
    out.word(label);
    out.number(checkpoint);
  }
  write_risk(out, session.risk);
  write_step_risk(out, session.step_risk);
  out.number(tapes.size());
  for (const Tape& tape : tapes) {
    write_tape(out, tape);
  }
  return std::move(out).take();
}

// In the order of encode_state(). The end is checked before anything is used.
LoadedState decode_state(std::string_view bytes, const MachineNames& now) {
  ByteReader in(bytes);
  const MachineNames then = read_machine_names(in);
  const Renaming renaming = renaming_of(then, now);
  LoadedState loaded;
  loaded.machine_changed =
      then.rules != now.rules || then.initializers != now.initializers || then.faults != now.faults;
  loaded.session.runs = in.number("runs");
  loaded.session.schedule = read_rng(in);
  loaded.session.next_checkpoint = in.number("the next checkpoint");
  loaded.session.checkpoints_saved = in.number("checkpoints saved");
  read_checkpoints(in, renaming, loaded);
  loaded.session.swarm = read_swarm(in, then.rules.size(), then.faults.size());
  loaded.session.runs_by_kind = read_kinds(in);
  loaded.session.coverage = read_coverage(in, loaded.session.runs);
  loaded.session.features = read_features(in, loaded.session.runs);
  loaded.session.values = read_values(in);
  loaded.session.cmplog = read_cmplog(in, renaming);
  loaded.session.cost = in.number("cost of runs");
  loaded.session.climb_cost = in.number("cost of climbs");
  loaded.session.tips =
      in.items<std::pair<std::uint64_t, std::uint64_t>>("tips", kBestBytesMin, Features::kOfKindMax, [&] {
        const std::uint64_t label = in.word("a tip");
        return std::pair(label, in.number("the checkpoint of a tip"));
      });
  loaded.session.risk = read_risk(in, then.rules.size());
  loaded.session.step_risk = read_step_risk(in);
  loaded.tapes = in.items<std::optional<Tape>>("tapes", 1, kTapesMax, [&] { return read_tape(in, renaming); });
  loaded.tapes_in_file += loaded.tapes.size();
  loaded.tapes_dropped += static_cast<std::size_t>(std::ranges::count_if(loaded.tapes, std::logical_not<>{}));
  in.check_end();
  if (loaded.machine_changed) {
    forget_rules(loaded.session);
  }
  return loaded;
}

}  // namespace ordeal
