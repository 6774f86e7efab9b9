#include "core/shrink/shrink_values.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include <tsl/robin_map.h>

#include "core/base/check.h"
#include "core/base/rng.h"
#include "core/shrink/choice_edits.h"
#include "core/shrink/value_search.h"
#include "core/tape/choice_rank.h"

namespace ordeal {
namespace {

// By index, the choices that could be simpler, except booleans and references.
std::vector<std::size_t> open_values(const FailingTape& current) {
  std::vector<std::size_t> open;
  for (const TapeArgument& argument : current.tape.arguments()) {
    for (std::size_t i = argument.choices_begin; i < argument.choices_end && !is_reference(argument); ++i) {
      if (current.choice(i).kind != ChoiceKind::kBoolean && !current.is_simplest(i)) {
        open.push_back(i);
      }
    }
  }
  return open;
}

// Groups of equal choices that could be lowered, in the order of their first members.
std::vector<std::vector<std::size_t>> equal_choices(const FailingTape& current) {
  std::vector<std::vector<std::size_t>> groups;
  tsl::robin_map<std::uint64_t, std::size_t> group_of;
  for (const std::size_t i : open_values(current)) {
    const auto [found, is_new] = group_of.insert({hash_of(current.choice(i)), groups.size()});
    if (is_new) {
      groups.push_back({i});
    } else if (current.choice(groups[found->second].front()) == current.choice(i)) {  // else the hashes collide
      groups[found->second].push_back(i);
    }
  }
  std::erase_if(groups, [](const auto& group) { return group.size() < 2; });
  return groups;
}

// After an accepted candidate they may not be equal: what ran was repaired, or there are fewer choices.
bool are_equal(const FailingTape& current, const std::vector<std::size_t>& group) {
  ORDEAL_DCHECK(group.size() > 1, "a group of " << group.size());
  return std::ranges::all_of(group, [&](std::size_t i) {
    return i < current.tape.choice_count() && current.choice(i) == current.choice(group.front());
  });
}

// Modulo 2^64, without the undefined overflow of signed numbers.
std::int64_t moved(std::int64_t value, std::uint64_t by, bool up) noexcept {
  const auto start = static_cast<std::uint64_t>(value);
  return static_cast<std::int64_t>(up ? start + by : start - by);
}

// A value that leaves the constraint stops at its bound, or wraps around and stops at the far bound.
std::int64_t moved_within(std::int64_t value, std::uint64_t by, bool up, const Constraint& constraint,
                          bool wraps) noexcept {
  const std::uint64_t room = room_of(value, up, constraint);
  if (by <= room || !wraps) {
    return moved(value, std::min(by, room), up);
  }
  const std::int64_t other_end = up ? constraint.low : constraint.high;
  return moved(other_end, std::min(by - room - 1, room_of(other_end, up, constraint)), up);
}

bool is_small_integer(const Choice& choice) noexcept { return choice.kind == ChoiceKind::kInteger && !choice.is_big(); }

// Whether the place still exists. Equally many choices may be in fewer steps: an accepted candidate may remove steps
// that drew nothing.
bool exists(const Tape& tape, const Place& place) {
  return place.step < tape.size() && place.argument < tape.step(place.step).arguments_end;
}

constexpr std::array kOppositeFirst{true, false};

// Two integers of a tape: the first moves towards its simplest value and the second by as much up or down.
struct IntegerPair {
  std::size_t first;
  std::size_t second;
  bool opposite;  // keeps their sum, else their difference
  bool wraps = false;
};

// The direction in which the first must move to become simpler.
bool is_first_above(const FailingTape& current, const IntegerPair& pair) {
  return current.choice(pair.first).number > current.constraints[pair.first].simplest;
}

// To keep the sum, the second goes the other way; to keep the difference, the same way.
bool moves_second_up(const FailingTape& current, const IntegerPair& pair) {
  return is_first_above(current, pair) == pair.opposite;
}

// Whether the second cannot move by one.
bool is_at_bound(const FailingTape& current, const IntegerPair& pair) {
  const std::int64_t second = current.choice(pair.second).number;
  return room_of(second, moves_second_up(current, pair), current.constraints[pair.second]) == 0;
}

// `distance` is the first one's distance from its simplest value, after the move.
Tape with_pair_moved(const FailingTape& current, const IntegerPair& pair, std::uint64_t distance) {
  const Choice& first = current.choice(pair.first);
  const std::uint64_t by = distance_of(first, current.constraints[pair.first]) - distance;
  ORDEAL_DCHECK(by <= distance_of(first, current.constraints[pair.first]), "to a distance of " << distance);
  const std::int64_t lowered = moved(first.number, by, !is_first_above(current, pair));
  Tape tape = with_choice(current.tape, pair.first, Choice::integer(lowered));
  const std::int64_t second = moved_within(current.choice(pair.second).number, by, moves_second_up(current, pair),
                                           current.constraints[pair.second], pair.wraps);
  tape.replace_choice(pair.second, Choice::integer(second));
  return tape;
}

// The indices of the next integers after `index` except references.
std::vector<std::size_t> integers_after(const FailingTape& current, const std::vector<Place>& places, std::size_t index,
                                        std::size_t count) {
  std::vector<std::size_t> found;
  for (std::size_t i = index + 1; i < places.size() && found.size() < count; ++i) {
    if (is_small_integer(current.choice(i)) && !is_reference(current.tape.arguments()[places[i].argument])) {
      found.push_back(i);
    }
  }
  return found;
}

// Of all integers within int64 that are no references, the greatest distance from the simplest value.
std::uint64_t highest_distance(const FailingTape& current) {
  std::uint64_t highest = 0;
  for (const std::size_t i : open_values(current)) {
    if (is_small_integer(current.choice(i))) {
      highest = std::max(highest, distance_of(current.choice(i), current.constraints[i]));
    }
  }
  return highest;
}

// Pours the integers of an argument that are above their simplest values; whether there are enough, and they change.
bool pour(const FailingTape& current, const TapeArgument& argument, Tape& poured) {
  std::vector<std::size_t> open;
  std::uint64_t left = 0;
  for (std::size_t i = argument.choices_begin; i < argument.choices_end && !is_reference(argument); ++i) {
    if (is_open_integer(current, i) && current.choice(i).number > current.constraints[i].simplest) {
      open.push_back(i);
      const std::uint64_t distance = distance_of(current.choice(i), current.constraints[i]);
      left += std::min(distance, std::numeric_limits<std::uint64_t>::max() - left);
    }
  }
  for (const std::size_t i : open | std::views::reverse) {
    const Constraint& constraint = current.constraints[i];
    const std::uint64_t taken = std::min(left, room_of(constraint.simplest, true, constraint));
    poured.replace_choice(i, integer_at(taken, false, constraint));
    left -= taken;
  }
  return open.size() >= LowerMany::kValuesMin && left == 0 && poured != current.tape;
}

// Those that are further from their simplest value are at this distance.
Tape with_integers_capped(const FailingTape& current, std::uint64_t distance) {
  Tape tape = current.tape;
  for (const std::size_t i : open_values(current)) {
    const Choice& choice = current.choice(i);
    const Constraint& constraint = current.constraints[i];
    if (is_small_integer(choice) && distance_of(choice, constraint) > distance) {
      tape.replace_choice(i, integer_at(distance, choice.number < constraint.simplest, constraint));
    }
  }
  return tape;
}

// Whether an integer has an upper bound of its strategy.
bool is_bounded(const Constraint& constraint) {
  return constraint.high < std::numeric_limits<std::int64_t>::max() && constraint.low > Constraint::kAny;
}

// One less of the first and the most of the second, as of digits: 1:59 for 2:00.
Tape with_borrowed(const FailingTape& current, const IntegerPair& pair) {
  const Choice& first = current.choice(pair.first);
  Tape tape =
      with_choice(current.tape, pair.first, Choice::integer(moved(first.number, 1, !is_first_above(current, pair))));
  tape.replace_choice(pair.second, Choice::integer(current.constraints[pair.second].high));
  return tape;
}

// Continues while the pair exists: an accepted candidate that changes how much is drawn ends it.
SearchCoroutine<Tape> lower_pair(const FailingTape& current, IntegerPair pair) {
  ORDEAL_DCHECK(pair.first < pair.second, "first=" << pair.first << " second=" << pair.second);
  const std::size_t count = current.tape.choice_count();
  const std::uint64_t distance = distance_of(current.choice(pair.first), current.constraints[pair.first]);
  bool one = co_yield with_pair_moved(current, pair, distance - 1);
  if (!one && is_at_bound(current, pair)) {
    pair.wraps = true;
    one = co_yield with_pair_moved(current, pair, distance - 1);
  }
  if (!one) {
    const bool is_small = current.tape.choice_count() <= LowerPairs::kBorrowMax;
    if (is_small && pair.opposite && is_bounded(current.constraints[pair.second])) {
      co_yield with_borrowed(current, pair);
    }
    co_return;
  }
  auto search = smaller_distances(distance - 1, Effort::kLight);
  while (const auto less = search.next()) {
    const bool same = current.tape.choice_count() == count && is_open_integer(current, pair.first) &&
                      is_small_integer(current.choice(pair.second));
    if (!same || distance_of(current.choice(pair.first), current.constraints[pair.first]) <= *less) {
      co_return;
    }
    const bool accepted = co_yield with_pair_moved(current, pair, *less);
    search.accept(accepted);
  }
}

// A value of an argument of this name, in any step.
std::uint64_t hash_of_value(const Tape& tape, std::size_t index) {
  return mix64(hash_of(tape.choices()[index])) ^ argument_of(tape, index).name;
}

// From the beginning, as tapes are compared from there. What was accepted is no longer open, so that the next block
// begins at the same place.
SearchCoroutine<Tape> simplest_blocks(const FailingTape& current) {
  std::vector<std::size_t> open = open_values(current);
  Patience patience;
  bool goes_on = true;
  for (std::size_t size = open.size() / 2; size > 1 && goes_on; size = std::min(size, open.size()) / 2) {
    for (std::size_t begin = 0; begin < open.size() && goes_on;) {
      const std::size_t end = std::min(begin + size, open.size());
      ORDEAL_DCHECK(begin < end, "begin=" << begin << " end=" << end);
      Tape lowered = current.tape;
      for (std::size_t i = begin; i < end; ++i) {
        lowered.replace_choice(open[i], simplest_choice(current.choice(open[i]).kind, current.constraints[open[i]]));
      }
      const bool accepted = co_yield std::move(lowered);
      goes_on = patience.goes_on(accepted);
      open = accepted ? open_values(current) : std::move(open);
      begin = accepted ? begin : end;
    }
  }
}

}  // namespace

// Groups are formed once. An accepted candidate that makes the values of a group differ ends its search.
SearchCoroutine<Tape> LowerTogether::candidates(const FailingTape& current) {
  for (const std::vector<std::size_t>& group : equal_choices(current)) {
    if (!are_equal(current, group)) {
      continue;
    }
    Choice now = current.choice(group.front());
    const Constraint constraint = current.constraints[group.front()];
    auto search = simpler_choices(now, constraint, Effort::kLight);
    while (const auto choice = search.next()) {
      Tape candidate = current.tape;
      for (const std::size_t index : group) {
        candidate.replace_choice(index, *choice);
      }
      const bool accepted = co_yield std::move(candidate);
      if (accepted && !(are_equal(current, group) && goes_on_with(now, current.choice(group.front())))) {
        break;
      }
      now = current.choice(group.front());
      search.accept(accepted);
    }
  }
}

// A value is identified by its place and content, so it is searched thoroughly again only after it has changed. An
// accepted candidate may have changed the number of choices, and so the places of others.
SearchCoroutine<Tape> LowerValues::candidates(const FailingTape& current) {
  const Tape& tape = current.tape;
  std::vector<Place> places = places_of(tape);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (current.is_simplest(i) || is_reference(tape.arguments()[places[i].argument])) {
      continue;
    }
    const auto key = [&] { return mix64(hash_of_place(tape, places[i]) ^ hash_of(current.choice(i))); };
    const std::uint64_t value = hash_of_value(tape, i);
    if (in_vain_[value] >= kInVainMax) {
      continue;
    }
    Choice now = current.choice(i);
    const Constraint constraint = current.constraints[i];
    const bool is_known = searched_.contains(key()) || ++alike_[value] > kAlikeMax;
    auto search = simpler_choices(now, constraint, is_known ? Effort::kLight : Effort::kThorough);
    bool went_down = false;
    while (const auto choice = search.next()) {
      const bool accepted = co_yield with_choice(tape, i, *choice);
      went_down = went_down || accepted;
      if (accepted) {
        places = places_of(tape);
        if (i >= places.size() || !goes_on_with(now, current.choice(i))) {
          break;
        }
        now = current.choice(i);
      }
      search.accept(accepted);
    }
    in_vain_[value] = went_down ? 0 : in_vain_[value] + 1;
    // Bisection may end above values that fail as well: one that went down is searched once more, where there are few.
    if (i < places.size() && !(went_down && places.size() <= kAgainMax)) {
      searched_.insert(key());
    }
  }
}

// A pair of values that could not be moved is remembered by place and content: the pass is the most expensive one, and
// usually fails.
SearchCoroutine<Tape> LowerPairs::candidates(const FailingTape& current) {
  const Tape& tape = current.tape;
  Patience patience;
  bool goes_on = true;
  bool changed = false;  // since the places were noted
  std::vector<Place> places = places_of(tape);
  for (std::size_t first = 0; goes_on && first < tape.choice_count(); ++first) {
    if (!is_open_integer(current, first)) {
      continue;
    }
    if (std::exchange(changed, false)) {
      places = places_of(tape);
    }
    if (is_reference(tape.arguments()[places[first].argument])) {
      continue;
    }
    const std::vector<std::size_t> seconds = integers_after(current, places, first, kReach);
    for (const std::size_t second : seconds) {
      for (const bool opposite : kOppositeFirst) {
        const bool same = tape.choice_count() == places.size() && exists(tape, places[first]) &&
                          exists(tape, places[second]) && is_open_integer(current, first) &&
                          is_small_integer(current.choice(second));
        if (!same || (!opposite && current.is_simplest(second))) {
          continue;
        }
        const std::uint64_t values = mix64(hash_of(current.choice(first))) ^ hash_of(current.choice(second));
        const std::uint64_t where = mix64(hash_of_place(tape, places[first])) ^ hash_of_place(tape, places[second]);
        if (!stuck_.insert(mix64(values ^ mix64(where)) ^ (opposite ? 1U : 0U)).second) {
          continue;
        }
        auto search = lower_pair(current, {.first = first, .second = second, .opposite = opposite});
        while (auto candidate = search.next()) {
          const bool accepted = co_yield std::move(*candidate);
          search.accept(accepted);
          changed = changed || accepted;
          goes_on = patience.goes_on(accepted);
        }
      }
    }
  }
}

// Bisection alone, without a look at one less: with many integers, that the largest cannot be one less says nothing.
SearchCoroutine<Tape> LowerMany::candidates(const FailingTape& current) {
  if (open_values(current).size() < kValuesMin) {
    co_return;
  }
  co_await simplest_blocks(current);
  std::uint64_t low = 0;  // a cap that passes; at 0 everything is the simplest, for which DeleteSpans is there
  std::uint64_t high = highest_distance(current);
  while (high - low > 1 && high > low) {
    const std::uint64_t middle = low + ((high - low) / 2);
    ORDEAL_DCHECK(low < middle && middle < high, "low=" << low << " middle=" << middle << " high=" << high);
    const bool accepted = co_yield with_integers_capped(current, middle);
    (accepted ? high : low) = middle;
  }
  for (std::size_t number = 0; number < current.tape.arguments().size(); ++number) {
    Tape poured = current.tape;
    if (pour(current, current.tape.arguments()[number], poured)) {
      co_yield std::move(poured);
    }
  }
}

}  // namespace ordeal
