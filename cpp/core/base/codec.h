// Packs and unpacks bytes with zstd; sizes that a file claims are checked before anything is allocated.
//
// Functions of their arguments alone, for any thread. They are for files and take
// milliseconds, so that no step calls them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ordeal {

// One zstd frame with a content checksum.
std::string compress(std::string_view data, int level = 9);

// At most size_max bytes come out. Throws TraceError for anything that is not one whole frame within that limit.
std::string decompress(std::string_view packed, std::size_t size_max);

}  // namespace ordeal
