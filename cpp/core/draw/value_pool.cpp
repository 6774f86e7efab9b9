#include "core/draw/value_pool.h"

#include <algorithm>
#include <ranges>
#include <utility>

namespace ordeal {
namespace {

// Integers this near to zero are drawn often enough by chance alone.
constexpr std::int64_t kNearZeroMax = 16;
constexpr int kTries = 3;
// One in so many integers is moved to a neighbour: a limit is interesting on both sides.
constexpr std::uint64_t kNeighbourPeriod = 4;

// In which order the shelves are asked, by a draw below 8.
constexpr std::array kFirstShelf{ValueShelf::kOperand,  ValueShelf::kOperand,   ValueShelf::kOperand,
                                 ValueShelf::kOperand,  ValueShelf::kConstant,  ValueShelf::kConstant,
                                 ValueShelf::kConstant, ValueShelf::kProductive};

bool is_worth_keeping(const Choice& value) noexcept {
  switch (value.kind) {
    case ChoiceKind::kBoolean:
      return false;
    case ChoiceKind::kInteger:
      return value.blob().size() <= ValuePool::kBlobBytesMax &&
             (value.is_big() || value.number > kNearZeroMax || value.number < -kNearZeroMax);
    case ChoiceKind::kFloat:
      return value.as_real() != 0;
    case ChoiceKind::kString:
    case ChoiceKind::kBytes:
      return !value.blob().empty() && value.blob().size() <= ValuePool::kBlobBytesMax;
  }
  return false;
}

}  // namespace

const ValuePool::Shelf& ValuePool::at(ValueShelf shelf, ChoiceKind kind) const noexcept {
  return values_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(shelf)];
}

ValuePool::Shelf& ValuePool::at(ValueShelf shelf, ChoiceKind kind) noexcept {
  return values_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(shelf)];
}

bool ValuePool::add(ValueShelf shelf, Choice value) {
  if (!is_worth_keeping(value)) {
    return false;
  }
  Shelf& values = at(shelf, value.kind);
  const bool is_constant = shelf == ValueShelf::kConstant;
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
  return true;
}

const Choice* ValuePool::pick(Rng& rng, ChoiceKind kind) const {
  const ValueShelf first = kFirstShelf[rng.below(kFirstShelf.size())];
  for (std::size_t i = 0; i < kShelves; ++i) {
    const auto shelf = static_cast<ValueShelf>((static_cast<std::size_t>(first) + i) % kShelves);
    const Shelf& values = at(shelf, kind);
    if (values.empty()) {
      continue;
    }
    const std::uint64_t one = rng.below(values.size());
    if (shelf == ValueShelf::kConstant) {
      return &values[one];
    }
    return &values[std::max(one, rng.below(values.size()))];
  }
  return nullptr;
}

std::optional<std::int64_t> ValuePool::pick_integer(Rng& rng, std::int64_t low, std::int64_t high) const {
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

bool ValuePool::empty() const noexcept {
  const auto is_empty = [](const Shelf& shelf) { return shelf.empty(); };
  return std::ranges::all_of(values_, [&](const auto& shelves) { return std::ranges::all_of(shelves, is_empty); });
}

std::size_t ValuePool::size(ValueShelf shelf, ChoiceKind kind) const noexcept { return at(shelf, kind).size(); }

std::vector<ShelvedValue> ValuePool::save() const {
  std::vector<ShelvedValue> saved;
  for (const ValueShelf shelf : {ValueShelf::kOperand, ValueShelf::kProductive}) {
    for (const auto& shelves : values_) {
      for (const Choice& value : shelves[static_cast<std::size_t>(shelf)]) {
        saved.push_back({shelf, value});
      }
    }
  }
  return saved;
}

}  // namespace ordeal
