// Writes the state of a session and the tapes beside it as bytes, and reads them back for the machine as it is now.
//
// What is read is hostile until it is checked: every count against the bytes that are left, every index against its
// table, every value against its range.
//
// Functions of their arguments alone, for any thread. O(bytes), and no more memory than a small multiple of them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/search/session_state.h"
#include "core/tape/name_codec.h"
#include "core/tape/tape.h"

namespace ordeal {

struct LoadedState {
  SessionState session;
  std::vector<std::optional<Tape>> tapes;  // nothing in the place of one that names what is no longer there
  std::size_t tapes_in_file = 0;           // the prefixes of checkpoints included
  std::size_t tapes_dropped = 0;
  // Rules, initialize rules or faults are others, or in another order. Then what counts by their numbers is left out:
  // the history of the swarm, and features.
  bool machine_changed = false;
};

std::string encode_state(const MachineNames& names, const SessionState& session, std::span<const Tape> tapes);

// Throws TraceError for bytes that encode_state() cannot have written.
LoadedState decode_state(std::string_view bytes, const MachineNames& now);

}  // namespace ordeal
