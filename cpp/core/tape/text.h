// Strings as sequences of characters, and which characters are simpler than others.
//
// Pure functions, for any thread. The core stores strings as UTF-8, Python as characters; lengths and orders refer to
// characters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ordeal {

// Whether these bytes are UTF-8, possibly with encoded surrogates, as strings of Python may hold them.
bool is_text(std::string_view text) noexcept;

// Decodes UTF-8 with possibly encoded surrogates; anything else is read byte by byte.
std::u32string characters_of(std::string_view utf8);
std::string utf8_of(std::u32string_view characters);

// The shrink order of characters that users of Hypothesis know: '0' to 'Z' in order, then those below '0' downwards,
// then those above 'Z'. A bijection with its inverse.
constexpr std::uint32_t rank_of_character(char32_t c) noexcept {
  constexpr std::uint32_t kDigitsToZ = U'Z' - U'0' + 1;
  if (c > U'Z') {
    return c;
  }
  return c >= U'0' ? c - U'0' : kDigitsToZ + (U'0' - 1 - c);
}

constexpr char32_t character_of_rank(std::uint32_t rank) noexcept {
  constexpr std::uint32_t kDigitsToZ = U'Z' - U'0' + 1;
  if (rank > U'Z') {
    return static_cast<char32_t>(rank);
  }
  return static_cast<char32_t>(rank < kDigitsToZ ? U'0' + rank : U'0' - 1 - (rank - kDigitsToZ));
}

}  // namespace ordeal
