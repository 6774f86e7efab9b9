// What the steps of each rule did: how often they ran and failed, in which circumstances, and what they cost.
//
// One table answers how often a rule is proposed, whether its arguments are drawn again, and what a report shows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/rng.h"
#include "core/tape/tape.h"

namespace ordeal {

// The steps of one rule since its first failure in a known way, which is one of them.
struct RuleRiskCounts {
  std::uint64_t passed = 0;
  std::uint64_t failed = 0;

  friend bool operator==(const RuleRiskCounts&, const RuleRiskCounts&) = default;
};

// The same for one circumstance: the step before, an argument, or the size of an argument.
struct CircumstanceCounts {
  std::uint32_t place = 0;
  std::uint32_t passed = 0;
  std::uint32_t failed = 0;

  friend bool operator==(const CircumstanceCounts&, const CircumstanceCounts&) = default;
};

// All steps of one rule under one fault, or without any.
struct RuleUseCounts {
  std::uint64_t steps = 0;
  std::uint64_t failed = 0;

  void add(bool has_failed) noexcept {
    ++steps;
    failed += has_failed ? 1 : 0;
  }

  friend bool operator==(const RuleUseCounts&, const RuleUseCounts&) = default;
};

// Counts of steps are saved with a search. Times are not: what is slow depends on the machine, and a clock may decide
// something only `by_clock`, and where steps take more than a millisecond: the engine's part in faster ones is too
// large.
//
// A tape passed here ends with the step in question, which is one of a rule. Everything takes constant time, or time
// linear in the number of faults; queries draw from the generator only where something failed or is slow.
class RuleStats {
 public:
  // Circumstances share a table of fixed size: where two have one place, steps are avoided less often.
  static constexpr std::size_t kPlaces = 4096;
  // No rule and no circumstance is avoided more often than this: what it does next may differ.
  static constexpr double kChanceMax = 0.9;
  // Even the most expensive rule is proposed every eighth time.
  static constexpr double kKeptMin = 1.0 / 8;
  // A run whose steps take longer than this many times the mean was held up by something else.
  static constexpr double kSlownessMax = 64;
  // The share of the time of a search that failures which take long, such as hangs, may use together.
  static constexpr double kLostShareMax = 0.25;
  static constexpr double kSlowStepSeconds = 0.001;
  // The time of at least this many steps is measured, however fast they are.
  static constexpr double kStepsMany = 64;

  RuleStats(std::size_t rules, std::size_t faults, bool by_clock);

  // -- what happened --
  // With several faults on, the step counts for each of them: which one mattered is for ablation to find out.
  void passed(const Tape& tape, const std::vector<bool>& faults_on) noexcept {
    const std::uint32_t rule = tape.last_step().target;
    use(rule, faults_on, false);
    if (has_failed(rule)) [[unlikely]] {
      passed_again(tape);
    }
  }
  void failed(std::uint32_t rule, const std::vector<bool>& faults_on) noexcept { use(rule, faults_on, true); }
  // The step failed in a way that is known, and such steps become rarer.
  void failed_again(const Tape& tape) noexcept;
  // The step ended its process, which took `seconds`.
  void crashed(const Tape& tape, double seconds) noexcept;
  // The step took `seconds`.
  void took(std::uint32_t rule, double seconds) noexcept;
  // A run with this many new steps took `seconds`, 0 if unknown. Returns how long each took as a multiple of the mean
  // of all runs so far: 1 if that is unknown, or too little to matter.
  double run_took(double seconds, std::uint64_t steps) noexcept;
  // A known failure of the rule took `seconds` and showed nothing new. The search took `seconds` until now, those lost
  // included.
  void lost(std::uint32_t rule, double seconds) noexcept;
  void search_took(double seconds) noexcept { search_seconds_ = seconds; }

  // -- what to propose --
  // Whether to propose another rule after the last step of the tape, as most steps of this one failed.
  [[nodiscard]] bool avoids(const Tape& tape, std::uint32_t rule, Rng& rng) const noexcept {
    return has_failed(rule) && avoids_failed(tape, rule, rng);
  }
  // Whether to draw the arguments of the last step again, as most steps with such arguments failed.
  [[nodiscard]] bool avoids_values(const Tape& tape, Rng& rng) const noexcept {
    return has_failed(tape.last_step().target) && avoids_failed_values(tape, rng);
  }
  // Whether to propose another rule, as steps of the others take less time.
  [[nodiscard]] bool avoids_expensive(std::uint32_t rule, Rng& rng) const noexcept {
    return steps_.mean_is_slow() && avoids_slow(rule, rng);
  }
  // Whether rules whose failures took long must wait until the search has gone on for longer, and this one of them.
  [[nodiscard]] bool any_waits() const noexcept { return lost_seconds_ > kLostShareMax * search_seconds_; }
  [[nodiscard]] bool waits(std::uint32_t rule) const noexcept { return any_waits() && rows_[rule].took_long; }

  // -- whether steps are slow --
  // Whether the time of a step would be of use.
  [[nodiscard]] bool wants_times() const noexcept {
    return by_clock_ && (steps_.steps < kStepsMany || runs_are_slow());
  }
  // Whether most of the steps whose time is known are slow.
  [[nodiscard]] bool are_slow() const noexcept;
  // Whether steps are slow on average, by the time of whole runs.
  [[nodiscard]] bool runs_are_slow() const noexcept { return runs_.mean_is_slow(); }

  // -- for reports and for saving --
  // By rule: a column for steps without faults, then one for each fault.
  [[nodiscard]] std::size_t columns() const noexcept { return columns_; }
  [[nodiscard]] const std::vector<RuleUseCounts>& uses() const noexcept { return uses_; }
  [[nodiscard]] std::vector<RuleRiskCounts> risk() const;
  // Of each circumstance in which a step failed, by place.
  [[nodiscard]] std::vector<CircumstanceCounts> circumstances() const;
  // Continues from the counts of another process; no risk of rules for none. Places are in ascending order, below
  // kPlaces, and each failed.
  void restore(const std::vector<RuleRiskCounts>& risk, std::span<const CircumstanceCounts> circumstances);

 private:
  struct Times {
    double seconds = 0;
    double steps = 0;
    double slow = 0;  // of these

    [[nodiscard]] bool mean_is_slow() const noexcept { return seconds > kSlowStepSeconds * steps; }
    // A few that wait for an import do not count.
    [[nodiscard]] bool most_are_slow() const noexcept { return 2 * slow > steps; }
  };
  struct Row {
    RuleRiskCounts risk;
    Times times;
    bool took_long = false;
  };
  struct Steps {
    std::uint32_t passed = 0;
    std::uint32_t failed = 0;
  };

  // What follows is called for each step: the answer for a rule that never failed, the common one, is inline.
  [[nodiscard]] bool has_failed(std::uint32_t rule) const noexcept { return rows_[rule].risk.failed > 0; }
  void passed_again(const Tape& tape) noexcept;
  [[nodiscard]] bool avoids_failed(const Tape& tape, std::uint32_t rule, Rng& rng) const noexcept;
  [[nodiscard]] bool avoids_failed_values(const Tape& tape, Rng& rng) const noexcept;
  [[nodiscard]] bool avoids_slow(std::uint32_t rule, Rng& rng) const noexcept;
  void use(std::uint32_t rule, const std::vector<bool>& faults_on, bool failed) noexcept {
    bool is_any_on = false;
    for (std::size_t fault = 0; fault + 1 < columns_; ++fault) {
      if (faults_on[fault]) {
        is_any_on = true;
        uses_[(rule * columns_) + fault + 1].add(failed);
      }
    }
    if (!is_any_on) {
      uses_[rule * columns_].add(failed);
    }
  }
  [[nodiscard]] static double chance(const Steps& steps) noexcept;

  bool by_clock_;
  std::size_t columns_;
  std::vector<Row> rows_;
  std::vector<RuleUseCounts> uses_;
  std::array<Steps, kPlaces> circumstances_{};
  Times steps_;  // of all rules
  Times runs_;
  double lost_seconds_ = 0;
  double search_seconds_ = 0;
};

}  // namespace ordeal
