// A find: a checkpoint as one session gives it to another, in another process or on another machine.
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
struct Find {
  Tape prefix;
  std::vector<Feature> shows;
  double energy = kEnergyInitial;

  friend bool operator==(const Find&, const Find&) = default;
};

struct LoadedFinds {
  std::vector<Find> finds;
  std::size_t dropped = 0;  // that name what is no longer there
};

std::string encode_finds(const MachineNames& names, std::span<const Find> finds);

// Throws TraceError for bytes that encode_finds() cannot have written.
LoadedFinds decode_finds(std::string_view bytes, const MachineNames& now);

}  // namespace ordeal
