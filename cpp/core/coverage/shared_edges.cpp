#include "core/coverage/shared_edges.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <string>

#include "core/base/error.h"

namespace ordeal {
namespace {

using SharedWord = std::atomic_ref<std::uint64_t>;

static_assert(SharedWord::is_always_lock_free, "a lock would be of one process");
static_assert(SharedWord::required_alignment <= SharedEdges::kAlignment);
static_assert(SharedEdges::kDefaultBytes / sizeof(std::uint64_t) > SharedEdges::kProbes);

}  // namespace

// The memory is zeroed, as from the system, or as another process left it: both are valid sets.
SharedEdges::SharedEdges(std::span<std::byte> memory) {
  if (memory.size() < kDefaultBytes || memory.size() > kBytesMax) {
    throw ConfigError("a set of shared edges has " + std::to_string(memory.size()) + " bytes; it must have " +
                      std::to_string(kDefaultBytes) + " to " + std::to_string(kBytesMax));
  }
  if (std::bit_cast<std::uintptr_t>(memory.data()) % kAlignment != 0) {
    throw ConfigError("a set of shared edges begins at an address that is not a multiple of " +
                      std::to_string(kAlignment));
  }
  places_ = {reinterpret_cast<std::uint64_t*>(memory.data()), std::bit_floor(memory.size() / sizeof(std::uint64_t))};
}

// Relaxed throughout: a key is self-contained, and nothing else is read because of it.

// True when the key is in the table afterwards. It gives up after kProbes places, as the table does not grow: an edge
// that is not shared is found by the other sessions themselves.
bool SharedEdges::insert(std::uint64_t key) noexcept {
  if (key == kFree || key == kErased) {
    return false;
  }
  for (std::size_t probe = 0; probe < kProbes; ++probe) {
    const SharedWord there(places_[place(key, probe)]);
    std::uint64_t found = there.load(std::memory_order_relaxed);
    if (found == kFree && there.compare_exchange_strong(found, key, std::memory_order_relaxed)) {
      return true;
    }
    if (found == key) {
      return true;
    }
  }
  return false;
}

// Leaves a mark instead of a gap, so that keys placed after it are still found.
void SharedEdges::erase(std::uint64_t key) noexcept {
  for (std::size_t probe = 0; key != kFree && probe < kProbes; ++probe) {
    std::uint64_t found = key;
    if (SharedWord(places_[place(key, probe)]).compare_exchange_strong(found, kErased, std::memory_order_relaxed) ||
        found == kFree) {
      return;
    }
  }
}

// Stops at an unused place: the key would have been inserted there.
bool SharedEdges::holds(std::uint64_t key) const noexcept {
  for (std::size_t probe = 0; key != kErased && probe < kProbes; ++probe) {
    const std::uint64_t found = SharedWord(places_[place(key, probe)]).load(std::memory_order_relaxed);
    if (found == key || found == kFree) {
      return found != kFree;
    }
  }
  return false;
}

// Leaves out keys in impossible places, which damaged memory may hold. A key may occur twice when two processes
// inserted it at the same time.
std::vector<std::uint64_t> SharedEdges::keys() const {
  std::vector<std::uint64_t> keys;
  for (std::size_t at = 0; at < places_.size(); ++at) {
    const std::uint64_t key = SharedWord(places_[at]).load(std::memory_order_relaxed);
    const bool stands_there = ((at - place(key, 0)) & (places_.size() - 1)) < kProbes;
    if (key != kFree && key != kErased && stands_there) {
      keys.push_back(key);
    }
  }
  std::ranges::sort(keys);
  keys.erase(std::ranges::unique(keys).begin(), keys.end());
  return keys;
}

}  // namespace ordeal
