#include "core/shrink/shrink_values.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/base/rng.h"
#include "core/shrink/choice_edits.h"
#include "core/shrink/value_search.h"
#include "core/tape/choice_rank.h"

namespace ordeal {
namespace {

// Groups of equal choices that could be lowered, in the order of their first members.
std::vector<std::vector<std::size_t>> equal_choices(const FailingTape& current) {
  std::vector<std::vector<std::size_t>> groups;
  const std::vector<Place> places = places_of(current.tape);
  ORDEAL_DCHECK(places.size() == current.tape.choice_count(), "places=" << places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Choice& choice = current.choice(i);
    const bool is_open = choice.kind != ChoiceKind::kBoolean && !current.is_simplest(i);
    if (!is_open || is_reference(current.tape.arguments()[places[i].argument])) {
      continue;
    }
    const auto equal = [&](const auto& group) { return current.choice(group.front()) == choice; };
    const auto group = std::ranges::find_if(groups, equal);
    if (group == groups.end()) {
      groups.push_back({i});
    } else {
      group->push_back(i);
    }
  }
  std::erase_if(groups, [](const auto& group) { return group.size() < 2; });
  return groups;
}

// After an accepted candidate they may not be equal: what ran was repaired, or there are fewer choices.
bool are_equal(const FailingTape& current, const std::vector<std::size_t>& group) {
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

// By index, the booleans of an argument that could be false.
std::vector<std::size_t> open_flags(const FailingTape& current, std::size_t argument) {
  const TapeArgument& owner = current.tape.arguments()[argument];
  std::vector<std::size_t> open;
  for (std::size_t i = owner.choices_begin; i < owner.choices_end; ++i) {
    if (current.choice(i).kind == ChoiceKind::kBoolean && !current.is_simplest(i)) {
      open.push_back(i);
    }
  }
  return open;
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

}  // namespace

// Groups are formed once. An accepted candidate that makes the values of a group differ ends its search.
SearchCoroutine<Tape> LowerTogether::candidates(const FailingTape& current) {
  const std::vector<std::vector<std::size_t>> groups = equal_choices(current);
  for (const std::vector<std::size_t>& group : groups) {
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
    Choice now = current.choice(i);
    const Constraint constraint = current.constraints[i];
    auto search = simpler_choices(now, constraint, searched_.contains(key()) ? Effort::kLight : Effort::kThorough);
    while (const auto choice = search.next()) {
      const bool accepted = co_yield with_choice(tape, i, *choice);
      if (accepted) {
        places = places_of(tape);
        if (i >= places.size() || !goes_on_with(now, current.choice(i))) {
          break;
        }
        now = current.choice(i);
      }
      search.accept(accepted);
    }
    if (i < places.size()) {
      searched_.insert(key());
    }
  }
}

// From the last argument to the first, as what is drawn later depends on what was drawn earlier.
SearchCoroutine<Tape> LowerFlags::candidates(const FailingTape& current) {
  for (std::size_t argument = current.tape.arguments().size(); argument-- > 0;) {
    if (argument >= current.tape.arguments().size() || open_flags(current, argument).size() < kFlagsMin) {
      continue;
    }
    auto inner = candidates_of_argument(current, argument);
    while (auto candidate = inner.next()) {
      const bool accepted = co_yield std::move(*candidate);
      inner.accept(accepted);
    }
  }
}

// All, then halves, then quarters: at worst as many candidates as flags, few if most can be lowered.
SearchCoroutine<Tape> LowerFlags::candidates_of_argument(const FailingTape& current, std::size_t argument) {
  const std::size_t arguments = current.tape.arguments().size();
  std::vector<std::size_t> open = open_flags(current, argument);
  for (std::size_t size = open.size(); size > 0; size /= 2) {
    for (std::size_t end = open.size(); end > 0;) {
      const std::size_t begin = end > size ? end - size : 0;
      Tape lowered = current.tape;
      for (std::size_t i = begin; i < end; ++i) {
        lowered.replace_choice(open[i], Choice::boolean(false));
      }
      const bool accepted = co_yield std::move(lowered);
      if (current.tape.arguments().size() != arguments) {
        co_return;
      }
      open = accepted ? open_flags(current, argument) : std::move(open);
      end = std::min(begin, open.size());
    }
  }
}

// Up to kBranchesMax candidates for each small integer. The branch it selects is unknown, so all simpler ones are tried
// from the simplest.
SearchCoroutine<Tape> LowerBranches::candidates(const FailingTape& current) {
  const Tape& tape = current.tape;
  for (std::size_t i = 0; i < tape.choice_count(); ++i) {
    if (!is_open_integer(current, i)) {
      continue;
    }
    const TapeArgument argument = tape.arguments()[places_of(tape)[i].argument];
    if (i + 1 == argument.choices_end || is_reference(argument)) {
      continue;
    }
    const Constraint constraint = current.constraints[i];
    const std::uint64_t branches = distance_of(current.choice(i), constraint);
    const bool is_below = current.choice(i).number < constraint.simplest;
    for (std::uint64_t branch = 0; branch < branches && branches <= kBranchesMax; ++branch) {
      const Tape lowered = with_choice(tape, i, integer_at(branch, is_below, constraint));
      const bool accepted = co_yield without_choices(lowered, i + 1, argument.choices_end);
      if (accepted) {
        break;
      }
    }
  }
}

// A pair of values that could not be moved is remembered by place and content: the pass is the most expensive one, and
// usually fails.
SearchCoroutine<Tape> LowerPairs::candidates(const FailingTape& current) {
  const Tape& tape = current.tape;
  for (std::size_t first = 0; first < tape.choice_count(); ++first) {
    if (!is_open_integer(current, first)) {
      continue;
    }
    const std::vector<Place> places = places_of(tape);
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
        }
      }
    }
  }
}

}  // namespace ordeal
