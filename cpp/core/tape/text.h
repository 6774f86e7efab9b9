// Strings as rows of characters, and which characters are simpler than others.
//
// Functions of their arguments alone, for any thread. The core knows strings as UTF-8, Python as characters; lengths
// and orders are those of characters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ordeal {

// Whether these bytes are UTF-8, in which surrogates may stand, as strings of Python hold them.
bool is_text(std::string_view text) noexcept;

// UTF-8 in which surrogates may be encoded as if they were characters; what is not UTF-8 is read byte by byte.
std::u32string characters_of(std::string_view utf8);
std::string utf8_of(std::u32string_view characters);

// The shrink order of characters that users of Hypothesis know: '0' to 'Z' as they come, then what lies below '0' from
// there downwards, then what lies above 'Z'. A bijection with its inverse.
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
