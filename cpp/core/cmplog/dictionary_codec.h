// Writes what a session knows about values as bytes, and reads it back: the dictionary and the state of cmplog.
//
// Pure functions, for any thread.
#pragma once

#include <span>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/cmplog/cmplog.h"
#include "core/draw/dictionary.h"
#include "core/tape/tape_codec.h"

namespace ordeal {

void write_values(ByteWriter& out, std::span<const DictionaryEntry> values);
void write_cmplog(ByteWriter& out, const CmplogState& search);

// Both throw TraceError for bytes that the functions above cannot have written.
std::vector<DictionaryEntry> read_values(ByteReader& in);
// Leaves out tapes that name what no longer exists.
CmplogState read_cmplog(ByteReader& in, const Renaming& renaming);

}  // namespace ordeal
