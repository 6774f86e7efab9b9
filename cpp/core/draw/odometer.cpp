#include "core/draw/odometer.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/check.h"

namespace ordeal {
namespace {

// For messages.
std::string options(std::uint64_t bound) { return "0.." + std::to_string(bound); }

}  // namespace

// A digit is a choice with its bound; the digits of the last case are its position in the order of all cases.
void Odometer::begin(Mode mode) {
  digits_.clear();
  held_.clear();
  path_.clear();
  cursor_ = fresh_from_ = 0;
  visited_ = cases_ = dropped_ = 0;
  started_ = running_ = dropped_now_ = false;
  mode_ = mode;
}

void Odometer::restart() { begin(Mode::kAll); }

// Choices beyond the path are zero.
void Odometer::replay(std::vector<std::uint64_t> path) {
  begin(Mode::kReplay);
  path_ = std::move(path);
}

// Ends the current case: if it made fewer choices than there are digits, it did not repeat an earlier case, and the
// test depends on more than its choices.
Odometer::Turn Odometer::next() {
  held_.clear();
  if (std::exchange(started_, true)) {
    if (!running_) {
      return Turn::kDone;
    }
    running_ = false;
    if (cursor_ < digits_.size()) {
      return Turn::kFewer;
    }
    ++(dropped_now_ ? dropped_ : cases_);
    if (mode_ != Mode::kAll || !raise_last(0)) {
      return Turn::kDone;
    }
  }
  if (visited_ == limit_) {
    return Turn::kLimit;
  }
  ++visited_;
  fresh_from_ = digits_.empty() ? 0 : digits_.size() - 1;
  cursor_ = 0;
  running_ = true;
  dropped_now_ = false;
  return Turn::kCase;
}

// Drops digits that are at their bound from the end, and raises the one before them. Returns false if none from `begin`
// on can be raised.
bool Odometer::raise_last(std::size_t begin) {
  while (digits_.size() > begin) {
    Digit& digit = digits_.back();
    if (!digit.is_last && digit.value < digit.bound) {
      ++digit.value;
      return true;
    }
    digits_.pop_back();
  }
  return false;
}

// A choice past the known digits. The bound of a repeated choice must be the same as before.
std::uint64_t Odometer::append(std::uint64_t bound, std::uint64_t site) {
  ORDEAL_CHECK(running_, "a choice outside of a case");
  if (cursor_ < digits_.size()) {
    throw ChangedBoundError("choice " + std::to_string(cursor_) + " was one of " + options(digits_[cursor_].bound) +
                            " and is now one of " + options(bound));
  }
  if (digits_.size() == kDigitsMax) {
    throw Error("one case makes more than " + std::to_string(kDigitsMax) + " choices");
  }
  const std::uint64_t value = first_value(bound);
  digits_.push_back({.value = value, .bound = bound, .site = site});
  ++cursor_;
  return value;
}

// Zero when counting through all, and from the path when replaying.
std::uint64_t Odometer::first_value(std::uint64_t bound) const {
  const std::size_t position = digits_.size();
  if (mode_ == Mode::kReplay && position < path_.size()) {
    if (path_[position] > bound) {
      throw PathError("choice " + std::to_string(position) + " of the path is " + std::to_string(path_[position]) +
                      "; the case offers " + options(bound));
    }
    return path_[position];
  }
  return 0;
}

// Repeats the choices from `begin` on with the next combination.
bool Odometer::retry(std::size_t begin) {
  ORDEAL_CHECK(running_ && begin <= cursor_, "begin=" << begin << " cursor=" << cursor_);
  if (mode_ != Mode::kAll) {
    return false;
  }
  digits_.resize(cursor_);
  const bool found = raise_last(begin);
  fresh_from_ = std::min(fresh_from_, digits_.empty() ? 0 : digits_.size() - 1);
  cursor_ = begin;
  return found;
}

// Saves the choices from `begin` on, while others are tried.
void Odometer::hold(std::size_t begin) {
  ORDEAL_CHECK(begin <= cursor_ && cursor_ == digits_.size(), "begin=" << begin << " cursor=" << cursor_);
  held_.push_back({begin, fresh_from_, {digits_.begin() + static_cast<std::ptrdiff_t>(begin), digits_.end()}});
}

// Restores them, in reverse order of hold().
void Odometer::release(bool has_more) {
  ORDEAL_CHECK(!held_.empty(), "nothing is held");
  Held held = std::move(held_.back());
  held_.pop_back();
  digits_.resize(held.begin);
  for (Digit& digit : held.digits) {
    digit.is_last = digit.is_last || !has_more;
    digits_.push_back(digit);
  }
  fresh_from_ = held.fresh_from;
  cursor_ = digits_.size();
}

std::vector<std::uint64_t> Odometer::path() const {
  std::vector<std::uint64_t> path(cursor_);
  std::transform(digits_.begin(), digits_.begin() + static_cast<std::ptrdiff_t>(cursor_), path.begin(),
                 [](const Digit& digit) { return digit.value; });
  return path;
}

}  // namespace ordeal
