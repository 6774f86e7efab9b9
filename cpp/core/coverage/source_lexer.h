// Splits Python source into logical lines of tokens, without a parser. Used by the scan of a source alone. O(n).
//
// In source that is not valid it may find anything, and it ends. Tokens are views into the source.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace ordeal::python_source {

enum class TokenKind : std::uint8_t { kName, kKeyword, kNumber, kText, kFormatted, kOperator };

struct Token {
  TokenKind kind = TokenKind::kOperator;
  std::string_view text;
  std::uint32_t line = 0;
};

// A line as the grammar counts them: it goes on in brackets and after a backslash.
struct LogicalLine {
  std::vector<Token> tokens;
  std::uint32_t column = 0;  // of its first token, with tabs as the interpreter counts them
  std::uint32_t indent = 0;  // characters before it
  std::uint32_t last = 0;    // its last line
};

// Those that cannot be part of a computed number. Names of values (None, True) are names.
inline constexpr std::array<std::string_view, 32> kKeywords{
    "and",      "as",     "assert",  "async", "await", "break",  "class", "continue", "def",  "del",  "elif",
    "else",     "except", "finally", "for",   "from",  "global", "if",    "import",   "in",   "is",   "lambda",
    "nonlocal", "not",    "or",      "pass",  "raise", "return", "try",   "while",    "with", "yield"};
inline constexpr std::array<std::string_view, 13> kHeaders{"if",      "elif", "else", "while", "for",   "try", "except",
                                                           "finally", "with", "def",  "class", "match", "case"};
inline constexpr std::array<std::string_view, 5> kLongOperators{"**", "//", "<<", ">>", ":="};

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_name_start(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
constexpr bool is_name_part(char c) noexcept { return is_name_start(c) || is_digit(c); }
constexpr bool is_quote(char c) noexcept { return c == '"' || c == '\''; }
constexpr bool is_opening(char c) noexcept { return c == '(' || c == '[' || c == '{'; }
constexpr bool is_closing(char c) noexcept { return c == ')' || c == ']' || c == '}'; }

template <std::size_t size>
bool is_one_of(const std::array<std::string_view, size>& words, std::string_view word) noexcept {
  return std::ranges::find(words, word) != words.end();
}

inline bool is_prefix_of_text(std::string_view word) noexcept {
  return word.size() <= 2 && word.find_first_not_of("rRbBuUfFtT") == std::string_view::npos;
}

inline bool is_formatted(std::string_view prefix) noexcept {
  return prefix.find_first_of("fFtT") != std::string_view::npos;
}

// Splits source into logical lines.
class Lexer {
 public:
  explicit Lexer(std::string_view source) noexcept : source_(source) {}

  // False at the end. Lines without a token are passed over. The caller's line is filled anew, and its room is used
  // again, so that a source of any length costs the memory of its longest line.
  //
  // A bracket that closes nothing is a token as any other. One that is never closed makes the rest of the source one
  // line: that is wrong where the source is, and still ends.
  bool next(LogicalLine& line) {
    line.tokens.clear();
    std::uint32_t depth = 0;
    begin_line(line);
    while (at_ < source_.size()) {
      const char c = source_[at_];
      if (c == '\n') {
        ++at_;
        ++line_;
        if (depth == 0 && !line.tokens.empty()) {
          return true;
        }
        if (depth == 0) {
          begin_line(line);
        }
        continue;
      }
      if (c == '#') {
        at_ = std::min(source_.find('\n', at_), source_.size());
      } else if (c == '\\' && at_ + 1 < source_.size() && source_[at_ + 1] == '\n') {
        at_ += 2;
        ++line_;
      } else if (c == ' ' || c == '\t' || c == '\f' || c == '\r') {
        ++at_;
      } else {
        if (is_opening(c)) {
          ++depth;
        } else if (is_closing(c) && depth > 0) {
          --depth;
        }
        line.tokens.push_back(token());
        line.last = line_;
      }
    }
    return !line.tokens.empty();
  }

 private:
  // The blanks before a line. Tabs count to the next multiple of eight, as the reference of the language says.
  void begin_line(LogicalLine& line) noexcept {
    line.column = line.indent = 0;
    for (; at_ < source_.size(); ++at_, ++line.indent) {
      if (source_[at_] == ' ') {
        ++line.column;
      } else if (source_[at_] == '\t') {
        line.column = (line.column / kTab + 1) * kTab;
      } else if (source_[at_] == '\f') {
        line.column = 0;
      } else {
        return;
      }
    }
  }

  Token token() noexcept {
    const std::size_t begin = at_;
    const std::uint32_t line = line_;
    const TokenKind kind = pass_token();
    return {kind, source_.substr(begin, at_ - begin), line};
  }

  // Passes over one token, whose first character is no blank. It takes one character at least, so that scanning ends.
  TokenKind pass_token() noexcept {
    const char c = source_[at_];
    if (is_name_start(c)) {
      const std::size_t begin = at_;
      pass_name();
      const std::string_view word = source_.substr(begin, at_ - begin);
      if (at_ < source_.size() && is_quote(source_[at_]) && is_prefix_of_text(word)) {
        return pass_text(is_formatted(word));
      }
      return is_one_of(kKeywords, word) ? TokenKind::kKeyword : TokenKind::kName;
    }
    if (is_digit(c) || (c == '.' && at_ + 1 < source_.size() && is_digit(source_[at_ + 1]))) {
      pass_number();
      return TokenKind::kNumber;
    }
    if (is_quote(c)) {
      return pass_text(false);
    }
    at_ += is_one_of(kLongOperators, source_.substr(at_, 2)) ? 2U : 1U;
    return TokenKind::kOperator;
  }

  void pass_name() noexcept {
    while (at_ < source_.size() && is_name_part(source_[at_])) {
      ++at_;
    }
  }

  // With the sign of an exponent.
  void pass_number() noexcept {
    const bool has_base = source_[at_] == '0' && at_ + 1 < source_.size() && (source_[at_ + 1] | 0x20) == 'x';
    char before = 0;
    for (; at_ < source_.size(); before = source_[at_++]) {
      const char c = source_[at_];
      const bool is_sign = (c == '+' || c == '-') && !has_base && (before | 0x20) == 'e';
      if (!is_name_part(c) && c != '.' && !is_sign) {
        return;
      }
    }
  }

  // Stands on the opening quote, behind the prefix.
  TokenKind pass_text(bool formatted) noexcept {
    const char quote = source_[at_];
    const bool triple = source_.substr(at_, 3) == std::string_view(std::array{quote, quote, quote}.data(), 3);
    at_ += triple ? 3U : 1U;
    pass_content(quote, triple, formatted);
    return formatted ? TokenKind::kFormatted : TokenKind::kText;
  }

  // To the end of the text, or of the line where the text does not end.
  void pass_content(char quote, bool triple, bool formatted) noexcept {
    while (at_ < source_.size()) {
      const char c = source_[at_];
      if (c == quote && ends(quote, triple)) {
        at_ += triple ? 3U : 1U;
        return;
      }
      if (c == '\n') {
        if (!triple) {
          return;
        }
        ++line_;
        ++at_;
      } else if (c == '\\') {
        pass_escape();
      } else if (formatted && c == '{') {
        pass_replacement();
      } else {
        ++at_;
      }
    }
  }

  [[nodiscard]] bool ends(char quote, bool triple) const noexcept {
    const auto is_quote_at = [&](std::size_t at) { return at < source_.size() && source_[at] == quote; };
    return !triple || (is_quote_at(at_ + 1) && is_quote_at(at_ + 2));
  }

  void pass_escape() noexcept {
    line_ += at_ + 1 < source_.size() && source_[at_ + 1] == '\n' ? 1U : 0U;
    at_ = std::min(at_ + 2, source_.size());
  }

  // In an f-string: "{{", or an expression with what may follow it (":" and a format, in which there may be others).
  void pass_replacement() noexcept {
    ++at_;
    if (at_ < source_.size() && source_[at_] == '{') {
      ++at_;
      return;
    }
    if (++nested_ > kNestedMax) {
      --nested_;
      return;
    }
    bool in_format = false;
    std::uint32_t depth = 0;
    while (at_ < source_.size()) {
      const char c = source_[at_];
      if (c == '}' && depth == 0) {
        ++at_;
        break;
      }
      if (in_format) {
        if (is_quote(c) || c == '\n') {
          break;
        }
        if (c == '{') {
          pass_replacement();
        } else {
          ++at_;
        }
        continue;
      }
      if (c == '\n') {
        ++line_;
        ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\\' || c == '!') {
        ++at_;
      } else if (c == '#') {
        at_ = std::min(source_.find('\n', at_), source_.size());
      } else if (c == ':' && depth == 0) {
        in_format = true;
        ++at_;
      } else {
        depth += is_opening(c) ? 1U : 0U;
        depth -= is_closing(c) && depth > 0 ? 1U : 0U;
        pass_token();
      }
    }
    --nested_;
  }

  static constexpr std::uint32_t kTab = 8;
  static constexpr int kNestedMax = 32;

  std::string_view source_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  int nested_ = 0;
};

inline bool is_operator(const Token& token, std::string_view text) noexcept {
  return token.kind == TokenKind::kOperator && token.text == text;
}

inline bool is_word(const Token& token, std::string_view text) noexcept {
  return (token.kind == TokenKind::kKeyword || token.kind == TokenKind::kName) && token.text == text;
}

}  // namespace ordeal::python_source
