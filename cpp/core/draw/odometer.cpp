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

Odometer::Odometer(std::uint64_t limit, Shard shard) : shards_{shard}, limit_(limit) {
  if (shard.count == 0 || shard.index >= shard.count) {
    throw ConfigError("shard " + std::to_string(shard.index) + " of " + std::to_string(shard.count) +
                      "; the first number counts from 0 and must be below the second");
  }
}

// A digit is a choice with its bound; the digits of the last case are its position in the order of all cases.
void Odometer::begin(Mode mode) {
  digits_.clear();
  held_.clear();
  path_.clear();
  shards_.resize(1);
  cursor_ = fresh_from_ = 0;
  visited_ = cases_ = dropped_ = 0;
  started_ = running_ = dropped_now_ = is_foreign_ = is_kept_ = false;
  mode_ = mode;
}

void Odometer::restart() { begin(Mode::kAll); }

// Choices beyond the path are zero.
void Odometer::replay(std::vector<std::uint64_t> path) {
  begin(Mode::kReplay);
  path_ = std::move(path);
}

// Random cases, to estimate the number of cases.
void Odometer::probe(Rng rng) {
  begin(Mode::kProbe);
  rng_ = rng;
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
    count_case();
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
  dropped_now_ = is_foreign_ = is_kept_ = false;
  return Turn::kCase;
}

// A case that ends before the parts differ belongs to the first of them; the others ran it for nothing.
void Odometer::count_case() noexcept {
  if (is_foreign_) {
    return;
  }
  if (dropped_now_) {
    ++dropped_;
  } else if (mode_ != Mode::kAll || shards_.size() <= digits_.size() || shards_.back().index == 0) {
    ++cases_;
  }
}

// Drops digits that are at their bound from the end, and raises the one before them. Returns false if none from `begin`
// on can be raised.
bool Odometer::raise_last(std::size_t begin) {
  while (digits_.size() > begin) {
    Digit& digit = digits_.back();
    if (!digit.is_last && digit.stride != 0 && digit.bound - digit.value >= digit.stride) {
      digit.value += digit.stride;
      shards_.resize(std::min(shards_.size(), digits_.size() + 1));
      return true;
    }
    digits_.pop_back();
  }
  shards_.resize(std::min(shards_.size(), digits_.size() + 1));
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
  Digit digit{.value = 0, .bound = bound, .stride = 1, .site = site};
  digit.value = first_value(digit);
  digit.is_last = is_kept_;
  if (mode_ == Mode::kAll && !is_foreign_ && shards_.size() == digits_.size() + 1 && shards_.back().count > 1) {
    split(digit);
  }
  digits_.push_back(digit);
  ++cursor_;
  return digit.value;
}

// Zero when counting through all, from the path when replaying, and random when probing.
std::uint64_t Odometer::first_value(const Digit& digit) {
  const std::size_t position = digits_.size();
  if (mode_ == Mode::kProbe) {
    return digit.bound == UINT64_MAX ? rng_.next() : rng_.below(digit.bound + 1);
  }
  if (mode_ == Mode::kReplay && position < path_.size()) {
    if (path_[position] > digit.bound) {
      throw PathError("choice " + std::to_string(position) + " of the path is " + std::to_string(path_[position]) +
                      "; the case offers " + options(digit.bound));
    }
    return path_[position];
  }
  return 0;
}

// With more values than parts, each part takes every count-th value. With fewer, several parts share a value and differ
// in the digits that follow.
void Odometer::split(Digit& digit) {
  ORDEAL_DCHECK(shards_.back().count > 1, "one part has nothing to split");
  const auto [index, count] = shards_.back();
  if (digit.bound >= count - 1) {
    digit.value = index;
    digit.stride = count;
    shards_.push_back({});
    return;
  }
  const std::uint64_t values = digit.bound + 1;
  digit.value = index % values;
  digit.stride = 0;
  shards_.push_back({.index = index / values, .count = (count - digit.value + values - 1) / values});
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

// All parts need the choices that follow, so this case counts only for the first.
bool Odometer::borrow(std::size_t begin) {
  ORDEAL_CHECK(digits_.size() == begin && cursor_ == begin, "begin=" << begin << " cursor=" << cursor_);
  if (mode_ != Mode::kAll || is_foreign_ || shards_.size() != begin + 1 || shards_.back().count == 1) {
    return false;
  }
  is_foreign_ = true;
  return true;
}

// The choices from `begin` on stay as they are in all later cases.
void Odometer::keep(std::size_t begin) {
  ORDEAL_CHECK(begin <= digits_.size(), "begin=" << begin << " digits=" << digits_.size());
  for (std::size_t i = begin; i < digits_.size(); ++i) {
    digits_[i].is_last = true;
  }
  is_kept_ = true;
}

// Saves the choices from `begin` on, with the split of the parts there, while others are tried.
void Odometer::hold(std::size_t begin) {
  ORDEAL_CHECK(begin <= cursor_ && cursor_ == digits_.size(), "begin=" << begin << " cursor=" << cursor_);
  held_.push_back({begin, fresh_from_, {digits_.begin() + static_cast<std::ptrdiff_t>(begin), digits_.end()}, shards_});
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
  shards_ = std::move(held.shards);
  fresh_from_ = held.fresh_from;
  cursor_ = digits_.size();
}

std::vector<std::uint64_t> Odometer::path() const {
  std::vector<std::uint64_t> path(cursor_);
  std::transform(digits_.begin(), digits_.begin() + static_cast<std::ptrdiff_t>(cursor_), path.begin(),
                 [](const Digit& digit) { return digit.value; });
  return path;
}

// The position of the current case among all, as a number in a mixed base. It is exact only if all cases have the same
// bounds, and never decreases.
double Odometer::progress() const noexcept {
  double before = 0;
  double width = 1;
  for (const Digit& digit : digits_) {
    if (digit.stride == 0) {
      continue;
    }
    const std::uint64_t highest = (digit.bound - digit.value % digit.stride) / digit.stride;
    const std::uint64_t place = digit.value / digit.stride;
    width /= static_cast<double>(highest) + 1;
    before += width * static_cast<double>(place);
  }
  return before;
}

// How many cases there would be if all had the bounds of the current one. D. Knuth's estimate for backtrack trees
// (Mathematics of Computation, 1975) is its mean over random cases.
double Odometer::suggested_size() const noexcept {
  double size = 1;
  for (std::size_t i = 0; i < cursor_; ++i) {
    size *= static_cast<double>(digits_[i].bound) + 1;
  }
  return size;
}

}  // namespace ordeal
