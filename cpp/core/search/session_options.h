// The options of a session, and the checks of them.
//
// Value types. The bindings know the names of options and values; the types of user input have been checked before, and
// ranges are checked here.
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
  // In runs that branch, the share of rule steps whose arguments mutate from the rule's last call before the
  // checkpoint. Nothing: 0, or what the adaptive policy finds best.
  // NOLINTNEXTLINE(readability-redundant-member-init): as below.
  std::optional<double> seed_mutation_prob = {};
  // The share of draws from large ranges, and of texts and bytes, that take a value drawn earlier in the run, compared
  // by the program, found in its source or known to have led to something new.
  double value_reuse_prob = 0.1;
  std::uint32_t steps_per_run = 50;  // a run draws its length from 1 to this, including initialize rules
  // Whether swarm configurations over rules and faults are drawn from what earlier ones found. Nothing: no, or what the
  // adaptive policy finds best if `swarm` is off.
  // NOLINTNEXTLINE(readability-redundant-member-init): as below.
  std::optional<bool> rule_swarm = {};
  SwarmDistribution swarm = SwarmDistribution::kOff;  // for each run separately; rule_swarm takes precedence
  // What is known about each rule, in their order. Empty: nothing, so all are equal.
  // NOLINTNEXTLINE(readability-redundant-member-init): without it, gcc asks for it wherever options are written.
  std::vector<Operation> operations = {};
  SwarmPolicy policy = SwarmPolicy::kAdaptive;
  bool pair_features = false;           // pairs of adjacent steps count as novelty: for sessions without coverage
  FeatureMask features = kAllFeatures;  // other features that do
  // Whether a clock may decide anything: not where the number of runs ends a search.
  bool by_clock = false;
};

// Returns the shape. ConfigError when it is out of range.
MachineShape checked(const MachineShape& shape);

// Returns the options completed with what the classic policy decides and with one operation for each rule. ConfigError
// for an option out of range.
SessionOptions checked(const SessionOptions& options, const MachineShape& shape);

}  // namespace ordeal
