#include "core/shrink/shrink_choices.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/base/rng.h"
#include "core/shrink/choice_edits.h"
#include "core/tape/choice_rank.h"

namespace ordeal {
namespace {

// A hash of an argument and the kinds of its choices.
std::uint64_t hash_of_kinds(const Tape& tape, std::size_t argument) {
  const auto owns = [&](const TapeStep& step) { return argument < step.arguments_end; };
  ORDEAL_DCHECK(argument < tape.arguments().size(), "argument " << argument << " of " << tape.arguments().size());
  const TapeStep& step = *std::ranges::find_if(tape.steps(), owns);
  std::uint64_t h = mix64(mix64(step.origin) ^ tape.arguments()[argument].name);
  for (const Choice& choice : tape.choices(tape.arguments()[argument])) {
    h = mix64(h ^ static_cast<std::uint64_t>(choice.kind));
  }
  return h;
}

// ---------------------------------------------------------------------------------------------------------------------
// Whole arguments

// The arguments that could be simpler.
std::vector<std::size_t> open_arguments(const FailingTape& current) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < current.tape.arguments().size(); ++i) {
    const TapeArgument& argument = current.tape.arguments()[i];
    bool simplest = true;
    for (std::size_t c = argument.choices_begin; c < argument.choices_end; ++c) {
      simplest = simplest && current.is_simplest(c);
    }
    if (!simplest && !is_reference(argument)) {
      open.push_back(i);
    }
  }
  return open;
}

// Arguments [begin, end) of `open` without their choices: a replay gives each draw its simplest value.
Tape without_arguments(const Tape& tape, const std::vector<std::size_t>& open, std::size_t begin, std::size_t end) {
  ORDEAL_DCHECK(begin <= end && end <= open.size(), "begin=" << begin << " end=" << end << " of " << open.size());
  std::vector<bool> keep(tape.choice_count(), true);
  for (std::size_t i = begin; i < end; ++i) {
    const TapeArgument& argument = tape.arguments()[open[i]];
    for (std::size_t c = argument.choices_begin; c < argument.choices_end; ++c) {
      keep[c] = false;
    }
  }
  return tape.subset_of_choices(keep);
}

// ---------------------------------------------------------------------------------------------------------------------
// Runs of choices

constexpr std::size_t kRunMax = 8;  // longer runs only in powers of two

// The longest, tried first, are half of the choices; from kRunMax on every length down to one.
std::vector<std::size_t> run_sizes(std::size_t choices) {
  std::vector<std::size_t> sizes;
  for (std::size_t size = std::bit_floor(choices / 2); size > kRunMax; size /= 2) {
    sizes.push_back(size);
  }
  for (std::size_t size = std::min(kRunMax, choices - std::min<std::size_t>(choices, 1)); size > 0; --size) {
    sizes.push_back(size);
  }
  return sizes;
}

// Whether what follows the run [begin, end) fits at its beginning. After the last choice nothing does: a replay would
// use simplest values there, which other passes try.
bool may_go(const Tape& tape, const TapeArgument& argument, std::size_t begin, std::size_t end) {
  ORDEAL_DCHECK(argument.choices_begin <= begin && begin < end, "begin=" << begin << " end=" << end);
  return end < argument.choices_end && tape.choices()[begin].kind == tape.choices()[end].kind;
}

// Whether the run [begin, end) is one of several that leave the same choices, and not the first of them: among equal
// choices it does not matter which are removed.
bool is_repeated(const Tape& tape, const TapeArgument& argument, std::size_t begin, std::size_t end) {
  return begin > argument.choices_begin && tape.choices()[begin - 1] == tape.choices()[end - 1];
}

// The start of the equal simplest choices at the end of the argument: a replay restores those when they are removed.
std::size_t simplest_tail(const FailingTape& current, const TapeArgument& argument) {
  std::size_t begin = argument.choices_end;
  while (begin > argument.choices_begin && current.is_simplest(begin - 1) &&
         current.choice(begin - 1) == current.choice(argument.choices_end - 1)) {
    --begin;
  }
  return begin;
}

// Whether at most one value in the run is not the simplest.
bool says_little(const FailingTape& current, std::size_t begin, std::size_t end) {
  std::size_t others = 0;
  for (std::size_t i = begin; i < end; ++i) {
    others += current.choice(i).kind != ChoiceKind::kBoolean && !current.is_simplest(i) ? 1U : 0U;
  }
  return others <= 1;
}

// ---------------------------------------------------------------------------------------------------------------------
// Order

constexpr std::array kSortable{ChoiceKind::kBoolean, ChoiceKind::kInteger, ChoiceKind::kFloat, ChoiceKind::kString,
                               ChoiceKind::kBytes};

// The choices of the kind in an argument, by index.
std::vector<std::size_t> choices_of_kind(const Tape& tape, const TapeArgument& argument, ChoiceKind kind) {
  std::vector<std::size_t> found;
  for (std::size_t i = argument.choices_begin; i < argument.choices_end; ++i) {
    if (tape.choices()[i].kind == kind) {
      found.push_back(i);
    }
  }
  return found;
}

// The places stay and the values move; values of other kinds between them are left alone.
Tape with_choices_sorted(const FailingTape& current, const std::vector<std::size_t>& at) {
  ORDEAL_DCHECK(std::ranges::is_sorted(at), "places that are not in order");
  std::vector<std::size_t> order = at;
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return current.rank(a) < current.rank(b); });
  Tape tape = current.tape;
  for (std::size_t i = 0; i < at.size(); ++i) {
    tape.replace_choice(at[i], current.choice(order[i]));
  }
  return tape;
}

// Those that may have the same values, which draws of another kind may lie between: the leaves of a tree, say.
std::vector<std::vector<std::size_t>> grouped_by_constraint(const FailingTape& current,
                                                            const std::vector<std::size_t>& at) {
  constexpr std::size_t kGroupsMax = 8;
  std::vector<std::vector<std::size_t>> groups;
  for (const std::size_t index : at) {
    const auto found = std::ranges::find_if(groups, [&](const std::vector<std::size_t>& group) {
      return current.constraints[group.front()] == current.constraints[index];
    });
    if (found != groups.end()) {
      found->push_back(index);
    } else if (groups.size() < kGroupsMax) {
      groups.push_back({index});
    }
  }
  return groups;
}

// Neighbours in `at` that are out of order, while the number of drawn choices stays the same.
SearchCoroutine<Tape> sort_neighbours(const FailingTape& current, std::vector<std::size_t> at) {
  const std::size_t count = current.tape.choice_count();
  Patience patience;
  bool goes_on = true;
  for (std::size_t i = 1; goes_on && i < at.size() && current.tape.choice_count() == count; ++i) {
    if (current.rank(at[i]) < current.rank(at[i - 1])) {
      const std::vector<std::size_t> two(at.begin() + static_cast<std::ptrdiff_t>(i - 1),
                                         at.begin() + static_cast<std::ptrdiff_t>(i + 1));
      const bool accepted = co_yield with_choices_sorted(current, two);
      goes_on = patience.goes_on(accepted);
    }
  }
}

// All at once; else neighbours of the kind, and then neighbours with the same constraint.
SearchCoroutine<Tape> sort_argument(const FailingTape& current, std::size_t argument, ChoiceKind kind) {
  const std::vector<std::size_t> at = choices_of_kind(current.tape, current.tape.arguments()[argument], kind);
  const std::size_t count = current.tape.choice_count();
  const bool all = co_yield with_choices_sorted(current, at);
  if (all) {
    co_return;
  }
  std::vector<std::vector<std::size_t>> groups = grouped_by_constraint(current, at);
  if (groups.size() > 1) {
    groups.insert(groups.begin(), at);
  }
  for (const std::vector<std::size_t>& group : groups) {
    if (current.tape.choice_count() != count) {
      co_return;
    }
    auto search = sort_neighbours(current, group);
    while (auto candidate = search.next()) {
      const bool accepted = co_yield std::move(*candidate);
      search.accept(accepted);
    }
  }
}

// Of two booleans next to each other, the false one first. Not all at once: many say whether a list goes on.
SearchCoroutine<Tape> sort_flags(const FailingTape& current, std::size_t argument) {
  const TapeArgument owner = current.tape.arguments()[argument];
  const std::size_t count = current.tape.choice_count();
  for (std::size_t i = owner.choices_begin + 1; i < owner.choices_end && current.tape.choice_count() == count; ++i) {
    if (current.choice(i - 1) == Choice::boolean(true) && current.choice(i) == Choice::boolean(false)) {
      Tape swapped = with_choice(current.tape, i - 1, Choice::boolean(false));
      swapped.replace_choice(i, Choice::boolean(true));
      const bool accepted = co_yield std::move(swapped);
      static_cast<void>(accepted);
    }
  }
}

// The argument of the same name in the next step of the same rule, if it has as many choices of the same kinds.
std::optional<std::size_t> counterpart(const Tape& tape, std::size_t step, std::size_t argument) {
  const TapeArgument& mine = tape.arguments()[argument];
  for (std::size_t other = step + 1; other < tape.size(); ++other) {
    if (tape.step(other).kind != tape.step(step).kind || tape.step(other).target != tape.step(step).target) {
      continue;
    }
    for (std::size_t a = tape.step(other).arguments_begin; a < tape.step(other).arguments_end; ++a) {
      const TapeArgument& theirs = tape.arguments()[a];
      if (theirs.name == mine.name && !is_reference(theirs) &&
          std::ranges::equal(tape.choices(mine), tape.choices(theirs), {}, &Choice::kind, &Choice::kind)) {
        return a;
      }
    }
    return std::nullopt;
  }
  return std::nullopt;
}

// As tapes are ordered: the first choice that differs decides.
bool is_out_of_order(const FailingTape& current, const TapeArgument& first, const TapeArgument& second) {
  for (std::size_t i = 0; i < first.choices_end - first.choices_begin; ++i) {
    const auto order = current.rank(first.choices_begin + i) <=> current.rank(second.choices_begin + i);
    if (order != 0) {
      return order > 0;
    }
  }
  return false;
}

// Both have as many choices of the same kinds.
Tape with_arguments_swapped(const Tape& tape, const TapeArgument& first, const TapeArgument& second) {
  Tape swapped = tape;
  for (std::size_t i = 0; i < first.choices_end - first.choices_begin; ++i) {
    swapped.replace_choice(first.choices_begin + i, tape.choices()[second.choices_begin + i]);
    swapped.replace_choice(second.choices_begin + i, tape.choices()[first.choices_begin + i]);
  }
  return swapped;
}

// Arguments of the same name in neighbouring steps of a rule, the simpler one first.
SearchCoroutine<Tape> sort_steps(const FailingTape& current) {
  const Tape& tape = current.tape;
  for (std::size_t step = 0; step < tape.size(); ++step) {
    for (std::size_t a = tape.step(step).arguments_begin; step < tape.size() && a < tape.step(step).arguments_end;
         ++a) {
      const TapeArgument first = tape.arguments()[a];
      const std::optional<std::size_t> other = is_reference(first) ? std::nullopt : counterpart(tape, step, a);
      if (!other) {
        continue;
      }
      const TapeArgument second = tape.arguments()[*other];
      if (is_out_of_order(current, first, second)) {
        const bool accepted = co_yield with_arguments_swapped(tape, first, second);
        static_cast<void>(accepted);
      }
    }
  }
}

// What a branch of another kind could draw first.
std::array<Choice, 4> first_draws() {
  return {Choice::integer(0), Choice::text(""), Choice::real(0), Choice::boolean(false)};
}

// Whether an integer may be the number of a branch. Of a draw through Hypothesis nothing but its bounds is known.
bool may_select(const Constraint& constraint) {
  constexpr std::int64_t kHighestMax = 15;
  return constraint.selects || (constraint.low == 0 && constraint.simplest == 0 && constraint.high <= kHighestMax);
}

// What a choice that decides about others could be instead, the simplest first: nothing where it decides about none, as
// far as is known.
std::vector<Choice> lower_decisions(const FailingTape& current, std::size_t at) {
  if (current.choice(at).kind == ChoiceKind::kBoolean) {
    return current.is_simplest(at) ? std::vector<Choice>{} : std::vector<Choice>{Choice::boolean(false)};
  }
  std::vector<Choice> lower;
  const Constraint& constraint = current.constraints[at];
  if (is_open_integer(current, at) && may_select(constraint)) {
    const bool is_below = current.choice(at).number < constraint.simplest;
    const std::uint64_t branches = distance_of(current.choice(at), constraint);
    for (std::uint64_t branch = 0; branch < std::min(branches, DeleteDecided::kBranchesMax); ++branch) {
      lower.push_back(integer_at(branch, is_below, constraint));
    }
  }
  return lower;
}

}  // namespace

// All arguments that could be simpler, then halves of them, down to single ones.
SearchCoroutine<Tape> SimplifyArguments::candidates(const FailingTape& current) {
  std::vector<std::size_t> open = open_arguments(current);
  for (std::size_t size = open.size(); size > 0; size /= 2) {
    for (std::size_t end = open.size(); end > 0;) {
      const std::size_t begin = end > size ? end - size : 0;
      const bool accepted = co_yield without_arguments(current.tape, open, begin, end);
      open = accepted ? open_arguments(current) : std::move(open);
      end = std::min(begin, open.size());
    }
  }
}

// From the last argument, so that an accepted candidate does not shift those still to come.
SearchCoroutine<Tape> DeleteChoices::candidates(const FailingTape& current) {
  for (std::size_t argument = current.tape.arguments().size(); argument-- > 0;) {
    if (argument >= current.tape.arguments().size() || is_reference(current.tape.arguments()[argument])) {
      continue;
    }
    auto inner = candidates_of_argument(current, argument);
    while (auto candidate = inner.next()) {
      const bool accepted = co_yield std::move(*candidate);
      inner.accept(accepted);
    }
  }
}

// Long runs from the end in steps of their length, short ones from every place. Skips runs whose removal a replay would
// undo, and those that leave the same choices as another.
SearchCoroutine<Tape> DeleteChoices::candidates_of_argument(const FailingTape& current, std::size_t argument) {
  const Tape& tape = current.tape;
  const std::size_t arguments = tape.arguments().size();
  const auto owner = [&] { return tape.arguments()[argument]; };
  const bool was_swept = swept_.contains(hash_of_kinds(tape, argument));
  const std::vector<std::size_t> sizes = run_sizes(tape.choices(owner()).size());
  for (const std::size_t size : sizes) {
    std::size_t tail = simplest_tail(current, owner());
    Patience patience;
    bool goes_on = true;
    for (std::size_t end = owner().choices_end; goes_on && end >= owner().choices_begin + size;) {
      const std::size_t begin = end - size;
      const bool is_known = begin >= tail || (size <= kRunMax && is_repeated(tape, owner(), begin, end));
      if (is_known || !may_go(tape, owner(), begin, end) || (was_swept && !says_little(current, begin, end))) {
        --end;
        continue;
      }
      const bool accepted = co_yield without_choices(tape, begin, end);
      if (tape.arguments().size() != arguments) {
        co_return;
      }
      goes_on = patience.goes_on(accepted);
      end = std::min<std::size_t>(accepted || size > kRunMax ? begin : end - 1, owner().choices_end);
      tail = accepted ? simplest_tail(current, owner()) : tail;
    }
  }
  swept_.insert(hash_of_kinds(tape, argument));
}

// From the first argument: each is searched once while its choices have the same kinds.
SearchCoroutine<Tape> DeleteCounted::candidates(const FailingTape& current) {
  for (std::size_t argument = 0; argument < current.tape.arguments().size(); ++argument) {
    if (is_reference(current.tape.arguments()[argument])) {
      continue;
    }
    auto inner = candidates_of_argument(current, argument);
    while (auto candidate = inner.next()) {
      const bool accepted = co_yield std::move(*candidate);
      inner.accept(accepted);
    }
  }
}

// Quadratic in the choices of the argument, so done only once for each sequence of kinds.
SearchCoroutine<Tape> DeleteCounted::candidates_of_argument(const FailingTape& current, std::size_t argument) {
  const Tape& tape = current.tape;
  const std::size_t arguments = tape.arguments().size();
  const auto owner = [&] { return tape.arguments()[argument]; };
  if (swept_.contains(hash_of_kinds(tape, argument))) {
    co_return;
  }
  Patience patience;
  bool goes_on = true;
  // A length precedes what it counts, and any list that marks its own end.
  for (std::size_t count = owner().choices_begin; goes_on && count < owner().choices_end; ++count) {
    if (current.choice(count).kind == ChoiceKind::kBoolean) {
      break;
    }
    for (std::size_t begin = count + 1; goes_on && begin < owner().choices_end && is_open_integer(current, count);) {
      if (!may_go(tape, owner(), begin, begin + 1)) {
        ++begin;
        continue;
      }
      const std::int64_t number = current.choice(count).number;
      const bool is_above = number > current.constraints[count].simplest;
      Tape shorter = without_choices(tape, begin, begin + 1);
      shorter.replace_choice(count, Choice::integer(is_above ? number - 1 : number + 1));
      const bool accepted = co_yield std::move(shorter);
      if (tape.arguments().size() != arguments) {
        co_return;
      }
      goes_on = patience.goes_on(accepted);
      begin += accepted ? 0 : 1;
    }
  }
  swept_.insert(hash_of_kinds(tape, argument));
}

// From the first argument: each is searched once while its choices are the same.
SearchCoroutine<Tape> DeleteDecided::candidates(const FailingTape& current) {
  for (std::size_t argument = 0; argument < current.tape.arguments().size(); ++argument) {
    const TapeArgument& owner = current.tape.arguments()[argument];
    if (is_reference(owner) || owner.choices_end - owner.choices_begin > kChoicesMax) {
      continue;
    }
    auto inner = candidates_of_argument(current, argument);
    while (auto candidate = inner.next()) {
      const bool accepted = co_yield std::move(*candidate);
      inner.accept(accepted);
    }
  }
}

// Of a branch, the choice behind it may stay, such as the one that a list begins with.
SearchCoroutine<Tape> DeleteDecided::candidates_of_argument(const FailingTape& current, std::size_t argument) {
  const Tape& tape = current.tape;
  const std::size_t arguments = tape.arguments().size();
  const auto owner = [&] { return tape.arguments()[argument]; };
  std::uint64_t key = hash_of_kinds(tape, argument);
  for (const Choice& choice : tape.choices(owner())) {
    key = mix64(key ^ hash_of(choice));
  }
  if (!swept_.insert(key).second) {
    co_return;
  }
  const std::array draws = first_draws();
  Patience patience;
  for (std::size_t at = owner().choices_begin; at + 1 < owner().choices_end; ++at) {
    const std::vector<Choice> lower = lower_decisions(current, at);
    const std::size_t kept_max = lower.empty() || lower.front().kind == ChoiceKind::kBoolean ? 0 : 1;
    bool accepted = false;
    for (std::size_t which = 0; !accepted && which < lower.size(); ++which) {
      for (std::size_t k = 0; !accepted && kept_max > 0 && k < draws.size(); ++k) {
        Tape other = with_choice(tape, at, lower[which]);
        other.replace_choice(at + 1, draws.at(k));
        accepted = co_yield std::move(other);
        if (tape.arguments().size() != arguments || !patience.goes_on(accepted)) {
          co_return;
        }
      }
      for (std::size_t kept = 0; !accepted && kept <= kept_max; ++kept) {
        for (std::size_t size = 1; !accepted && size <= kRunMax && at + kept + size < owner().choices_end; ++size) {
          const std::size_t begin = at + 1 + kept;
          accepted = co_yield without_choices(with_choice(tape, at, lower[which]), begin, begin + size);
          if (tape.arguments().size() != arguments || !patience.goes_on(accepted)) {
            co_return;
          }
        }
      }
    }
  }
}

// Within arguments, then between steps.
SearchCoroutine<Tape> SortValues::candidates(const FailingTape& current) {
  for (std::size_t argument = 0; argument < current.tape.arguments().size(); ++argument) {
    for (const ChoiceKind kind : kSortable) {
      if (argument >= current.tape.arguments().size() || is_reference(current.tape.arguments()[argument])) {
        break;
      }
      auto search =
          kind == ChoiceKind::kBoolean ? sort_flags(current, argument) : sort_argument(current, argument, kind);
      while (auto candidate = search.next()) {
        const bool accepted = co_yield std::move(*candidate);
        search.accept(accepted);
      }
    }
  }
  auto search = sort_steps(current);
  while (auto candidate = search.next()) {
    const bool accepted = co_yield std::move(*candidate);
    search.accept(accepted);
  }
}

}  // namespace ordeal
