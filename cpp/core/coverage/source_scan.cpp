#include "core/coverage/source_scan.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <iterator>
#include <span>

#include <tsl/robin_set.h>

namespace ordeal {
namespace {

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
constexpr std::array<std::string_view, 32> kKeywords{
    "and",      "as",     "assert",  "async", "await", "break",  "class", "continue", "def",  "del",  "elif",
    "else",     "except", "finally", "for",   "from",  "global", "if",    "import",   "in",   "is",   "lambda",
    "nonlocal", "not",    "or",      "pass",  "raise", "return", "try",   "while",    "with", "yield"};
constexpr std::array<std::string_view, 13> kHeaders{"if",      "elif", "else", "while", "for",   "try", "except",
                                                    "finally", "with", "def",  "class", "match", "case"};
constexpr std::array<std::string_view, 5> kLongOperators{"**", "//", "<<", ">>", ":="};

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

bool is_prefix_of_text(std::string_view word) noexcept {
  return word.size() <= 2 && word.find_first_not_of("rRbBuUfFtT") == std::string_view::npos;
}

bool is_formatted(std::string_view prefix) noexcept { return prefix.find_first_of("fFtT") != std::string_view::npos; }

// Splits source into logical lines.
class Lexer {
 public:
  explicit Lexer(std::string_view source) noexcept : source_(source) {}

  // False at the end. Lines without a token are passed over.
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

bool is_operator(const Token& token, std::string_view text) noexcept {
  return token.kind == TokenKind::kOperator && token.text == text;
}

bool is_word(const Token& token, std::string_view text) noexcept {
  return (token.kind == TokenKind::kKeyword || token.kind == TokenKind::kName) && token.text == text;
}

// Finds the constants in the statements of a logical line.
class ConstantScan {
 public:
  explicit ConstantScan(std::vector<std::string_view>& found) noexcept : found_(found) {}

  void line(std::span<const Token> tokens) {
    while (!tokens.empty()) {
      const std::size_t size = statement_size(tokens);
      statement(tokens.first(size));
      tokens = tokens.subspan(std::min(size + 1, tokens.size()));
    }
  }

 private:
  // What an operand or an operation is: a constant number, another constant, or neither.
  enum class Value : std::uint8_t { kNumber, kOther, kNone };
  struct Node {
    Value value = Value::kNone;
    const char* begin = nullptr;
    const char* end = nullptr;
  };

  // Up to a semicolon, or to the colon of a header.
  static std::size_t statement_size(std::span<const Token> tokens) noexcept {
    const Token& first = tokens.front();
    const bool is_header =
        is_one_of(kHeaders, first.text) && tokens.size() > 1 &&
        (first.kind == TokenKind::kKeyword || std::ranges::none_of(std::array{":", "=", "."}, [&](std::string_view op) {
           return is_operator(tokens[1], op);
         }));
    std::size_t depth = 0;
    bool in_lambda = false;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const Token& token = tokens[i];
      if (is_word(token, "lambda")) {
        in_lambda = true;
      }
      if (token.kind != TokenKind::kOperator) {
        continue;
      }
      const char c = token.text.front();
      depth += is_opening(c) ? 1U : 0U;
      depth -= is_closing(c) && depth > 0 ? 1U : 0U;
      if (depth == 0 && token.text == ":" && is_header && !in_lambda) {
        return i;
      }
      in_lambda = in_lambda && !(depth == 0 && token.text == ":");
      if (depth == 0 && token.text == ";") {
        return i;
      }
    }
    return tokens.size();
  }

  void statement(std::span<const Token> tokens) {
    if (tokens.empty() || is_word(tokens.front(), "raise") || is_constant_alone(tokens)) {
      return;
    }
    const bool lists_names = is_word(tokens.front(), "__all__") || is_word(tokens.front(), "__slots__");
    if (lists_names && tokens.size() > 1 && is_operator(tokens[1], "=")) {
      return;
    }
    tokens_ = is_word(tokens.front(), "assert") ? tokens.first(size_before_comma(tokens)) : tokens;
    at_ = 0;
    const std::size_t before = found_.size();
    expressions(0);
    std::ranges::sort(found_.begin() + static_cast<std::ptrdiff_t>(before), found_.end(), {},
                      [](std::string_view text) { return text.data(); });
  }

  static bool is_constant_alone(std::span<const Token> tokens) noexcept {
    const auto is_text = [](const Token& token) {
      return token.kind == TokenKind::kText || token.kind == TokenKind::kFormatted;
    };
    return (tokens.size() == 1 && tokens.front().kind == TokenKind::kNumber) || std::ranges::all_of(tokens, is_text);
  }

  static std::size_t size_before_comma(std::span<const Token> tokens) noexcept {
    std::size_t depth = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].kind != TokenKind::kOperator) {
        continue;
      }
      const char c = tokens[i].text.front();
      depth += is_opening(c) ? 1U : 0U;
      depth -= is_closing(c) && depth > 0 ? 1U : 0U;
      if (depth == 0 && c == ',') {
        return i;
      }
    }
    return tokens.size();
  }

  // All expressions up to a closing bracket or the end.
  void expressions(int depth) {
    while (at_ < tokens_.size() && !is_end()) {
      if (begins_operand()) {
        emit(binary(0, depth));
      } else {
        ++at_;
      }
    }
  }

  [[nodiscard]] bool is_end() const noexcept {
    return tokens_[at_].kind == TokenKind::kOperator && is_closing(tokens_[at_].text.front());
  }

  [[nodiscard]] bool begins_operand() const noexcept {
    const Token& token = tokens_[at_];
    if (token.kind != TokenKind::kOperator) {
      return token.kind != TokenKind::kKeyword;
    }
    return is_opening(token.text.front()) || is_sign(token);
  }

  static bool is_sign(const Token& token) noexcept {
    return token.text == "-" || token.text == "+" || token.text == "~";
  }

  // The precedence of a binary operator; 0 for any other token.
  static int precedence(const Token& token) noexcept {
    if (token.kind != TokenKind::kOperator) {
      return 0;
    }
    const std::string_view op = token.text;
    if (op == "|") {
      return 1;
    }
    if (op == "^") {
      return 2;
    }
    if (op == "&") {
      return 3;
    }
    if (op == "<<" || op == ">>") {
      return 4;
    }
    if (op == "+" || op == "-") {
      return 5;
    }
    return op == "*" || op == "/" || op == "//" || op == "%" || op == "@" ? 6 : 0;
  }

  static bool is_computed(std::string_view op) noexcept {
    return op == "+" || op == "-" || op == "*" || op == "<<" || op == "**";
  }

  Node binary(int least, int depth) {
    Node left = unary(depth);
    while (at_ < tokens_.size()) {
      const Token& op = tokens_[at_];
      const int level = precedence(op);
      if (level == 0 || level <= least) {
        break;
      }
      ++at_;
      left = joined(left, op, at_ < tokens_.size() && begins_operand() ? binary(level, depth) : Node{});
    }
    return left;
  }

  Node unary(int depth) {
    const Token& sign = tokens_[at_];
    if (sign.kind != TokenKind::kOperator || !is_sign(sign)) {
      return power(depth);
    }
    ++at_;
    Node operand = at_ < tokens_.size() && begins_operand() && depth < kDepthMax ? unary(depth + 1) : Node{};
    if (operand.value == Value::kNumber) {
      operand.begin = sign.text.data();
      return operand;
    }
    emit(operand);
    return {};
  }

  Node power(int depth) {
    const Node base = operand(depth);
    if (at_ >= tokens_.size() || !is_operator(tokens_[at_], "**")) {
      return base;
    }
    const Token& op = tokens_[at_++];
    return joined(base, op, at_ < tokens_.size() && begins_operand() && depth < kDepthMax ? unary(depth + 1) : Node{});
  }

  Node joined(const Node& left, const Token& op, const Node& right) {
    if (left.value == Value::kNumber && right.value == Value::kNumber && is_computed(op.text)) {
      return {Value::kNumber, left.begin, right.end};
    }
    emit(left);
    emit(right);
    return {};
  }

  Node operand(int depth) {
    Node node;
    const Token& token = tokens_[at_];
    const char* const begin = token.text.data();
    if (token.kind == TokenKind::kText || token.kind == TokenKind::kFormatted) {
      node = text();
    } else if (token.kind == TokenKind::kOperator) {
      node = bracketed(depth);
    } else {
      ++at_;
      if (token.kind == TokenKind::kNumber) {
        node = {Value::kNumber, begin, begin + token.text.size()};
      }
    }
    while (at_ < tokens_.size() && begins_trailer()) {
      emit(node);
      node = {};
      if (tokens_[at_].text == ".") {
        at_ = std::min(at_ + 2, tokens_.size());
      } else {
        bracketed_any(depth);
      }
    }
    return node;
  }

  [[nodiscard]] bool begins_trailer() const noexcept {
    const Token& token = tokens_[at_];
    return token.kind == TokenKind::kOperator && (token.text == "." || token.text == "(" || token.text == "[");
  }

  // Texts side by side are one; with an f-string among them they are text for people.
  Node text() noexcept {
    Node node{Value::kOther, tokens_[at_].text.data(), nullptr};
    for (; at_ < tokens_.size(); ++at_) {
      const Token& token = tokens_[at_];
      if (token.kind == TokenKind::kFormatted) {
        node.value = Value::kNone;
      } else if (token.kind != TokenKind::kText) {
        break;
      }
      node.end = token.text.data() + token.text.size();
    }
    return node;
  }

  // A single expression in parentheses is that expression.
  Node bracketed(int depth) {
    const Token& opening = tokens_[at_];
    if (opening.text != "(" || depth >= kDepthMax) {
      bracketed_any(depth);
      return {};
    }
    ++at_;
    if (at_ < tokens_.size() && begins_operand()) {
      Node inner = binary(0, depth + 1);
      if (at_ < tokens_.size() && is_operator(tokens_[at_], ")")) {
        inner.begin = opening.text.data();
        inner.end = tokens_[at_].text.data() + 1;
        ++at_;
        return inner;
      }
      emit(inner);
    }
    expressions(depth + 1);
    ++at_;
    return {};
  }

  void bracketed_any(int depth) {
    ++at_;
    if (depth < kDepthMax) {
      expressions(depth + 1);
      at_ = std::min(at_ + 1, tokens_.size());
    }
  }

  void emit(const Node& node) {
    if (node.value != Value::kNone) {
      found_.emplace_back(node.begin, static_cast<std::size_t>(node.end - node.begin));
    }
  }

  static constexpr int kDepthMax = 200;

  std::vector<std::string_view>& found_;
  std::span<const Token> tokens_;
  std::size_t at_ = 0;
};

struct TextHash {
  std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
};

// The word that says what a line begins, after "async".
const Token& first_word(const LogicalLine& line) noexcept {
  return is_word(line.tokens.front(), "async") && line.tokens.size() > 1 ? line.tokens[1] : line.tokens.front();
}

SourceBlock block_of(const LogicalLine& line, std::uint32_t first) noexcept {
  const Token& word = first_word(line);
  SourceBlock block;
  block.first = first;
  block.header_last = block.last = line.last;
  block.indent = line.indent;
  if (is_word(word, "def") || is_word(word, "class")) {
    block.kind = word.text == "def" ? SourceBlock::Kind::kFunction : SourceBlock::Kind::kClass;
    const auto after = static_cast<std::size_t>(&word - line.tokens.data()) + 1;
    block.name = after < line.tokens.size() ? line.tokens[after].text : std::string_view();
  }
  return block;
}

}  // namespace

std::vector<std::string_view> constant_expressions(std::string_view source) {
  std::vector<std::string_view> all;
  Lexer lexer(source);
  ConstantScan scan(all);
  for (LogicalLine line; lexer.next(line);) {
    scan.line(line.tokens);
  }
  tsl::robin_set<std::string_view, TextHash> seen;
  std::vector<std::string_view> found;
  std::ranges::copy_if(all, std::back_inserter(found), [&](std::string_view text) { return seen.insert(text).second; });
  return found;
}

std::vector<SourceBlock> source_blocks(std::string_view source) {
  struct Open {
    std::uint32_t block;
    std::uint32_t column;
  };
  std::vector<SourceBlock> blocks;
  std::vector<Open> open;
  Lexer lexer(source);
  std::uint32_t last = 0;
  std::uint32_t decorated_from = 0;  // the first line of decorators that wait for their function; 0 for none
  for (LogicalLine line; lexer.next(line); last = line.last) {
    while (!open.empty() && line.column <= open.back().column) {
      blocks[open.back().block].last = std::max(blocks[open.back().block].last, last);
      open.pop_back();
    }
    const Token& first = line.tokens.front();
    if (is_operator(first, "@")) {
      decorated_from = decorated_from == 0 ? first.line : decorated_from;
      continue;
    }
    const bool opens = is_operator(line.tokens.back(), ":");
    SourceBlock block = block_of(line, decorated_from == 0 ? first.line : decorated_from);
    decorated_from = 0;
    if (is_word(first, "import") || is_word(first, "from")) {
      if (std::ranges::any_of(open,
                              [&](const Open& each) { return blocks[each.block].kind != SourceBlock::Kind::kOther; })) {
        continue;
      }
      block.kind = SourceBlock::Kind::kImport;
    } else if (!opens && block.kind == SourceBlock::Kind::kOther) {
      continue;
    }
    block.parent = open.empty() ? SourceBlock::kNoParent : open.back().block;
    blocks.push_back(block);
    if (opens && block.kind != SourceBlock::Kind::kImport) {
      open.push_back({static_cast<std::uint32_t>(blocks.size() - 1), line.column});
    }
  }
  for (const Open& left : open) {
    blocks[left.block].last = std::max(blocks[left.block].last, last);
  }
  return blocks;
}

}  // namespace ordeal
