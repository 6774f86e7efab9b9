// Writes the names of features as bytes, and reads them back.
//
// Pure functions, for any thread.
#pragma once

#include <cstddef>

#include "core/base/byte_stream.h"
#include "core/coverage/features.h"

namespace ordeal {

inline constexpr std::size_t kFeatureBytes = 9;

inline void write_feature(ByteWriter& out, const Feature& feature) {
  out.byte(static_cast<std::uint8_t>(feature.kind));
  out.word(feature.key);
}

// Throws TraceError for bytes that write_feature() cannot have written.
inline Feature read_feature(ByteReader& in) {
  const std::uint64_t kind = in.number("a kind of feature", kFeatureKinds - 1);
  return {static_cast<FeatureKind>(kind), in.word("a feature")};
}

}  // namespace ordeal
