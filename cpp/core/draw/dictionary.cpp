#include "core/draw/dictionary.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "core/base/check.h"

namespace ordeal {
namespace {

// Integers this near to zero are drawn often enough by chance.
constexpr std::int64_t kNearZeroMax = 16;
// If an integer of the dictionary is out of bounds, another is tried; there may be none within bounds.
constexpr int kTries = 3;
// One in this many integers is moved to a neighbour: limits are interesting on both sides.
constexpr std::uint64_t kNeighbourPeriod = 4;

// The order of the sources, chosen by a draw below 8.
constexpr std::array kFirstSource{DictionarySource::kOperand,  DictionarySource::kOperand,
                                  DictionarySource::kOperand,  DictionarySource::kOperand,
                                  DictionarySource::kConstant, DictionarySource::kConstant,
                                  DictionarySource::kConstant, DictionarySource::kProductive};

// Booleans are drawn often enough, and a huge blob would be copied into every tape.
bool is_worth_keeping(const Choice& value) noexcept {
  switch (value.kind) {
    case ChoiceKind::kBoolean:
      return false;
    case ChoiceKind::kInteger:
      return value.blob().size() <= Dictionary::kBlobBytesMax &&
             (value.is_big() || value.number > kNearZeroMax || value.number < -kNearZeroMax);
    case ChoiceKind::kFloat:
      return value.as_real() != 0;
    case ChoiceKind::kString:
    case ChoiceKind::kBytes:
      return !value.blob().empty() && value.blob().size() <= Dictionary::kBlobBytesMax;
  }
  return false;
}

}  // namespace

// By kind first: a draw wants one kind and goes through the sources.
const Dictionary::Values& Dictionary::at(DictionarySource source, ChoiceKind kind) const noexcept {
  return values_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(source)];
}

Dictionary::Values& Dictionary::at(DictionarySource source, ChoiceKind kind) noexcept {
  return values_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(source)];
}

// O(entries of that source and kind), to search for the value. Adding is rare compared with drawing.
bool Dictionary::add(DictionarySource source, Choice value) {
  if (!is_worth_keeping(value)) {
    return false;
  }
  Values& values = at(source, value.kind);
  const bool is_constant = source == DictionarySource::kConstant;
  if (is_constant && values.size() >= kConstantsMax) {
    return false;
  }
  if (const auto known = std::ranges::find(values, value); known != values.end()) {
    std::rotate(known, known + 1, values.end());
    return false;
  }
  if (!is_constant && values.size() >= kRecentMax) {
    values.erase(values.begin());
  }
  values.push_back(std::move(value));
  ORDEAL_DCHECK(values.size() <= (is_constant ? kConstantsMax : kRecentMax), "size=" << values.size());
  return true;
}

// Starts with a source by its share, then continues with the next non-empty one. Takes the larger of two uniform
// indices, so newer values are likelier; constants have no age.
const Choice* Dictionary::pick(Rng& rng, ChoiceKind kind) const {
  const DictionarySource first = kFirstSource[rng.below(kFirstSource.size())];
  for (std::size_t i = 0; i < kSources; ++i) {
    const auto source = static_cast<DictionarySource>((static_cast<std::size_t>(first) + i) % kSources);
    const Values& values = at(source, kind);
    if (values.empty()) {
      continue;
    }
    const std::uint64_t one = rng.below(values.size());
    if (source == DictionarySource::kConstant) {
      return &values[one];
    }
    return &values[std::max(one, rng.below(values.size()))];
  }
  return nullptr;
}

// A quarter of the values are moved by one: a limit is interesting on both sides.
std::optional<std::int64_t> Dictionary::pick_integer(Rng& rng, std::int64_t low, std::int64_t high) const {
  for (int i = 0; i < kTries; ++i) {
    const Choice* const choice = pick(rng, ChoiceKind::kInteger);
    if (choice == nullptr) {
      return std::nullopt;
    }
    if (choice->is_big() || choice->number < low || choice->number > high) {
      continue;
    }
    const std::int64_t value = choice->number;
    if (rng.below(kNeighbourPeriod) != 0) {
      return value;
    }
    if (rng.below(2) == 0) {
      return value == high ? value : value + 1;
    }
    return value == low ? value : value - 1;
  }
  return std::nullopt;
}

// For tests and reports; a draw from an empty dictionary is allowed.
bool Dictionary::empty() const noexcept {
  const auto is_empty = [](const Values& source) { return source.empty(); };
  return std::ranges::all_of(values_, [&](const auto& sources) { return std::ranges::all_of(sources, is_empty); });
}

std::size_t Dictionary::size(DictionarySource source, ChoiceKind kind) const noexcept {
  return at(source, kind).size();
}

// Constants are read again from the source of the program, which may have changed.
std::vector<DictionaryEntry> Dictionary::save() const {
  std::vector<DictionaryEntry> saved;
  for (const DictionarySource source : {DictionarySource::kOperand, DictionarySource::kProductive}) {
    for (const auto& sources : values_) {
      for (const Choice& value : sources[static_cast<std::size_t>(source)]) {
        saved.push_back({source, value});
      }
    }
  }
  return saved;
}

}  // namespace ordeal
