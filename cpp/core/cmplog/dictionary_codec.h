// Writes what a session knows of values as bytes, and reads it back: the dictionary, and the search for operands.
//
// Functions of their arguments alone, for any thread.
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

// These throw TraceError for bytes that the ones above cannot have written.
std::vector<DictionaryEntry> read_values(ByteReader& in);
// Without the tapes that name what is no longer there.
CmplogState read_cmplog(ByteReader& in, const Renaming& renaming);

}  // namespace ordeal
