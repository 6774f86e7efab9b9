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

// Within spans, all parts of the same kinds at once, otherwise neighbours; then arguments of the same name.
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
  for (std::size_t a = 0; a < tape.arguments().size(); ++a) {
    const TapeArgument first = tape.arguments()[a];
    const auto later = tape.arguments().subspan(a + 1);
    const auto second = std::ranges::find_if(
        later, [&](const TapeArgument& other) { return other.name == first.name && !is_reference(other); });
    if (!is_reference(first) && second != later.end() && is_out_of_order(current, span_of(first), span_of(*second))) {
      co_yield with_spans_swapped(tape, span_of(first), span_of(*second));
    }
  }
}

}  // namespace ordeal
