// Small machines with one planted bug each, and the loop that drives a session over them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/coverage/coverage_map.h"
#include "core/draw/replay.h"
#include "core/search/session.h"
#include "core/tape/step_source.h"

namespace ordeal {

// A toy machine is a value: its state and what it does with a step. It reports edges to the map it is given.

// Twelve exact steps of six rules in a row; any other step starts again. Every step up shows a new edge.
class Staircase {
 public:
  static constexpr MachineShape kShape{.rules = 6, .initializers = 0, .faults = 0};
  static constexpr std::array<std::uint32_t, 12> kSteps{3, 1, 4, 1, 5, 0, 2, 0, 5, 3, 5, 2};

  [[nodiscard]] static bool is_available(std::uint32_t /*rule*/) noexcept { return true; }
  void run(std::uint32_t rule, ChoiceSource& /*source*/, CoverageMap& coverage) {
    level_ = rule == kSteps.at(level_) ? level_ + 1 : 0;
    coverage.mark(coverage.add_edge(level_));
  }
  void toggle(std::uint32_t /*fault*/, bool /*on*/) noexcept {}
  [[nodiscard]] bool is_broken() const noexcept { return level_ == kSteps.size(); }

 private:
  std::size_t level_ = 0;
};

// A shelf that breaks under twenty books. Two of five rules put books on it or take all off; nothing shows how full it
// is.
class Shelf {
 public:
  static constexpr MachineShape kShape{.rules = 3, .initializers = 0, .faults = 0};
  static constexpr std::uint32_t kAdd = 0;
  static constexpr std::uint32_t kClear = 1;
  static constexpr std::size_t kBooksMax = 20;

  [[nodiscard]] static bool is_available(std::uint32_t /*rule*/) noexcept { return true; }
  void run(std::uint32_t rule, ChoiceSource& /*source*/, CoverageMap& coverage) {
    coverage.mark(coverage.add_edge(rule));
    if (rule == kAdd) {
      ++books_;
    } else if (rule == kClear) {
      books_ = 0;
    }
  }
  void toggle(std::uint32_t /*fault*/, bool /*on*/) noexcept {}
  [[nodiscard]] bool is_broken() const noexcept { return books_ == kBooksMax; }

 private:
  std::size_t books_ = 0;
};

// Open, write, close, in that order and with two of four faults on: the second of them must come between. The value
// that is written must be above 900 of 1000.
class Logbook {
 public:
  static constexpr MachineShape kShape{.rules = 4, .initializers = 1, .faults = 4};
  static constexpr std::uint32_t kOpen = 0;
  static constexpr std::uint32_t kWrite = 1;
  static constexpr std::uint32_t kClose = 2;
  static constexpr std::size_t kSlowDisk = 1;
  static constexpr std::size_t kFullDisk = 2;

  [[nodiscard]] bool is_available(std::uint32_t rule) const noexcept { return rule == kOpen || stage_ != 0; }
  void run(std::uint32_t rule, ChoiceSource& source, CoverageMap& coverage) {
    if (rule == kOpen) {
      stage_ = 1;
    } else if (rule == kWrite) {
      source.begin_argument(1);
      const bool large = source.integer(0, 1000, 0) > 900;
      stage_ = large && faults_[kSlowDisk] ? 2 : 1;
    } else if (rule == kClose) {
      broken_ = stage_ == 2 && faults_[kFullDisk];
      stage_ = 0;
    }
    coverage.mark(coverage.add_edge((rule * 3) + stage_));
  }
  void toggle(std::uint32_t fault, bool on) { faults_.at(fault) = on; }
  [[nodiscard]] bool is_broken() const noexcept { return broken_; }

 private:
  std::array<bool, 4> faults_{};
  std::uint32_t stage_ = 0;
  bool broken_ = false;
};

// Two ways of nine exact steps each, and a wrong step leads back to the start of both. How far one has come shows, but
// on the second only to who has not been at the end of the first. Breaks at the end of the second, after the first.
class TwoWays {
 public:
  static constexpr MachineShape kShape{.rules = 5, .initializers = 0, .faults = 0};
  using Way = std::array<std::uint32_t, 9>;
  static constexpr Way kFirst{0, 3, 1, 4, 2, 0, 2, 1, 3};
  static constexpr Way kSecond{1, 0, 4, 4, 3, 2, 0, 3, 2};

  [[nodiscard]] static bool is_available(std::uint32_t /*rule*/) noexcept { return true; }
  void run(std::uint32_t rule, ChoiceSource& /*source*/, CoverageMap& coverage) {
    first_ = rule == kFirst.at(first_) ? first_ + 1 : 0;
    second_ = rule == kSecond.at(second_) ? second_ + 1 : 0;
    coverage.mark(coverage.add_edge(first_));
    if (!was_there_) {
      coverage.mark(coverage.add_edge(kFirst.size() + 1 + second_));
    }
    broken_ = was_there_ && second_ == kSecond.size();
    was_there_ = was_there_ || first_ == kFirst.size();
    first_ %= kFirst.size();
    second_ %= kSecond.size();
  }
  void toggle(std::uint32_t /*fault*/, bool /*on*/) noexcept {}
  [[nodiscard]] bool is_broken() const noexcept { return broken_; }

 private:
  std::size_t first_ = 0;
  std::size_t second_ = 0;
  bool was_there_ = false;
  bool broken_ = false;
};

// A mill that five exact steps turn once. How far a turn has come shows, but not how often it turned. Breaks at the
// sixth turn; between two turns anything may happen.
class Mill {
 public:
  static constexpr MachineShape kShape{.rules = 5, .initializers = 0, .faults = 0};
  static constexpr std::array<std::uint32_t, 5> kTurn{2, 0, 4, 1, 3};
  static constexpr std::size_t kTurnsMax = 6;

  [[nodiscard]] static bool is_available(std::uint32_t /*rule*/) noexcept { return true; }
  void run(std::uint32_t rule, ChoiceSource& /*source*/, CoverageMap& coverage) {
    at_ = rule == kTurn.at(at_) ? at_ + 1 : 0;
    coverage.mark(coverage.add_edge(at_));
    if (at_ == kTurn.size()) {
      at_ = 0;
      ++turns_;
    }
  }
  void toggle(std::uint32_t /*fault*/, bool /*on*/) noexcept {}
  [[nodiscard]] bool is_broken() const noexcept { return turns_ == kTurnsMax; }

 private:
  std::size_t at_ = 0;
  std::size_t turns_ = 0;
};

// Runs steps of a step source until it ends or the machine breaks.
template <typename Machine, typename StepSource, typename AfterStep>
void run_steps(Machine& machine, StepSource& step_source, CoverageMap& coverage, AfterStep after_step) {
  while (!machine.is_broken()) {
    const NextStep step = step_source.next();
    if (step.kind == NextKind::kEnd || step.kind == NextKind::kStuck) {
      return;
    }
    if (step.kind == NextKind::kRule) {
      if (!machine.is_available(step.target)) {
        step_source.reject();
        continue;
      }
      machine.run(step.target, step_source.source(), coverage);
    } else if (step.kind != NextKind::kInitialize) {
      machine.toggle(step.target, step.kind == NextKind::kFaultOn);
    }
    after_step();
  }
}

// One run of the session from its start, which is run again from a fresh machine; true when the machine broke.
template <typename Machine>
bool run_once(Session& session, CoverageMap& coverage) {
  Machine machine;
  session.begin_run();
  run_steps(machine, session, coverage, [&] {
    if (session.done().any() && !session.replaying_prefix()) {
      session.keep();
    }
  });
  session.end_run();
  return machine.is_broken();
}

// The number of the run that found the bug, nothing after `runs_max` of them.
template <typename Machine>
std::optional<std::uint64_t> runs_until_found(const SessionOptions& options, std::uint64_t runs_max) {
  auto coverage = std::make_shared<CoverageMap>(64);
  Session session(Machine::kShape, options, coverage);
  for (std::uint64_t run = 1; run <= runs_max; ++run) {
    if (run_once<Machine>(session, *coverage)) {
      return run;
    }
  }
  return std::nullopt;
}

// Whether the tape breaks a fresh machine; `realized` is what ran of it.
template <typename Machine>
bool breaks(const Tape& tape, Tape& realized) {
  Machine machine;
  CoverageMap coverage(64);
  Replay replay(tape);
  run_steps(machine, replay, coverage, [] {});
  realized = replay.realized();
  return machine.is_broken();
}

}  // namespace ordeal
