#include "core/shrink/shrink_trades.h"

#include <algorithm>
#include <array>
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

constexpr std::array<std::size_t, 4> kLongerBy{8, 4, 2, 1};
// An integer without a bound that is raised goes this far.
constexpr std::uint64_t kFar = 1U << 16U;

std::uint64_t hash_of_draws(const Tape& tape, std::size_t argument) {
  const TapeArgument& owner = tape.arguments()[argument];
  std::uint64_t h = mix64(owner.name);
  for (const Choice& choice : tape.choices(owner)) {
    h = mix64(h ^ hash_of(choice));
  }
  return h;
}

// What a choice may become: the simplest, half as far from it, and one closer.
std::vector<Choice> lowered_of(const FailingTape& current, std::size_t index) {
  const Choice& now = current.choice(index);
  const Constraint& constraint = current.constraints[index];
  if (now.kind == ChoiceKind::kBoolean && now.number != 0 && constraint.low <= 0) {
    return {Choice::boolean(false)};
  }
  std::vector<Choice> lower;
  if (is_open_integer(current, index)) {
    const std::uint64_t distance = distance_of(now, constraint);
    for (const std::uint64_t less : {std::uint64_t{0}, distance / 2, distance - 1}) {
      Choice choice = integer_at(less, now.number < constraint.simplest, constraint);
      if (std::ranges::find(lower, choice) == lower.end()) {
        lower.push_back(std::move(choice));
      }
    }
  }
  return lower;
}

// The next integer that is further from the simplest, if there may be one.
std::optional<Choice> next_above(const FailingTape& current, std::size_t index) {
  const Choice& now = current.choice(index);
  const Constraint& constraint = current.constraints[index];
  if (now.kind != ChoiceKind::kInteger || now.is_big() || constraint.low == Constraint::kAny) {
    return std::nullopt;
  }
  const bool down = now.number < constraint.simplest;
  if (room_of(now.number, !down, constraint) == 0) {
    return std::nullopt;
  }
  return Choice::integer(down ? now.number - 1 : now.number + 1);
}

// As far from its simplest value as an integer may be.
Choice farthest(const Constraint& constraint) {
  const std::uint64_t up = room_of(constraint.simplest, true, constraint);
  const std::uint64_t down = room_of(constraint.simplest, false, constraint);
  return integer_at(std::min(std::max(up, down), kFar), down > up, constraint);
}

// A text with so many of the simplest character behind it, as far as its size may grow.
Choice longer(const Choice& text, const Constraint& constraint, std::size_t by) {
  std::u32string row = row_of(text, constraint);
  const auto most = static_cast<std::uint64_t>(std::max<std::int64_t>(constraint.high, 0));
  const std::uint64_t room = most - std::min<std::uint64_t>(row.size(), most);
  row.append(std::min<std::uint64_t>(by, room), 0);
  return text_of(row, text.kind, constraint);
}

// What a choice may become if it makes up for another, the most first. Of floats it is not known how far they go.
std::vector<Choice> raised_of(const FailingTape& ran, std::size_t index) {
  const Choice& now = ran.choice(index);
  const Constraint& constraint = ran.constraints[index];
  std::vector<Choice> higher;
  if (now.kind == ChoiceKind::kBoolean) {
    higher.push_back(Choice::boolean(true));
  } else if (now.kind == ChoiceKind::kInteger && !now.is_big() && constraint.low != Constraint::kAny) {
    higher.push_back(farthest(constraint));
  } else if (now.kind == ChoiceKind::kString || now.kind == ChoiceKind::kBytes) {
    for (const std::size_t by : kLongerBy) {
      higher.push_back(longer(now, constraint, by));
    }
  }
  std::erase(higher, now);
  return higher;
}

// Tapes with choices [begin, end) raised: all, all but the booleans, as many say that a list goes on, then
// each by itself, the last first.
std::vector<Tape> raised(const FailingTape& ran, std::size_t begin, std::size_t end) {
  ORDEAL_DCHECK(begin <= end && end <= ran.tape.choice_count(), "begin=" << begin << " end=" << end);
  Tape all = ran.tape;
  Tape values = ran.tape;
  std::vector<Tape> tapes;
  std::size_t single = 0;
  for (std::size_t i = end; i-- > begin;) {
    const std::vector<Choice> higher = raised_of(ran, i);
    if (higher.empty()) {
      continue;
    }
    all.replace_choice(i, higher.front());
    if (higher.front().kind != ChoiceKind::kBoolean) {
      values.replace_choice(i, higher.front());
    }
    if (single++ < LowerAndMakeUp::kRaiseMax) {
      std::ranges::transform(higher, std::back_inserter(tapes),
                             [&](const Choice& choice) { return with_choice(ran.tape, i, choice); });
    }
  }
  if (single > 1) {
    tapes.insert(tapes.begin(), std::move(values));
    tapes.insert(tapes.begin(), std::move(all));
  }
  return tapes;
}

// Whether the argument draws the same kinds of choices from the same ranges.
bool draws_alike(const FailingTape& current, const FailingTape& ran, std::size_t argument) {
  const TapeArgument& mine = current.tape.arguments()[argument];
  const TapeArgument& other = ran.tape.arguments()[argument];
  const std::size_t count = mine.choices_end - mine.choices_begin;
  bool alike = other.choices_end - other.choices_begin == count;
  for (std::size_t i = 0; i < count && alike; ++i) {
    const Constraint& own = current.constraints[mine.choices_begin + i];
    const Constraint& theirs = ran.constraints[other.choices_begin + i];
    const bool same_kind = current.choice(mine.choices_begin + i).kind == ran.choice(other.choices_begin + i).kind;
    alike = same_kind && own.low == theirs.low && own.high == theirs.high;
  }
  return alike;
}

}  // namespace

bool LowerAndMakeUp::decides(const FailingTape& current, std::size_t argument, std::size_t index,
                             const FailingTape& ran) {
  return current.constraints[index].selects || !draws_alike(current, ran, argument);
}

// The arguments from the first; each is the same in later rounds unless something in it became simpler.
SearchCoroutine<Tape> LowerAndMakeUp::candidates(const FailingTape& current) {
  std::size_t left = kCandidatesMax;
  for (std::size_t argument = 0; argument < current.tape.arguments().size() && left > 0; ++argument) {
    const bool is_new = searched_.insert(hash_of_draws(current.tape, argument)).second;
    if (!is_new || is_reference(current.tape.arguments()[argument])) {
      continue;
    }
    bool changed = false;
    for (const bool up : {false, true}) {
      auto inner = up ? raising_candidates(current, argument, left) : lowering_candidates(current, argument, left);
      while (auto candidate = changed ? std::nullopt : inner.next()) {
        changed = co_yield std::move(*candidate);
        inner.accept(changed);
      }
    }
  }
}

// What the last candidate drew, if it is still the same argument and was not taken.
std::optional<FailingTape> LowerAndMakeUp::seen(const FailingTape& current, std::size_t argument) {
  wants_outcome_ = false;
  std::optional<FailingTape> ran = std::exchange(seen_, std::nullopt);
  const bool is_same =
      ran && ran->tape.arguments().size() == current.tape.arguments().size() &&
      ran->tape.arguments()[argument].choices_begin == current.tape.arguments()[argument].choices_begin;
  return is_same ? std::move(ran) : std::nullopt;
}

// Ends with the first that is accepted: the argument is then another, for the next round.
SearchCoroutine<Tape> LowerAndMakeUp::lowering_candidates(const FailingTape& current, std::size_t argument,
                                                          std::size_t& left) {
  const TapeArgument owner = current.tape.arguments()[argument];
  std::size_t lowered = 0;
  for (std::size_t i = owner.choices_begin; i + 1 < owner.choices_end && lowered < kOpenMax; ++i) {
    const std::uint64_t place = mix64(mix64(owner.name) ^ (i - owner.choices_begin));
    const std::vector<Choice> lower = undecided_.contains(place) ? std::vector<Choice>() : lowered_of(current, i);
    lowered += lower.empty() ? 0U : 1U;
    for (const Choice& choice : lower) {
      if (left == 0) {
        co_return;
      }
      --left;
      wants_outcome_ = true;
      const bool fails = co_yield with_choice(current.tape, i, choice);
      const std::optional<FailingTape> ran = seen(current, argument);
      if (fails) {
        co_return;
      }
      if (!ran) {
        continue;
      }
      if (!decides(current, argument, i, *ran)) {
        undecided_.insert(place);
        break;
      }
      const TapeArgument& drawn = ran->tape.arguments()[argument];
      std::vector<Tape> tapes = raised(*ran, i + 1, drawn.choices_end);
      if (drawn.choices_end < owner.choices_end) {
        // Fewer choices are simpler, whatever those before them are.
        std::ranges::move(raised(*ran, owner.choices_begin, i), std::back_inserter(tapes));
      }
      for (Tape& tape : tapes) {
        if (left == 0) {
          co_return;
        }
        --left;
        const bool accepted = co_yield std::move(tape);
        if (accepted) {
          co_return;
        }
      }
    }
  }
}

// The same upwards, where what is drawn behind a higher choice can be less: a list may be as large with fewer and
// larger elements. What it draws is looked at, then what it draws at least.
SearchCoroutine<Tape> LowerAndMakeUp::raising_candidates(const FailingTape& current, std::size_t argument,
                                                         std::size_t& left) {
  const TapeArgument owner = current.tape.arguments()[argument];
  std::size_t looked_at = 0;
  for (std::size_t i = owner.choices_begin; i + 2 < owner.choices_end && looked_at < kOpenMax; ++i) {
    const std::uint64_t place = mix64(mix64(owner.name) ^ (i - owner.choices_begin));
    const std::optional<Choice> higher = undecided_.contains(place) ? std::nullopt : next_above(current, i);
    if (!higher) {
      continue;
    }
    ++looked_at;
    const Tape other = with_choice(current.tape, i, *higher);
    for (const bool is_cut : {false, true}) {
      if (left == 0) {
        co_return;
      }
      --left;
      wants_outcome_ = true;
      Tape asked = is_cut ? without_choices(other, i + 1, owner.choices_end) : other;
      const bool fails = co_yield std::move(asked);
      const std::optional<FailingTape> ran = seen(current, argument);
      if (fails) {
        co_return;
      }
      if (!ran || (!is_cut && !decides(current, argument, i, *ran))) {
        if (ran) {
          undecided_.insert(place);
        }
        break;
      }
      const std::size_t end = ran->tape.arguments()[argument].choices_end;
      if (!is_cut || end >= owner.choices_end) {
        continue;
      }
      for (Tape& tape : raised(*ran, i + 1, end)) {
        if (left == 0) {
          co_return;
        }
        --left;
        const bool accepted = co_yield std::move(tape);
        if (accepted) {
          co_return;
        }
      }
    }
  }
}

}  // namespace ordeal
