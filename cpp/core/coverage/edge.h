// The keys of locations and edges of the program under test: 64 bits, equal in every process, worker and resumed run.
//
// Pure functions, for any thread; constant expressions when the names are.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/rng.h"

namespace ordeal {

// Keys never contain an address, an absolute line or Python's hash(): moving a function within its file, another
// PYTHONHASHSEED or another order of imports must not change them.

// Folds one more word into a key; the order of words matters.
constexpr std::uint64_t combine_keys(std::uint64_t key, std::uint64_t word) noexcept {
  return mix64(key ^ mix64(word + 0x9E3779B97F4A7C15ULL));
}

// The key of a code object. `body_hash` distinguishes code objects of the same name (lambdas, property setters): it
// covers the instructions, their positions relative to the first line, and the names and constants used.
constexpr std::uint64_t code_key(std::string_view module_name, std::string_view qualified_name,
                                 std::uint64_t body_hash) noexcept {
  return combine_keys(combine_keys(hash_bytes(module_name), hash_bytes(qualified_name)), body_hash);
}

namespace detail {

enum class EdgeKind : std::uint64_t { kEntry = 1, kLine = 2, kBranch = 3 };

constexpr std::uint64_t edge_key(EdgeKind kind, std::uint64_t code, std::int64_t from, std::int64_t to) noexcept {
  const std::uint64_t key = combine_keys(code, static_cast<std::uint64_t>(kind));
  return combine_keys(combine_keys(key, static_cast<std::uint64_t>(from)), static_cast<std::uint64_t>(to));
}

}  // namespace detail

// The entry into a code object.
constexpr std::uint64_t entry_key(std::uint64_t code) noexcept {
  return detail::edge_key(detail::EdgeKind::kEntry, code, 0, 0);
}

// A line that ran; counted from the first line of the code object, and negative above it.
constexpr std::uint64_t line_key(std::uint64_t code, std::int64_t line_in_code) noexcept {
  return detail::edge_key(detail::EdgeKind::kLine, code, line_in_code, 0);
}

// One side of a branch: instruction offsets in bytes, from → to.
constexpr std::uint64_t branch_key(std::uint64_t code, std::int64_t from, std::int64_t to) noexcept {
  return detail::edge_key(detail::EdgeKind::kBranch, code, from, to);
}

}  // namespace ordeal
