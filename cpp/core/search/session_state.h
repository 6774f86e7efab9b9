// What a session must remember to continue in another process: plain values, without snapshots.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/rng.h"
#include "core/cmplog/cmplog.h"
#include "core/corpus/corpus.h"
#include "core/coverage/coverage_map.h"
#include "core/coverage/features.h"
#include "core/draw/dictionary.h"
#include "core/search/rule_stats.h"
#include "core/swarm/run_schedule.h"
#include "core/swarm/swarm.h"

namespace ordeal {

// Written by state_codec and checked when it is read: a state file may come from a stranger. What a run leaves behind
// and is not here must be a function of what is, or a resumed session would go another way than one without a break.
struct SessionState {
  std::uint64_t runs = 0;  // the number of the last run
  Rng::State schedule{};
  std::uint64_t next_checkpoint = 1;
  std::uint64_t checkpoints_saved = 0;
  std::vector<Checkpoint> checkpoints;  // oldest first
  SwarmState swarm;
  RunScheduleState runs_by_kind;
  CoverageState coverage;
  FeaturesState features;
  std::vector<DictionaryEntry> values;  // of the dictionary, without constants; oldest first
  CmplogState cmplog;
  std::uint64_t cost = 0;  // of all runs, and of those that climbed
  std::uint64_t climb_cost = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> tips;  // labels of numbers, ascending, with their checkpoints
  std::vector<RuleRiskCounts> risk;           // by rule; empty if the rules are not those of the session
  std::vector<CircumstanceCounts> step_risk;  // the same
};

}  // namespace ordeal
