#include "core/shrink_passes.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace ordeal {
namespace {

Tape without(const Tape& tape, std::size_t begin, std::size_t end) {
  std::vector<bool> keep(tape.size(), true);
  std::fill(keep.begin() + static_cast<std::ptrdiff_t>(begin), keep.begin() + static_cast<std::ptrdiff_t>(end), false);
  return tape.subset(keep);
}

}  // namespace

std::string_view RemoveSteps::name() const noexcept { return grain_ == Grain::kChunks ? "chunks" : "steps"; }

void RemoveSteps::start(const Tape& current) {
  size_ = 1;
  if (grain_ == Grain::kChunks) {
    // Never the whole tape: that is a matter of single steps.
    size_ = current.size() < 3 ? 0 : std::max<std::size_t>(2, std::bit_floor(current.size() / 2));
  }
  end_ = current.size();
}

std::optional<Tape> RemoveSteps::next(const Tape& current) {
  if (end_ == 0) {
    size_ /= 2;
    end_ = current.size();
  }
  const std::size_t smallest = grain_ == Grain::kChunks ? 2 : 1;
  if (size_ < smallest || end_ == 0) {
    return std::nullopt;
  }
  const std::size_t begin = end_ > size_ ? end_ - size_ : 0;
  Tape candidate = without(current, begin, end_);
  end_ = begin;
  return candidate;
}

void RemoveSteps::accepted(const Tape& current) { end_ = std::min(end_, current.size()); }

void RemoveFaults::start(const Tape& current) {
  faults_.clear();
  for (const TapeStep& step : current.steps()) {
    if (is_fault(step.kind) && std::ranges::find(faults_, step.target) == faults_.end()) {
      faults_.push_back(step.target);
    }
  }
}

std::optional<Tape> RemoveFaults::next(const Tape& current) {
  if (faults_.empty()) {
    return std::nullopt;
  }
  const std::uint32_t fault = faults_.back();
  faults_.pop_back();
  std::vector<bool> keep;
  keep.reserve(current.size());
  for (const TapeStep& step : current.steps()) {
    keep.push_back(!is_fault(step.kind) || step.target != fault);
  }
  return current.subset(keep);
}

void RemoveFaults::accepted(const Tape& /*current*/) {}

void RemovePairs::start(const Tape& current) {
  distance_ = 1;
  distance_max_ = current.empty() ? 0 : kCandidatesMax / current.size();
  second_ = current.size();
}

std::optional<Tape> RemovePairs::next(const Tape& current) {
  if (second_ <= distance_) {
    ++distance_;
    second_ = current.size();
  }
  if (distance_ > distance_max_ || second_ <= distance_) {
    return std::nullopt;
  }
  --second_;
  std::vector<bool> keep(current.size(), true);
  keep[second_] = false;
  keep[second_ - distance_] = false;
  return current.subset(keep);
}

void RemovePairs::accepted(const Tape& current) { second_ = std::min(second_, current.size()); }

}  // namespace ordeal
