// Writes choices and tapes as bytes, and reads them back for the present machine.
//
// Pure functions, for any thread. The bytes are part of the state file and of what sessions share: changing them makes
// a new version of these formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/tape/choice.h"
#include "core/tape/tape.h"

namespace ordeal {

// Maps an index at the time of writing to the present index.
struct Renaming {
  static constexpr std::uint32_t kGone = UINT32_MAX;  // no longer exists

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

// The minimum size of a choice.
inline constexpr std::size_t kChoiceBytesMin = 2;

void write_choice(ByteWriter& out, const Choice& choice);
void write_tape(ByteWriter& out, const Tape& tape);

// Both throw TraceError for bytes that the functions above cannot have written.
Choice read_choice(ByteReader& in);
// Nothing for a tape that names what no longer exists.
std::optional<Tape> read_tape(ByteReader& in, const Renaming& renaming);

}  // namespace ordeal
