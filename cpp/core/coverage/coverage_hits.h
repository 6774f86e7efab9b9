// What ran in one step, as bytes: so that a process tells another one what its coverage map would have been told.
//
// For steps that run in a forked process: its map dies with it. Thread-compatible, as the map is.
#pragma once

#include <string>
#include <string_view>

#include "core/coverage/coverage_map.h"

namespace ordeal {

// The edges that the map has counted since its run began, each with its hits, by key: ids differ between processes.
// The counters then start again at zero, as at the start of a run.
std::string take_hits(CoverageMap& map);

// Has the map count what another has counted: passages, or with `counted` false only that the edges ran. Throws
// TraceError for bytes that take_hits() cannot have written, and then leaves the map as it was.
void add_hits(CoverageMap& map, std::string_view bytes, bool counted);

}  // namespace ordeal
