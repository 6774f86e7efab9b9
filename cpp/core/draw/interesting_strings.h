// Texts that programs are known to misread, or to break on.
//
// Constant. Each must be UTF-8. Their order decides which one a draw returns, so new ones go to the end, and still
// change draws.
#pragma once

#include <array>
#include <string_view>

namespace ordeal {

// UTF-8. Texts that parsers read as values, that formats and shells treat specially, and characters that change under
// case folding, normalization or encoding.
inline constexpr std::array<std::string_view, 64> kInterestingStrings{
    "null",
    "None",
    "undefined",
    "nan",
    "NaN",
    "inf",
    "-inf",
    "Infinity",
    "true",
    "True",
    "false",
    "False",
    "yes",
    "no",
    "0",
    "-0",
    "1",
    "-1",
    "00",
    "0.0",
    "1.0",
    "1e309",
    "1e-400",
    "1_000",
    "0x10",
    "0o7",
    "1,000",
    "2147483648",
    "9223372036854775808",
    " ",
    "  ",
    "\t",
    "\n",
    "\r\n",
    " a ",
    "a\nb",
    "\"",
    "'",
    "\"\"",
    "\\",
    "\\n",
    "/",
    "..",
    "../",
    "a/b",
    "a.b",
    ",",
    ";",
    "a,b",
    "a=b",
    "#",
    "%",
    "%s",
    "%00",
    "{}",
    "{0}",
    "[]",
    "<a>",
    "&amp;",
    "__init__",
    "\xC3\x9F",          // a sharp s: two letters in upper case
    "\xC4\xB0",          // a dotted capital I: two characters in lower case
    "e\xCC\x81",         // an e and a combining accent: one character when composed
    "\xF0\x9F\x91\xA9",  // beyond 16 bits
};

}  // namespace ordeal
