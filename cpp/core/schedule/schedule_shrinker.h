// Finds out which of the decisions of a failing run it needs, and how mild they may be. It asks, and never runs
// anything.
//
// The halving of what is left out at a time is that of delta debugging (Zeller and Hildebrandt, TSE 2002). It ends:
// each accepted candidate has fewer decisions or a lower value, and each round without one is the last.
#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/schedule/schedule.h"

namespace ordeal {

// Loop: next() until it returns nothing; after each candidate, tell(whether the run still fails in the same way).
// Drops decisions: all of them, then all of one kind, all of one actor, and half of what is left at a time. Labels tell
// which belong together, and leaving some out shifts no other - unless the program answers to what was decided: without
// a loss nothing is sent again, and what is sent later is one less. So each decision is then left out with all later
// ones of its place, of its family, or of its kind, moved down by one. At last it lowers values: small ones one by one,
// large ones by halving what is left, and begins again if that worked. Thread-compatible.
class ScheduleShrinker {
 public:
  // `families` names actors whose decisions follow each other, such as the links that begin at one host, by a number.
  explicit ScheduleShrinker(std::vector<Decision> needed, tsl::robin_map<std::uint64_t, std::uint64_t> families = {});

  // The decisions to run with, all others being 0. Without a verdict a candidate counts as refused.
  std::optional<std::vector<Decision>> next();
  void tell(bool still_fails);

  // The decisions of the simplest run that failed.
  [[nodiscard]] const std::vector<Decision>& needed() const noexcept { return needed_; }

 private:
  // Decisions that are left out together: those of one kind, or of one actor.
  struct Group {
    bool is_kind = false;
    std::uint64_t name = 0;

    bool operator==(const Group&) const = default;
    [[nodiscard]] bool has(const Decision& decision) const noexcept {
      return (is_kind ? decision.label.kind : decision.label.actor) == name;
    }
  };

  // Which later decisions move down with one that is left out.
  enum class Shift : std::uint8_t { kPlace, kFamily, kKind };
  static constexpr std::size_t kShifts = 3;

  enum class Phase : std::uint8_t { kGroups, kChunks, kShifts, kValues };

  bool next_group();
  bool next_dropped();
  bool next_shifted();
  // The decisions without the one at `dropped`, where later ones like it are one occurrence earlier.
  [[nodiscard]] std::vector<Decision> shifted(std::size_t dropped, Shift shift) const;
  [[nodiscard]] bool is_moved(const DecisionLabel& label, const DecisionLabel& gone, Shift shift) const;
  bool next_lowered();
  void drop_again();
  bool is_worth_another_round();

  std::vector<Decision> needed_;
  tsl::robin_map<std::uint64_t, std::uint64_t> families_;
  std::vector<Decision> candidate_;
  std::vector<Group> groups_;
  std::size_t group_ = 0;  // how many groups were asked about
  Phase phase_ = Phase::kGroups;
  std::size_t chunk_ = 0;    // how many decisions a candidate drops
  std::size_t at_ = 0;       // the decision that the next candidate drops or lowers
  std::size_t shifts_ = 0;   // how many candidates with shifted decisions were refused since the last one that was not
  std::uint32_t lower_ = 1;  // the value that the next candidate gives to it
  std::uint32_t refused_ = 0;  // the largest value that was refused for it
  bool changed_ = false;       // in this round
  bool asked_ = false;
};

}  // namespace ordeal
