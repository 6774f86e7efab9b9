// Draws outside any run: made once on a separate tape and then repeated, to check whether two ways to draw agree.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/draw/choice_source.h"
#include "core/tape/choice.h"
#include "core/tape/tape.h"

namespace ordeal {

// The source must not outlive it.
class Redraw {
 public:
  // The first draws are random, from a stream of that name.
  explicit Redraw(std::uint64_t seed, std::string_view stream = "rehearsal");
  // The first draws have been made elsewhere.
  explicit Redraw(std::span<const Choice> choices);
  Redraw(const Redraw&) = delete;
  Redraw& operator=(const Redraw&) = delete;

  [[nodiscard]] ChoiceSource& source() noexcept { return source_; }
  // From now on the source reads what it wrote before, or what the last repetition read.
  void repeat();
  // Whether the draws since then took every choice unchanged, and all of them.
  [[nodiscard]] bool matches() const;

 private:
  void begin();

  Tape made_;
  Tape repeated_;
  ChoiceSource source_;
};

}  // namespace ordeal
