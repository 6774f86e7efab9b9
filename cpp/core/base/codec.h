// Packs and unpacks bytes with zstd; sizes that a file states are checked before anything is allocated.
//
// Pure functions, for any thread. They are for files and take milliseconds, so no step calls them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ordeal {

// Returns one zstd frame with a content checksum.
std::string compress(std::string_view data, int level = 9);

// Returns at most size_max bytes. Throws TraceError for anything but one complete frame within that limit.
std::string decompress(std::string_view packed, std::size_t size_max);

}  // namespace ordeal
