#include "core/search/session_options.h"

#include <sstream>
#include <string>

#include "core/base/error.h"

namespace ordeal {
namespace {

constexpr double kCheckpointProb = 0.4;  // under the classic policy

// Names the option as users know it.
void check_probability(const char* name, double value) {
  if (!(value >= 0.0 && value <= 1.0)) {  // a NaN is neither
    std::ostringstream text;
    text << name << " is " << value << "; it must be between 0 and 1";
    throw ConfigError(text.str());
  }
}

// Both ends are allowed.
void check_between(const char* what, std::uint32_t value, std::uint32_t max) {
  if (value < 1 || value > max) {
    throw ConfigError(std::string(what) + " is " + std::to_string(value) + "; it must be between 1 and " +
                      std::to_string(max));
  }
}

// Masks and weights are kept by number for all rules and faults, for each run.
void check_count(const char* what, std::uint32_t count) {
  if (count > MachineShape::kTargetsMax) {
    throw ConfigError("the machine has " + std::to_string(count) + " " + what + "; at most " +
                      std::to_string(MachineShape::kTargetsMax) + " are possible");
  }
}

// Either all rules are described, or none.
void check_operations(const std::vector<Operation>& operations, std::uint32_t rules) {
  if (!operations.empty() && operations.size() != rules) {
    throw ConfigError("the machine has " + std::to_string(rules) + " rules, but " + std::to_string(operations.size()) +
                      " are weighted");
  }
  for (const Operation& operation : operations) {
    check_between("a cap", operation.cap, Operation::kWeightMax);
    check_between("a weight", operation.base, Operation::kBaseMax);
  }
}

}  // namespace

// A machine without rules could do nothing: each run would end before its first step.
MachineShape checked(const MachineShape& shape) {
  check_count("rules", shape.rules);
  check_count("initialize rules", shape.initializers);
  check_count("faults", shape.faults);
  if (shape.rules == 0) {
    throw ConfigError("the machine has no rules; it must have at least one");
  }
  return shape;
}

// The classic policy has fixed shares; the adaptive one leaves open what no option fixes, and the planner decides.
SessionOptions checked(const SessionOptions& options, const MachineShape& shape) {
  check_probability("checkpoint_prob", options.checkpoint_prob.value_or(0));
  check_probability("fault_toggle_prob", options.fault_toggle_prob);
  check_probability("value_reuse_prob", options.value_reuse_prob);
  check_probability("seed_mutation_prob", options.seed_mutation_prob.value_or(0));
  if (options.steps_per_run == 0) {
    throw ConfigError("steps_per_run is 0; it must be at least 1");
  }
  check_operations(options.operations, shape.rules);
  SessionOptions result = options;
  result.operations.resize(shape.rules);
  if (options.policy == SwarmPolicy::kClassic) {
    result.checkpoint_prob = options.checkpoint_prob.value_or(kCheckpointProb);
    result.seed_mutation_prob = options.seed_mutation_prob.value_or(0.0);
    result.rule_swarm = options.rule_swarm.value_or(false);
  }
  return result;
}

}  // namespace ordeal
