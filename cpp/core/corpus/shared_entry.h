// A shared entry: a checkpoint as one session gives it to another, in another process or on another machine.
//
// Value types and functions of them, for any thread. It carries features by name and no coverage by id, as ids are of
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

// The tape that leads to a state, and what reaching it showed first. Who takes it runs the tape: no state is shared.
struct SharedEntry {
  Tape prefix;
  std::vector<Feature> shows;
  double energy = kEnergyInitial;

  friend bool operator==(const SharedEntry&, const SharedEntry&) = default;
};

struct LoadedEntries {
  std::vector<SharedEntry> entries;
  std::size_t dropped = 0;  // that name what is no longer there
};

std::string encode_entries(const MachineNames& names, std::span<const SharedEntry> entries);

// Throws TraceError for bytes that encode_entries() cannot have written.
LoadedEntries decode_entries(std::string_view bytes, const MachineNames& now);

}  // namespace ordeal
