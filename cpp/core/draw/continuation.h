// Random steps that follow recorded ones: how a run that began like another may go on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/rng.h"
#include "core/tape/step_source.h"

namespace ordeal {

// What to go on with: `steps` steps of a machine of this `shape`, which may switch `faults` and no others.
struct ContinuationOptions {
  MachineShape shape;
  std::vector<std::uint32_t> faults;
  std::uint32_t steps = 0;
  std::uint64_t seed = 0;
};

// Proposes steps that nothing steers: first the initialize rules, in any order, then rules and switches of faults. A
// rejected rule is replaced by another one.
class Continuation {
 public:
  // ConfigError for a fault that the machine does not have.
  explicit Continuation(ContinuationOptions options);

  // `faults_on` says of each fault whether it is on now.
  NextStep next(const std::vector<bool>& faults_on);
  // What was proposed last cannot run.
  void reject();

  [[nodiscard]] const MachineShape& shape() const noexcept { return options_.shape; }
  // For what the steps draw.
  [[nodiscard]] Rng values() const noexcept { return Rng::stream(options_.seed, "continuation values"); }

 private:
  std::optional<NextStep> next_initializer();
  NextStep next_rule();

  ContinuationOptions options_;
  Rng rng_;
  std::vector<std::uint32_t> initializers_;  // those that are left
  std::vector<std::uint32_t> rules_;         // those that may run in the present state come first
  std::size_t rules_left_ = 0;
  std::uint32_t steps_left_;
  bool is_rule_ = false;        // the last proposal
  bool rejected_rule_ = false;  // and the next one replaces it
};

}  // namespace ordeal
