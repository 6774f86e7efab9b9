// Writes choices and tapes as bytes, and reads them back for the machine as it is now.
//
// Functions of their arguments alone, for any thread. The bytes are part of the state file and of what sessions share:
// a change of them is a new version of these formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/tape/choice.h"
#include "core/tape/tape.h"

namespace ordeal {

// By index at the time of writing, the index now.
struct Renaming {
  static constexpr std::uint32_t kGone = UINT32_MAX;  // no longer there

  std::vector<std::uint32_t> rules;
  std::vector<std::uint32_t> initializers;
  std::vector<std::uint32_t> faults;
  std::vector<std::uint32_t> arguments;

  [[nodiscard]] const std::vector<std::uint32_t>& of(StepKind kind) const noexcept {
    if (is_fault(kind)) {
      return faults;
    }
    return kind == StepKind::kInitialize ? initializers : rules;
  }
};

// The fewest bytes that a choice takes.
inline constexpr std::size_t kChoiceBytesMin = 2;

void write_choice(ByteWriter& out, const Choice& choice);
void write_tape(ByteWriter& out, const Tape& tape);

// These throw TraceError for bytes that the ones above cannot have written.
Choice read_choice(ByteReader& in);
// Nothing for a tape that names what is no longer there.
std::optional<Tape> read_tape(ByteReader& in, const Renaming& renaming);

}  // namespace ordeal
