// The steps that lead to a checkpoint. Steps that two prefixes have in common are stored once.
//
// A run keeps several checkpoints, and other runs start from them, so all prefixes together form a tree.
#pragma once

#include <cstddef>
#include <memory>

#include "core/tape/tape.h"

namespace ordeal {

// An immutable value type; a copy is one pointer. Prefixes that share parts must not be used by two threads at once.
class Prefix {
 public:
  // Some steps, which follow those of another part.
  struct Part {
    Part(std::shared_ptr<Part> comes_after, const Tape& tape, std::size_t first);
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    // Does not recurse: a chain may have one part per step.
    ~Part();

    std::shared_ptr<Part> before;
    Tape steps;
    std::size_t end = 0;          // the number of steps up to the last one of this part
    std::size_t bytes = 0;        // of this part
    std::size_t bytes_up_to = 0;  // of this part and all before it
  };

  Prefix() = default;
  explicit Prefix(const Tape& tape) : Prefix(Prefix(), tape) {}
  // All of `tape`, which must begin with the steps of `begin`; only the others are copied.
  Prefix(const Prefix& begin, const Tape& tape);

  [[nodiscard]] std::size_t size() const noexcept { return last_ == nullptr ? 0 : last_->end; }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  // Of all its steps, including shared ones.
  [[nodiscard]] std::size_t bytes() const noexcept { return last_ == nullptr ? 0 : last_->bytes_up_to; }
  // The last part, from which `before` leads to the others, to measure many prefixes together. Null if empty.
  [[nodiscard]] const Part* last() const noexcept { return last_.get(); }

  // Whether `tape` begins with these steps. O(choices).
  [[nodiscard]] bool begins(const Tape& tape) const;
  // A copy of all steps, or of [first, end). O(choices copied), plus O(parts) after `first`.
  [[nodiscard]] Tape tape() const { return tape(0, size()); }
  [[nodiscard]] Tape tape(std::size_t first, std::size_t end) const;
  // Replaces the content of `out` with all steps and reuses its memory.
  void copy_to(Tape& out) const;

 private:
  void append_to(Tape& out, std::size_t first, std::size_t end) const;

  std::shared_ptr<Part> last_;
};

}  // namespace ordeal
