// Writes the names of a machine's parts as bytes, and finds these parts in the present machine.
//
// Tapes are keyed by names: a file begins with the names of rules, initialize rules, faults and arguments, so that it
// outlives changes of the test class.
//
// Pure functions, for any thread. O(n log n) in the names.
#pragma once

#include <string>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/tape/tape_codec.h"

namespace ordeal {

// The names for the indices in a tape. Two faults may have the same name: then their order distinguishes them.
struct MachineNames {
  std::vector<std::string> rules;
  std::vector<std::string> initializers;
  std::vector<std::string> faults;
  std::vector<std::string> arguments;
};

void write_machine_names(ByteWriter& out, const MachineNames& names);

// Throws TraceError for bytes that write_machine_names() cannot have written.
MachineNames read_machine_names(ByteReader& in);

// The n-th part of a name corresponds to the n-th part of that name now.
Renaming renaming_of(const MachineNames& then, const MachineNames& now);

}  // namespace ordeal
