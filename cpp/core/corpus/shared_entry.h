// A shared entry: a checkpoint that one session gives to another, in another process or on another machine.
//
// Value types and pure functions, for any thread. It carries features by name and no coverage by id, as ids belong to
// one process.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/corpus/power_schedule.h"
#include "core/coverage/features.h"
#include "core/tape/name_codec.h"
#include "core/tape/tape.h"

namespace ordeal {

// The tape that leads to a state, and the features first shown there. The receiver runs the tape: no state is shared.
struct SharedEntry {
  Tape prefix;
  std::vector<Feature> shows;
  double energy = kEnergyInitial;

  friend bool operator==(const SharedEntry&, const SharedEntry&) = default;
};

struct LoadedEntries {
  std::vector<SharedEntry> entries;
  std::size_t dropped = 0;  // entries that name what no longer exists
};

std::string encode_entries(const MachineNames& names, std::span<const SharedEntry> entries);

// Throws TraceError for bytes that encode_entries() cannot have written.
LoadedEntries decode_entries(std::string_view bytes, const MachineNames& now);

}  // namespace ordeal
