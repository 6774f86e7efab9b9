#include "core/tape/prefix.h"

#include <algorithm>
#include <ranges>
#include <utility>
#include <vector>

#include "core/base/check.h"

namespace ordeal {

// Holds the steps of `tape` from `first` on; those before are held by the part before.
Prefix::Part::Part(std::shared_ptr<Part> comes_after, const Tape& tape, std::size_t first)
    : before(std::move(comes_after)), end(tape.size()) {
  steps.append(tape, first, tape.size());
  bytes = sizeof(Part) + steps.bytes();
  bytes_up_to = bytes + (before == nullptr ? 0 : before->bytes_up_to);
}

// Deletes the parts that no other prefix uses, one after the other: a chain of 9,000 of them would overflow the stack
// if each destructor called the next.
Prefix::Part::~Part() {
  std::shared_ptr<Part> next = std::move(before);
  while (next != nullptr && next.use_count() == 1) {
    std::shared_ptr<Part> further = std::move(next->before);
    next = std::move(further);
  }
}

// Shares all parts of `begin`. A tape that adds nothing to it needs no new part.
Prefix::Prefix(const Prefix& begin, const Tape& tape) : last_(begin.last_) {
  ORDEAL_CHECK(begin.size() <= tape.size(), begin.size() << " steps begin a tape of " << tape.size());
  ORDEAL_DCHECK(begin.begins(tape), "a tape of " << tape.size() << " steps begins otherwise");
  if (begin.size() < tape.size()) {
    last_ = std::make_shared<Part>(begin.last_, tape, begin.size());
  }
}

// Starts from the end, where differences are likely.
bool Prefix::begins(const Tape& tape) const {
  if (size() > tape.size()) {
    return false;
  }
  for (const Part* part = last_.get(); part != nullptr; part = part->before.get()) {
    if (!tape.has_steps(part->end - part->steps.size(), part->steps)) {
      return false;
    }
  }
  return true;
}

Tape Prefix::tape(std::size_t first, std::size_t end) const {
  Tape out;
  append_to(out, first, end);
  return out;
}

void Prefix::copy_to(Tape& out) const {
  out.clear();
  append_to(out, 0, size());
}

// A part knows only the one before it, so the parts are gathered from the last one on and then copied in their order.
// O(parts + choices copied).
void Prefix::append_to(Tape& out, std::size_t first, std::size_t end) const {
  ORDEAL_CHECK(first <= end && end <= size(), "steps " << first << " to " << end << " of " << size());
  std::vector<const Part*> parts;
  for (const Part* part = last_.get(); part != nullptr && part->end > first; part = part->before.get()) {
    parts.push_back(part);
  }
  for (const Part* const part : parts | std::views::reverse) {
    const std::size_t begin = part->end - part->steps.size();
    if (begin < end) {
      out.append(part->steps, std::max(first, begin) - begin, std::min(end, part->end) - begin);
    }
  }
}

}  // namespace ordeal
