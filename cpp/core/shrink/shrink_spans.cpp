#include "core/shrink/shrink_spans.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <tsl/robin_map.h>

#include "core/base/check.h"
#include "core/base/rng.h"
#include "core/shrink/choice_edits.h"
#include "core/tape/choice_rank.h"

namespace ordeal {
namespace {

// ---------------------------------------------------------------------------------------------------------------------
// Spans

Span span_of(const TapeArgument& argument) noexcept { return {argument.choices_begin, argument.choices_end}; }

// The parts of a span: the spans directly inside it, and the choices between them.
std::vector<Span> parts_of(const FailingTape& current, std::size_t span) {
  const Span whole = current.spans[span];
  std::vector<Span> parts;
  std::uint32_t next = whole.begin;
  const auto add_choices_until = [&](std::uint32_t end) {
    for (; next < end; ++next) {
      parts.push_back({next, next + 1});
    }
  };
  for (std::size_t i = span + 1; i < current.spans.size() && current.spans[i].begin < whole.end; ++i) {
    if (current.spans[i].begin >= next) {
      add_choices_until(current.spans[i].begin);
      parts.push_back(current.spans[i]);
      next = current.spans[i].end;
    }
  }
  add_choices_until(whole.end);
  return parts;
}

// Whether a span is one choice of several of its argument, and so was looked at as a part of another span.
bool is_single_part(const FailingTape& current, const Span& span) {
  return span.size() == 1 && span_of(argument_of(current.tape, span.begin)) != span;
}

// Whether at most one value of the span is not the simplest.
bool says_little(const FailingTape& current, const Span& span) {
  std::size_t others = 0;
  for (std::uint32_t i = span.begin; i < span.end; ++i) {
    others += current.choice(i).kind != ChoiceKind::kBoolean && !current.is_simplest(i) ? 1U : 0U;
  }
  return others <= 1;
}

// A hash of a place and of the kinds of the choices of a span.
std::uint64_t hash_of_kinds(const FailingTape& current, const Span& span, std::uint64_t place) {
  std::uint64_t h = mix64(place);
  for (std::uint32_t i = span.begin; i < span.end; ++i) {
    h = mix64(h ^ static_cast<std::uint64_t>(current.choice(i).kind));
  }
  return h;
}

// Spans are the same if they have the same place in an argument of the same name, and the same kinds of choices.
std::uint64_t hash_of_span(const FailingTape& current, const Span& span) {
  const TapeArgument& owner = argument_of(current.tape, span.begin);
  return hash_of_kinds(current, span, mix64(owner.name) ^ (span.begin - owner.choices_begin));
}

// What begins behind a choice in its argument, up to so many: spans and single choices, the outer ones first.
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

// ---------------------------------------------------------------------------------------------------------------------
// Decisions

// Whether an integer may be the number of a branch. Of a draw through Hypothesis nothing but its bounds is known.
bool may_select(const Constraint& constraint) {
  constexpr std::int64_t kHighestMax = 15;
  return constraint.selects || (constraint.low == 0 && constraint.simplest == 0 && constraint.high <= kHighestMax);
}

// What a choice that decides about others could be instead, the simplest first: any lower branch, or one element less.
std::vector<Choice> lower_decisions(const FailingTape& current, std::size_t at, bool may_count) {
  const Choice& now = current.choice(at);
  if (now.kind == ChoiceKind::kBoolean) {
    return current.is_simplest(at) ? std::vector<Choice>{} : std::vector<Choice>{Choice::boolean(false)};
  }
  std::vector<Choice> lower;
  if (is_open_integer(current, at)) {
    const Constraint& constraint = current.constraints[at];
    const bool is_below = now.number < constraint.simplest;
    const std::uint64_t distance = distance_of(now, constraint);
    for (std::uint64_t less = 0; may_select(constraint) && less + 1 < std::min(distance, DeleteDecided::kBranchesMax);
         ++less) {
      lower.push_back(integer_at(less, is_below, constraint));
    }
    if (may_count || may_select(constraint)) {
      lower.push_back(integer_at(distance - 1, is_below, constraint));
    }
  }
  return lower;
}

// ---------------------------------------------------------------------------------------------------------------------
// Order

// As tapes are ordered: the first choice that differs decides. Spans of other kinds of choices are not compared.
bool is_out_of_order(const FailingTape& current, const Span& first, const Span& second) {
  if (first.size() != second.size()) {
    return false;
  }
  for (std::uint32_t i = 0; i < first.size(); ++i) {
    if (current.choice(first.begin + i).kind != current.choice(second.begin + i).kind) {
      return false;
    }
  }
  for (std::uint32_t i = 0; i < first.size(); ++i) {
    const auto order = current.rank(first.begin + i) <=> current.rank(second.begin + i);
    if (order != 0) {
      return order > 0;
    }
  }
  return false;
}

// Both have as many choices.
Tape with_spans_swapped(const Tape& tape, const Span& first, const Span& second) {
  Tape swapped = tape;
  for (std::uint32_t i = 0; i < first.size(); ++i) {
    swapped.replace_choice(first.begin + i, tape.choices()[second.begin + i]);
    swapped.replace_choice(second.begin + i, tape.choices()[first.begin + i]);
  }
  return swapped;
}

// Each part moves to a place of one that draws the same kinds. Nothing if they are in order.
std::optional<Tape> with_parts_sorted(const FailingTape& current, const std::vector<Span>& parts) {
  std::vector<std::vector<Span>> groups;
  tsl::robin_map<std::uint64_t, std::size_t> group_of;
  for (const Span& part : parts) {
    const auto [found, is_new] = group_of.insert({hash_of_kinds(current, part, 0), groups.size()});
    groups.resize(groups.size() + (is_new ? 1 : 0));
    groups[found->second].push_back(part);
  }
  std::optional<Tape> sorted;
  for (const std::vector<Span>& group : groups) {
    std::vector<Span> order = group;
    std::ranges::stable_sort(order, [&](const Span& a, const Span& b) { return is_out_of_order(current, b, a); });
    for (std::size_t i = 0; i < group.size(); ++i) {
      for (std::uint32_t c = 0; order[i] != group[i] && c < group[i].size(); ++c) {
        sorted = sorted ? std::move(sorted) : current.tape;
        sorted->replace_choice(group[i].begin + c, current.choice(order[i].begin + c));
      }
    }
  }
  return sorted;
}

// The argument of the same name in the next step of the same rule.
std::optional<Span> counterpart(const Tape& tape, std::size_t step, const TapeArgument& mine) {
  for (std::size_t other = step + 1; other < tape.size(); ++other) {
    if (tape.step(other).kind == tape.step(step).kind && tape.step(other).target == tape.step(step).target) {
      for (const TapeArgument& theirs : tape.arguments(tape.step(other))) {
        if (theirs.name == mine.name && !is_reference(theirs)) {
          return span_of(theirs);
        }
      }
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

// What was removed changes only the spans that it lay in and those behind it, so the number of the span stays. Where
// another draw has taken the place of what was removed, a list is as short as it may be.
SearchCoroutine<Tape> DeleteSpans::candidates(const FailingTape& current) {
  for (std::size_t span = 0; span < current.spans.size(); ++span) {
    if (is_single_part(current, current.spans[span])) {
      continue;
    }
    std::vector<Span> parts = parts_of(current, span);
    const bool was_swept = !swept_.insert(hash_of_span(current, current.spans[span])).second;
    const std::size_t count = current.tape.choice_count();
    Patience patience;
    bool goes_on = true;
    for (std::size_t size = was_swept ? 1 : parts.size(); goes_on && size > 0; size = std::bit_floor(size - 1)) {
      for (std::size_t end = parts.size(); goes_on && end >= size;) {
        const std::size_t begin = end - size;
        if (was_swept && !says_little(current, parts[begin])) {
          --end;
          continue;
        }
        const bool accepted = co_yield without_choices(current.tape, parts[begin].begin, parts[end - 1].end);
        if (span >= current.spans.size()) {
          co_return;
        }
        goes_on = patience.goes_on(accepted) && (!accepted || current.tape.choice_count() < count);
        parts = accepted ? parts_of(current, span) : std::move(parts);
        end = std::min(begin, parts.size());
      }
    }
  }
}

SearchCoroutine<Tape> ReplaceByInner::candidates(const FailingTape& current) {
  for (std::size_t span = 0; span < current.spans.size(); ++span) {
    const Span outer = current.spans[span];
    std::vector<Span> inner;
    for (std::size_t i = span + 1; i < current.spans.size() && current.spans[i].begin < outer.end; ++i) {
      if (current.choice(current.spans[i].begin).kind == current.choice(outer.begin).kind) {
        inner.push_back(current.spans[i]);
      }
    }
    std::ranges::stable_sort(inner, std::greater{}, &Span::size);
    for (std::size_t i = 0; i < std::min(inner.size(), kInnerMax); ++i) {
      std::vector<bool> keep(current.tape.choice_count(), true);
      for (std::uint32_t c = outer.begin; c < outer.end; ++c) {
        keep[c] = inner[i].begin <= c && c < inner[i].end;
      }
      const bool accepted = co_yield current.tape.subset_of_choices(keep);
      if (accepted) {
        break;
      }
    }
  }
}

// Each choice is tried once while its argument draws the same.
SearchCoroutine<Tape> DeleteDecided::candidates(const FailingTape& current) {
  const Tape& tape = current.tape;
  Patience patience;
  bool accepted = false;
  for (std::uint32_t at = 0; at + 1 < tape.choice_count(); at += std::exchange(accepted, false) ? 0U : 1U) {
    const TapeArgument owner = argument_of(tape, at);
    // A length precedes what it counts, and any list that marks its own end.
    const auto before = tape.choices().subspan(owner.choices_begin, at - owner.choices_begin);
    const bool may_count = std::ranges::find(before, ChoiceKind::kBoolean, &Choice::kind) == before.end();
    const std::vector<Choice> lower =
        is_reference(owner) ? std::vector<Choice>() : lower_decisions(current, at, may_count);
    const std::vector<Span> behind =
        lower.empty() ? std::vector<Span>() : spans_behind(current, at, owner.choices_end, kBehindMax);
    if (behind.empty()) {
      continue;
    }
    std::uint64_t key = mix64(owner.name) ^ (at - owner.choices_begin);
    for (const Choice& choice : tape.choices(owner)) {
      key = mix64(key ^ hash_of(choice));
    }
    if (!swept_.insert(key).second) {
      continue;
    }
    for (std::size_t which = 0; !accepted && which < lower.size(); ++which) {
      const bool is_flag = lower[which].kind == ChoiceKind::kBoolean;
      for (std::size_t i = 0; !accepted && i < behind.size() && !(is_flag && behind[i].begin > at + 1); ++i) {
        accepted = co_yield without_choices(with_choice(tape, at, lower[which]), behind[i].begin, behind[i].end);
        if (!patience.goes_on(accepted)) {
          co_return;
        }
      }
    }
  }
}

// Within spans, all parts of the same kinds at once, otherwise neighbours; then between steps.
SearchCoroutine<Tape> SortSpans::candidates(const FailingTape& current) {
  const Tape& tape = current.tape;
  Patience patience;
  for (std::size_t span = 0; span < current.spans.size(); ++span) {
    const std::vector<Span> parts = parts_of(current, span);
    const std::size_t count = tape.choice_count();
    std::optional<Tape> in_order = parts.size() > 1 ? with_parts_sorted(current, parts) : std::nullopt;
    if (!in_order) {
      continue;
    }
    const bool sorted = co_yield *std::move(in_order);
    for (std::size_t i = 1; !sorted && i < parts.size() && tape.choice_count() == count; ++i) {
      if (is_out_of_order(current, parts[i - 1], parts[i])) {
        const bool accepted = co_yield with_spans_swapped(tape, parts[i - 1], parts[i]);
        if (!patience.goes_on(accepted)) {
          co_return;
        }
      }
    }
  }
  for (std::size_t step = 0; step < tape.size(); ++step) {
    for (std::size_t a = tape.step(step).arguments_begin; step < tape.size() && a < tape.step(step).arguments_end;
         ++a) {
      const TapeArgument first = tape.arguments()[a];
      const std::optional<Span> second = is_reference(first) ? std::nullopt : counterpart(tape, step, first);
      if (second && is_out_of_order(current, span_of(first), *second)) {
        co_yield with_spans_swapped(tape, span_of(first), *second);
      }
    }
  }
}

}  // namespace ordeal
