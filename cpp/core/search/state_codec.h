// Writes the state of a session and the tapes with it as bytes, and reads them back for the present machine.
//
// Input is hostile until checked: every count against the bytes that are left, every index against its table, every
// value against its range.
//
// Pure functions, for any thread. O(bytes), and no more memory than a small multiple of them.
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
  std::vector<std::optional<Tape>> tapes;  // nothing for one that names what no longer exists
  std::size_t tapes_in_file = 0;           // including the prefixes of checkpoints
  std::size_t tapes_dropped = 0;
  // The rules, initialize rules or faults or their order have changed. Then everything keyed by their indices is left
  // out: the history of the swarm, and features.
  bool machine_changed = false;
};

std::string encode_state(const MachineNames& names, const SessionState& session, std::span<const Tape> tapes);

// Throws TraceError for bytes that encode_state() cannot have written.
LoadedState decode_state(std::string_view bytes, const MachineNames& now);

}  // namespace ordeal
