#include "core/shrink/shrink_references.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/shrink/choice_edits.h"

namespace ordeal {
namespace {

constexpr std::size_t kReferencesMax = 8;  // how many are tried against each other

// In the order of their first use.
std::vector<std::int64_t> producers_of(const Tape& tape) {
  std::vector<std::int64_t> producers;
  for (const TapeArgument& argument : tape.arguments()) {
    if (is_reference(argument) && std::ranges::find(producers, argument.producer) == producers.end()) {
      producers.push_back(argument.producer);
    }
  }
  return producers;
}

// The origin of the step that made the value.
std::uint64_t origin_of(std::int64_t producer) noexcept {
  return static_cast<std::uint64_t>(producer) >> static_cast<unsigned>(TapeArgument::kPlaceBits);
}

// `to` replaces `from`, and the step that made `from` is removed, unless it made `to` as well.
Tape with_references_merged(const Tape& tape, std::int64_t from, std::int64_t to) {
  ORDEAL_DCHECK(from != to, "a value that is merged with itself");
  Tape merged = tape;
  for (std::size_t i = 0; i < tape.arguments().size(); ++i) {
    if (tape.arguments()[i].producer == from) {
      merged.replace_producer(i, to);
    }
  }
  std::vector<bool> keep;
  for (const TapeStep& step : tape.steps()) {
    keep.push_back(step.origin != origin_of(from) || origin_of(from) == origin_of(to));
  }
  ORDEAL_DCHECK(keep.size() == merged.size(), "marks for " << keep.size() << " of " << merged.size() << " steps");
  return merged.subset(keep);
}

// Position 0 is the newest value, and the simplest. Without a producer the replay uses the position.
SearchCoroutine<Tape> newest_references(const FailingTape& current) {
  const Tape& tape = current.tape;
  for (std::size_t a = 0; a < tape.arguments().size(); ++a) {
    const TapeArgument argument = tape.arguments()[a];
    if (!is_reference(argument) || tape.choices(argument).size() != 1 || current.is_simplest(argument.choices_begin)) {
      continue;
    }
    Tape candidate = with_choice(tape, argument.choices_begin, Choice::integer(0));
    candidate.replace_producer(a, TapeArgument::kNoProducer);
    co_yield std::move(candidate);
  }
}

}  // namespace

// Later values become earlier ones, so that the later steps can be removed. After an accepted candidate, producers may
// be gone with their steps.
SearchCoroutine<Tape> MergeReferences::candidates(const FailingTape& current) {
  const std::vector<std::int64_t> producers = producers_of(current.tape);
  for (std::size_t i = producers.size(); i-- > 0;) {
    for (std::size_t j = 0; j < std::min(producers.size(), kReferencesMax); ++j) {
      const std::vector<std::int64_t> left = producers_of(current.tape);
      const auto is_left = [&](std::int64_t producer) { return std::ranges::find(left, producer) != left.end(); };
      if (i != j && is_left(producers[i]) && is_left(producers[j])) {
        co_yield with_references_merged(current.tape, producers[i], producers[j]);
      }
    }
  }
  co_await newest_references(current);
}

}  // namespace ordeal
