// Decides what a program leaves open in one run: each decision by its label, so that leaving one out shifts no other.
//
// A decision has a label (what kind, who decides, where, and the number of decisions there before) and a bound. Its
// value is a function of the run key and the label, unless an override says otherwise. 0 always means nothing special:
// first in order, no delay, no fault. So a run is its key and its overrides, and a run with key 0 does only what the
// overrides say. Knows nothing of event loops or threads.
#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/schedule/interleaving.h"

namespace ordeal {

// Where a decision is made. Actor and site are hashes of names that are stable between processes.
struct DecisionLabel {
  std::uint32_t kind = 0;
  std::uint32_t occurrence = 0;  // how many decisions the same actor made before at the same site
  std::uint64_t actor = 0;
  std::uint64_t site = 0;

  bool operator==(const DecisionLabel&) const = default;
};

// What is decided: below `bound`.
struct Decision {
  DecisionLabel label;
  std::uint32_t bound = 0;
  std::uint32_t value = 0;

  bool operator==(const Decision&) const = default;
};

// For each kind of decision, how often its value is not 0, as a share of 2^32.
using ScheduleRates = std::vector<std::uint32_t>;

// Draws the rates of a run: of each kind whether it happens at all, and how often. So some runs have one disturbance
// and others a storm, and what hides the bug of another kind is left out of half of them. All are 0 for key 0.
ScheduleRates draw_schedule_rates(std::uint64_t key, std::size_t kinds);

// The seed of run `number`, from 0, of the search with this seed. The search with seed 0 counts up: 0, 1, 2. Two other
// searches have no run in common, however close their seeds are.
std::uint64_t schedule_run_seed(std::uint64_t seed, std::uint64_t number);

// The key of the run with this seed; 0 for seed 0 alone.
std::uint64_t schedule_key(std::uint64_t seed);

// The decisions of one run, which are asked for one after another while it goes on. A decision costs a few hashes and
// two look-ups; what is kept is bounded by how many decisions are not 0, and by the places where any is made.
// Thread-compatible.
class Schedule {
 public:
  Schedule(std::uint64_t key, ScheduleRates rates)
      : key_(key), rates_(std::move(rates)), made_of_kinds_(rates_.size(), 0), struck_of_kinds_(rates_.size(), 0) {}

  // Sets the value of a decision that the run has still to make. A value that is not below its bound then is 0.
  void set(const DecisionLabel& label, std::uint32_t value);

  // The value of the next decision of this kind, by this actor, at this site: below `bound`, which is at least 1. Of
  // the values above 0, 1 takes half: it is the mildest, or the one that is most wanted.
  std::uint32_t decide(std::uint32_t kind, std::uint64_t actor, std::uint64_t site, std::uint32_t bound);

  // The same for what a run meets seldom, such as the crash of a node, so that its rate alone would rarely let it
  // happen: of the values above 0 each is as likely as the others, but of many values half of the draws take a small
  // one, because a run may be over soon.
  std::uint32_t decide_evenly(std::uint32_t kind, std::uint64_t actor, std::uint64_t site, std::uint32_t bound);

  // Notes that something happened: two runs with equal hashes did the same in the same order.
  void event(std::uint64_t what) noexcept;

  // Draws nothing before that many decisions are made: until then only what is set is not 0.
  void draw_from(std::uint64_t made) noexcept { drawn_from_ = made; }

  // Notes that `actor` runs its step number `number`, which is an event too.
  void step(std::uint64_t actor, std::uint64_t number) {
    event(actor);
    interleaving_.step(actor, number);
  }

  // What was special about the order in which things happened.
  [[nodiscard]] std::span<const std::uint64_t> features() const noexcept { return interleaving_.features(); }

  // For each kept decision, how many were made before it.
  [[nodiscard]] std::span<const std::uint64_t> moments() const noexcept { return moments_; }

  // Of each kind, how many decisions with more than one value were made, and how many were not 0.
  [[nodiscard]] std::span<const std::uint64_t> made_of_kinds() const noexcept { return made_of_kinds_; }
  [[nodiscard]] std::span<const std::uint64_t> struck_of_kinds() const noexcept { return struck_of_kinds_; }

  // Keeps every decision from now on, and not only those whose value is not 0.
  void keep_all() noexcept { keeps_all_ = true; }

  // What was decided, in order: values other than 0, or all.
  [[nodiscard]] std::span<const Decision> decisions() const noexcept { return decisions_; }
  // How many decisions were made.
  [[nodiscard]] std::uint64_t made() const noexcept { return made_; }
  [[nodiscard]] std::uint64_t event_hash() const noexcept { return event_hash_; }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
  [[nodiscard]] std::uint64_t key() const noexcept { return key_; }

  // Where decisions of this kind are made by this actor at this site.
  static std::uint64_t place_hash(std::uint32_t kind, std::uint64_t actor, std::uint64_t site) noexcept;

 private:
  std::uint32_t settle(const DecisionLabel& label, std::uint64_t label_hash, std::uint32_t bound, std::uint32_t value);
  [[nodiscard]] std::uint32_t drawn(std::uint32_t kind, std::uint64_t label, std::uint32_t bound) const noexcept;
  [[nodiscard]] std::uint32_t drawn_evenly(std::uint32_t kind, std::uint64_t label, std::uint32_t bound) const noexcept;

  std::uint64_t key_;
  ScheduleRates rates_;
  tsl::robin_map<std::uint64_t, std::uint32_t> occurrences_;  // by the hash of kind, actor and site
  tsl::robin_map<std::uint64_t, std::uint32_t> overrides_;    // by the hash of the whole label
  std::vector<Decision> decisions_;
  std::vector<std::uint64_t> moments_;
  std::vector<std::uint64_t> made_of_kinds_;
  std::vector<std::uint64_t> struck_of_kinds_;
  Interleaving interleaving_;
  std::uint64_t drawn_from_ = 0;
  std::uint64_t made_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t event_hash_ = 0;
  bool keeps_all_ = false;
};

}  // namespace ordeal
