#include "core/shrink/shrink_decisions.h"

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

// What a choice may become, the simplest first: each that is nearer, or the simplest, half as far, and one closer.
std::vector<Choice> lowered_of(const FailingTape& current, std::size_t index) {
  constexpr std::uint64_t kNear = 8;
  const Choice& now = current.choice(index);
  const Constraint& constraint = current.constraints[index];
  if (now.kind == ChoiceKind::kBoolean && !current.is_simplest(index)) {
    return {Choice::boolean(false)};
  }
  std::vector<Choice> lower;
  if (is_open_integer(current, index)) {
    const std::uint64_t distance = distance_of(now, constraint);
    const auto add = [&](std::uint64_t less) {
      lower.push_back(integer_at(less, now.number < constraint.simplest, constraint));
    };
    for (std::uint64_t less = 0; less < distance && distance <= kNear; ++less) {
      add(less);
    }
    if (distance > kNear) {
      add(0);
      add(distance / 2);
      add(distance - 1);
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

// A text with `count` of the simplest character behind it, as far as its size may grow.
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
// one at a time, the last first.
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
    if (single++ < ChangeDecisions::kRaiseMax) {
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

// What begins behind a choice in its argument, up to a limit: spans and single choices, the outer ones first.
std::vector<Span> spans_behind(const FailingTape& current, std::uint32_t at, std::uint32_t end, std::size_t count) {
  std::vector<Span> behind;
  auto span = std::ranges::lower_bound(current.spans, at + 1, {}, &Span::begin);
  for (std::uint32_t next = at + 1; next < end && behind.size() < count; ++next) {
    for (; span != current.spans.end() && span->begin == next; ++span) {
      behind.push_back(*span);
    }
    if (behind.empty() || behind.back() != Span{next, next + 1}) {
      behind.push_back({next, next + 1});
    }
  }
  return behind;
}

// The tape with a lower choice, without one of the spans behind it. A flag precedes its own element.
std::vector<Tape> without_decided(const FailingTape& current, std::uint32_t at, std::uint32_t end,
                                  const Choice& choice) {
  const Tape lower = with_choice(current.tape, at, choice);
  std::vector<Tape> tapes;
  for (const Span& span : spans_behind(current, at, end, ChangeDecisions::kBehindMax)) {
    if (choice.kind != ChoiceKind::kBoolean || span.begin == at + 1) {
      tapes.push_back(without_choices(lower, span.begin, span.end));
    }
  }
  return tapes;
}

struct Change {
  std::uint32_t at;
  Choice choice;
  bool up;
};

// What is tried in an argument: lower choices, then higher ones where more than one is drawn behind them.
std::vector<Change> changes_of(const FailingTape& current, const TapeArgument& owner) {
  std::vector<Change> changes;
  constexpr std::size_t kMost = ChangeDecisions::kChangesMax;
  for (std::uint32_t at = owner.choices_begin; at + 1 < owner.choices_end && changes.size() < kMost; ++at) {
    for (Choice& lower : lowered_of(current, at)) {
      changes.push_back({at, std::move(lower), false});
    }
  }
  for (std::uint32_t at = owner.choices_begin; at + 2 < owner.choices_end && changes.size() < 2 * kMost; ++at) {
    if (std::optional<Choice> higher = next_above(current, at)) {
      changes.push_back({at, *std::move(higher), true});
    }
  }
  return changes;
}

}  // namespace

// The arguments from the first; each is the same in later rounds unless something in it became simpler.
SearchCoroutine<Tape> ChangeDecisions::candidates(const FailingTape& current) {
  std::size_t left = kCandidatesMax;
  for (std::size_t argument = 0; argument < current.tape.arguments().size() && left > 0; ++argument) {
    const bool is_new = searched_.insert(hash_of_draws(current.tape, argument)).second;
    if (is_new && !is_reference(current.tape.arguments()[argument])) {
      co_await candidates_of(current, argument, left);
    }
  }
}

// What the last candidate drew, if it is still the same argument and was not taken.
std::optional<FailingTape> ChangeDecisions::seen(const FailingTape& current, std::size_t argument) {
  wants_outcome_ = false;
  std::optional<FailingTape> ran = std::exchange(seen_, std::nullopt);
  const bool is_same =
      ran && ran->tape.arguments().size() == current.tape.arguments().size() &&
      ran->tape.arguments()[argument].choices_begin == current.tape.arguments()[argument].choices_begin;
  return is_same ? std::move(ran) : std::nullopt;
}

// A higher choice is looked at twice: what it draws, and what it draws at least.
SearchCoroutine<Tape> ChangeDecisions::candidates_of(const FailingTape& current, std::size_t argument,
                                                     std::size_t& left) {
  const TapeArgument owner = current.tape.arguments()[argument];
  const auto may_ask = [&left] {
    const bool may = left > 0;
    left -= may ? 1 : 0;
    return may;
  };
  for (const Change& change : changes_of(current, owner)) {
    const std::uint64_t place = mix64(mix64(owner.name) ^ (change.at - owner.choices_begin));
    std::optional<FailingTape> ran;
    for (const bool is_cut : {false, true}) {
      if (undecided_.contains(place) || (is_cut && !(change.up && ran))) {
        break;
      }
      if (!may_ask()) {
        co_return;
      }
      Tape asked = with_choice(current.tape, change.at, change.choice);
      if (is_cut) {
        asked = without_choices(asked, change.at + 1, owner.choices_end);
      }
      wants_outcome_ = true;
      const bool fails = co_yield std::move(asked);
      ran = seen(current, argument);
      if (fails) {
        co_return;
      }
      if (ran && !is_cut && !current.constraints[change.at].selects && draws_alike(current, *ran, argument)) {
        undecided_.insert(place);
        ran.reset();
      }
    }
    if (!ran) {
      continue;
    }
    const std::size_t end = ran->tape.arguments()[argument].choices_end;
    if (change.up && end >= owner.choices_end) {
      continue;
    }
    std::vector<Tape> tapes;
    if (!change.up) {
      tapes = without_decided(current, change.at, owner.choices_end, change.choice);
    }
    std::ranges::move(raised(*ran, change.at + 1, end), std::back_inserter(tapes));
    if (!change.up && end < owner.choices_end) {
      // Fewer choices are simpler, even if those before them are not.
      std::ranges::move(raised(*ran, owner.choices_begin, change.at), std::back_inserter(tapes));
    }
    for (Tape& tape : tapes) {
      if (!may_ask()) {
        co_return;
      }
      const bool accepted = co_yield std::move(tape);
      if (accepted) {
        co_return;
      }
    }
  }
}

}  // namespace ordeal
