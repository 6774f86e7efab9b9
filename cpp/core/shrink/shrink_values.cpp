#include "core/shrink/shrink_values.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/base/rng.h"
#include "core/shrink/choice_edits.h"
#include "core/shrink/value_search.h"
#include "core/tape/choice_rank.h"

namespace ordeal {
namespace {

// Choices that are equal and could be lowered, in the order of the first of each.
std::vector<std::vector<std::size_t>> equal_choices(const Failing& current) {
  std::vector<std::vector<std::size_t>> groups;
  const std::vector<Place> places = places_of(current.tape);
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

bool are_equal(const Failing& current, const std::vector<std::size_t>& group) {
  return std::ranges::all_of(group, [&](std::size_t i) {
    return i < current.tape.choice_count() && current.choice(i) == current.choice(group.front());
  });
}

std::int64_t moved(std::int64_t value, std::uint64_t by, bool up) noexcept {
  const auto start = static_cast<std::uint64_t>(value);
  return static_cast<std::int64_t>(up ? start + by : start - by);
}

// What leaves the domain stops at its bound, or comes in at the other end, where it stops at the far bound.
std::int64_t moved_within(std::int64_t value, std::uint64_t by, bool up, const Domain& domain, bool wraps) noexcept {
  const std::uint64_t room = room_of(value, up, domain);
  if (by <= room || !wraps) {
    return moved(value, std::min(by, room), up);
  }
  const std::int64_t other_end = up ? domain.low : domain.high;
  return moved(other_end, std::min(by - room - 1, room_of(other_end, up, domain)), up);
}

// By index, the booleans of an argument that could be false.
std::vector<std::size_t> open_flags(const Failing& current, std::size_t argument) {
  const TapeArgument& owner = current.tape.arguments()[argument];
  std::vector<std::size_t> open;
  for (std::size_t i = owner.choices_begin; i < owner.choices_end; ++i) {
    if (current.choice(i).kind == ChoiceKind::kBoolean && !current.is_simplest(i)) {
      open.push_back(i);
    }
  }
  return open;
}

constexpr std::array kOppositeFirst{true, false};

// Two integers of a tape of which the first goes towards its simplest value and the second by as much up or down.
struct IntegerPair {
  std::size_t first;
  std::size_t second;
  bool opposite;  // keeps their sum, else their difference
  bool wraps = false;
};

bool is_first_above(const Failing& current, const IntegerPair& pair) {
  return current.choice(pair.first).number > current.domains[pair.first].simplest;
}

bool moves_second_up(const Failing& current, const IntegerPair& pair) {
  return is_first_above(current, pair) == pair.opposite;
}

// Whether the second cannot move by one.
bool is_at_bound(const Failing& current, const IntegerPair& pair) {
  const std::int64_t second = current.choice(pair.second).number;
  return room_of(second, moves_second_up(current, pair), current.domains[pair.second]) == 0;
}

Tape with_pair_moved(const Failing& current, const IntegerPair& pair, std::uint64_t distance) {
  const Choice& first = current.choice(pair.first);
  const std::uint64_t by = distance_of(first, current.domains[pair.first]) - distance;
  const std::int64_t lowered = moved(first.number, by, !is_first_above(current, pair));
  Tape tape = with_choice(current.tape, pair.first, Choice::integer(lowered));
  const std::int64_t second = moved_within(current.choice(pair.second).number, by, moves_second_up(current, pair),
                                           current.domains[pair.second], pair.wraps);
  tape.replace_choice(pair.second, Choice::integer(second));
  return tape;
}

// The indices of the next integers after `index` that are no references.
std::vector<std::size_t> integers_after(const Failing& current, const std::vector<Place>& places, std::size_t index,
                                        std::size_t count) {
  std::vector<std::size_t> found;
  for (std::size_t i = index + 1; i < places.size() && found.size() < count; ++i) {
    const Choice& choice = current.choice(i);
    if (choice.kind == ChoiceKind::kInteger && !choice.is_big() &&
        !is_reference(current.tape.arguments()[places[i].argument])) {
      found.push_back(i);
    }
  }
  return found;
}

// Runs while the pair is what it was: a yes that changes how much is drawn ends it.
Inquiry<Tape> lower_pair(const Failing& current, IntegerPair pair) {
  const std::size_t count = current.tape.choice_count();
  const std::uint64_t distance = distance_of(current.choice(pair.first), current.domains[pair.first]);
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
                      current.choice(pair.second).kind == ChoiceKind::kInteger;
    if (!same || distance_of(current.choice(pair.first), current.domains[pair.first]) <= *less) {
      co_return;
    }
    const bool yes = co_yield with_pair_moved(current, pair, *less);
    search.answer(yes);
  }
}

}  // namespace

Inquiry<Tape> LowerTogether::sweep(const Failing& current) {
  const std::vector<std::vector<std::size_t>> groups = equal_choices(current);
  for (const std::vector<std::size_t>& group : groups) {
    if (!are_equal(current, group)) {
      continue;
    }
    Choice now = current.choice(group.front());
    const Domain domain = current.domains[group.front()];
    auto search = simpler_choices(now, domain, Effort::kLight);
    while (const auto choice = search.next()) {
      Tape candidate = current.tape;
      for (const std::size_t index : group) {
        candidate.replace_choice(index, *choice);
      }
      const bool yes = co_yield std::move(candidate);
      if (yes && !are_equal(current, group)) {
        break;
      }
      now = current.choice(group.front());
      search.answer(yes);
    }
  }
}

Inquiry<Tape> LowerValues::sweep(const Failing& current) {
  const Tape& tape = current.tape;
  std::vector<Place> places = places_of(tape);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (current.is_simplest(i) || is_reference(tape.arguments()[places[i].argument])) {
      continue;
    }
    const auto key = [&] { return mix64(hash_of_place(tape, places[i]) ^ hash_of(current.choice(i))); };
    Choice now = current.choice(i);
    const Domain domain = current.domains[i];
    auto search = simpler_choices(now, domain, searched_.contains(key()) ? Effort::kLight : Effort::kThorough);
    while (const auto choice = search.next()) {
      const bool yes = co_yield with_choice(tape, i, *choice);
      if (yes) {
        places = places_of(tape);
        if (i >= places.size() || current.choice(i).kind != now.kind) {
          break;
        }
        now = current.choice(i);
      }
      search.answer(yes);
    }
    if (i < places.size()) {
      searched_.insert(key());
    }
  }
}

Inquiry<Tape> LowerFlags::sweep(const Failing& current) {
  for (std::size_t argument = current.tape.arguments().size(); argument-- > 0;) {
    if (argument >= current.tape.arguments().size() || open_flags(current, argument).size() < kFlagsMin) {
      continue;
    }
    auto inner = sweep_argument(current, argument);
    while (auto candidate = inner.next()) {
      const bool yes = co_yield std::move(*candidate);
      inner.answer(yes);
    }
  }
}

Inquiry<Tape> LowerFlags::sweep_argument(const Failing& current, std::size_t argument) {
  const std::size_t arguments = current.tape.arguments().size();
  std::vector<std::size_t> open = open_flags(current, argument);
  for (std::size_t size = open.size(); size > 0; size /= 2) {
    for (std::size_t end = open.size(); end > 0;) {
      const std::size_t begin = end > size ? end - size : 0;
      Tape lowered = current.tape;
      for (std::size_t i = begin; i < end; ++i) {
        lowered.replace_choice(open[i], Choice::boolean(false));
      }
      const bool yes = co_yield std::move(lowered);
      if (current.tape.arguments().size() != arguments) {
        co_return;
      }
      open = yes ? open_flags(current, argument) : std::move(open);
      end = std::min(begin, open.size());
    }
  }
}

Inquiry<Tape> LowerBranches::sweep(const Failing& current) {
  const Tape& tape = current.tape;
  for (std::size_t i = 0; i < tape.choice_count(); ++i) {
    if (!is_open_integer(current, i)) {
      continue;
    }
    const TapeArgument argument = tape.arguments()[places_of(tape)[i].argument];
    if (i + 1 == argument.choices_end || is_reference(argument)) {
      continue;
    }
    const Domain domain = current.domains[i];
    const std::uint64_t branches = distance_of(current.choice(i), domain);
    const bool is_below = current.choice(i).number < domain.simplest;
    for (std::uint64_t branch = 0; branch < branches && branches <= kBranchesMax; ++branch) {
      const Tape lowered = with_choice(tape, i, integer_at(branch, is_below, domain));
      const bool yes = co_yield without_choices(lowered, i + 1, argument.choices_end);
      if (yes) {
        break;
      }
    }
  }
}

Inquiry<Tape> LowerPairs::sweep(const Failing& current) {
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
        const bool same = tape.choice_count() == places.size() && is_open_integer(current, first) &&
                          current.choice(second).kind == ChoiceKind::kInteger;
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
          const bool yes = co_yield std::move(*candidate);
          search.answer(yes);
        }
      }
    }
  }
}

}  // namespace ordeal
