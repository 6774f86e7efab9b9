// What a session is told before its first run: the options of its search, and what is wrong with them.
//
// Value types. The names of options and of their values are in the bindings; what a user wrote has been checked by then
// for its type, and is checked here for its range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/corpus/corpus.h"
#include "core/coverage/features.h"
#include "core/swarm/rule_weights.h"
#include "core/swarm/run_schedule.h"
#include "core/tape/step_source.h"

namespace ordeal {

// The defaults are those of python/ordeal/config/options.py, which passes every option; a test compares them.
struct SessionOptions {
  std::uint64_t seed = 42;
  std::size_t max_checkpoints = 256;
  // Share of the runs that branch. Nothing: 0.4, or what the adaptive policy finds best.
  // NOLINTNEXTLINE(readability-redundant-member-init): as below.
  std::optional<double> checkpoint_prob = {};
  CheckpointStrategy checkpoint_strategy = CheckpointStrategy::kEnergy;
  double fault_toggle_prob = 0.3;
  // Share of the rule steps, in runs that branch, whose arguments mutate from the rule's last call before the
  // checkpoint. Nothing: 0, or what the adaptive policy finds best.
  // NOLINTNEXTLINE(readability-redundant-member-init): as below.
  std::optional<double> seed_mutation_prob = {};
  // Share of the draws from a large range, and of texts and bytes, that take a value which was drawn earlier in the
  // run, compared by the program, stands in its source or led to something new.
  double value_reuse_prob = 0.1;
  std::uint32_t steps_per_run = 50;  // a run draws its length from 1 to this; initialize rules count
  // Swarm configurations over rules and faults, from what earlier ones found. Nothing: none, or as the adaptive policy
  // finds best where `swarm` is off.
  // NOLINTNEXTLINE(readability-redundant-member-init): as below.
  std::optional<bool> rule_swarm = {};
  SwarmDistribution swarm =
      SwarmDistribution::kOff;  // of each run by itself; rule_swarm goes before it in saying what is on
  // What is known of each rule, in their order. Empty: nothing, so all are alike.
  // NOLINTNEXTLINE(readability-redundant-member-init): without it, gcc asks for it wherever options are written.
  std::vector<Operation> operations = {};
  SwarmPolicy policy = SwarmPolicy::kAdaptive;
  bool pair_features = false;           // pairs of adjacent steps count as novelty: for sessions without coverage
  FeatureMask features = kAllFeatures;  // what else does
};

// The shape itself. ConfigError when it is out of range.
MachineShape checked(const MachineShape& shape);

// The options with everything in its place that the classic policy decides and one of the operations for each rule.
// ConfigError for one that is out of range.
SessionOptions checked(const SessionOptions& options, const MachineShape& shape);

}  // namespace ordeal
