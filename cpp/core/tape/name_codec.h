// Writes the names of a machine's parts as bytes, and finds the parts that they name in the machine as it is now.
//
// Tapes are keyed by names: what is written begins with the names of rules, initialize rules, faults and arguments, so
// that it outlives changes of the test class.
//
// Functions of their arguments alone, for any thread. O(n log n) in the names.
#pragma once

#include <string>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/tape/tape_codec.h"

namespace ordeal {

// The names behind the indexes in a tape, by index. Two faults may have one name: then their order tells them apart.
struct MachineNames {
  std::vector<std::string> rules;
  std::vector<std::string> initializers;
  std::vector<std::string> faults;
  std::vector<std::string> arguments;
};

void write_machine_names(ByteWriter& out, const MachineNames& names);

// Throws TraceError for bytes that write_machine_names() cannot have written.
MachineNames read_machine_names(ByteReader& in);

// The n-th of a name stands for the n-th.
Renaming renaming_of(const MachineNames& then, const MachineNames& now);

}  // namespace ordeal
