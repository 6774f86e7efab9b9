#include "core/coverage/coverage_hits.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/base/error.h"

namespace ordeal {
namespace {

constexpr std::uint32_t kHitsMax = 128;
constexpr std::size_t kEdgeSize = 9;

}  // namespace

// Nine bytes an edge: its key, for ids are of one process, and how often it ran.
std::string take_hits(CoverageMap& map) {
  ByteWriter writer;
  writer.number(map.touched().size());
  for (const std::uint32_t edge : map.touched()) {
    writer.word(map.key(edge));
    writer.byte(static_cast<std::uint8_t>(map.hits(edge)));
  }
  map.begin_run();
  return std::move(writer).take();
}

// Reads everything before it adds anything: bytes that are refused leave the map as it was.
void add_hits(CoverageMap& map, std::string_view bytes, bool counted) {
  ByteReader reader(bytes);
  const std::size_t count = reader.count("the number of edges", kEdgeSize);
  std::vector<std::pair<std::uint64_t, std::uint32_t>> edges;
  edges.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t key = reader.word("an edge");
    const std::uint32_t hits = reader.byte("the hits of an edge");
    if (hits < 1 || hits > kHitsMax) {
      throw TraceError("an edge has " + std::to_string(hits) + " hits; it must have between 1 and " +
                       std::to_string(kHitsMax));
    }
    edges.emplace_back(key, hits);
  }
  reader.check_end();
  for (const auto& [key, hits] : edges) {
    const std::uint32_t edge = map.add_edge(key);
    if (!counted) {
      map.mark(edge);
    }
    for (std::uint32_t i = 0; counted && i < hits; ++i) {
      map.hit(edge);
    }
  }
}

}  // namespace ordeal
