// Writes what a session knows of values as bytes, and reads it back: the pool, and the search for operands.
#pragma once

#include <span>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/cmplog/operand_search.h"
#include "core/draw/value_pool.h"
#include "core/tape/tape_codec.h"

namespace ordeal {

void write_values(ByteWriter& out, std::span<const ShelvedValue> values);
void write_operand_search(ByteWriter& out, const OperandSearchState& search);

// These throw TraceError for bytes that the ones above cannot have written.
std::vector<ShelvedValue> read_values(ByteReader& in);
// Without the tapes that name what is no longer there.
OperandSearchState read_operand_search(ByteReader& in, const Renaming& renaming);

}  // namespace ordeal
