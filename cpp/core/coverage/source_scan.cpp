#include "core/coverage/source_scan.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <span>

#include <tsl/robin_set.h>

#include "core/base/check.h"
#include "core/coverage/source_lexer.h"

namespace ordeal {
namespace python_source {
namespace {

// Finds the constants in the statements of a logical line.
class ConstantScan {
 public:
  explicit ConstantScan(std::vector<std::string_view>& found) noexcept : found_(found) {}

  // A logical line may hold several statements.
  void line(std::span<const Token> tokens) {
    while (!tokens.empty()) {
      const std::size_t size = statement_size(tokens);
      ORDEAL_DCHECK(size <= tokens.size(), "a statement of " << size << " tokens in a line of " << tokens.size());
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

  // Passes over what no input is compared with: the text of an error, documentation, lists of public names, and the
  // message of an assertion. What it finds comes in the order of the source, though brackets are left last.
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

  // A docstring, or a number that stands for an empty body.
  static bool is_constant_alone(std::span<const Token> tokens) noexcept {
    const auto is_text = [](const Token& token) {
      return token.kind == TokenKind::kText || token.kind == TokenKind::kFormatted;
    };
    return (tokens.size() == 1 && tokens.front().kind == TokenKind::kNumber) || std::ranges::all_of(tokens, is_text);
  }

  // At the outermost level: the message of an `assert` follows such a comma.
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

  // Whatever is no operator and no keyword, a bracket, or the sign of a number.
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

  // Precedence climbing: takes the operators that bind closer than `least`. Only operations of numbers are kept as one
  // constant, as in `60 * 60`; of any other, each side is a constant of its own.
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

  // A sign belongs to the number behind it. Recursion ends at kDepthMax, as a source may hold any number of signs.
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

  // Binds closer than a sign on its left, and less close than one on its right.
  Node power(int depth) {
    const Node base = operand(depth);
    if (at_ >= tokens_.size() || !is_operator(tokens_[at_], "**")) {
      return base;
    }
    const Token& op = tokens_[at_++];
    return joined(base, op, at_ < tokens_.size() && begins_operand() && depth < kDepthMax ? unary(depth + 1) : Node{});
  }

  // Two numbers and what is between them, or nothing, once both sides are reported.
  Node joined(const Node& left, const Token& op, const Node& right) {
    if (left.value == Value::kNumber && right.value == Value::kNumber && is_computed(op.text)) {
      return {Value::kNumber, left.begin, right.end};
    }
    emit(left);
    emit(right);
    return {};
  }

  // A name is no constant, but what is in the brackets behind it may be: each call, index and attribute is passed over.
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
    Node node{Value::kOther, std::to_address(tokens_[at_].text.begin()), nullptr};
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

  // All that is in a pair of brackets, each expression for itself.
  void bracketed_any(int depth) {
    ++at_;
    if (depth < kDepthMax) {
      expressions(depth + 1);
      at_ = std::min(at_ + 1, tokens_.size());
    }
  }

  void emit(const Node& node) {
    if (node.value != Value::kNone) {
      ORDEAL_DCHECK(node.begin != nullptr && node.begin < node.end, "a constant without text");
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

// Its last line is that of its header until the lines below it have been read.
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
}  // namespace python_source

// Equal expressions count once, where they come first.
std::vector<std::string_view> constant_expressions(std::string_view source) {
  std::vector<std::string_view> all;
  python_source::Lexer lexer(source);
  python_source::ConstantScan scan(all);
  for (python_source::LogicalLine line; lexer.next(line);) {
    scan.line(line.tokens);
  }
  tsl::robin_set<std::string_view, python_source::TextHash> seen;
  std::vector<std::string_view> found;
  std::ranges::copy_if(all, std::back_inserter(found), [&](std::string_view text) { return seen.insert(text).second; });
  return found;
}

// One pass with a stack of the blocks that are open. A block ends before the first line that is not deeper than its
// header. Imports count at the outermost level alone, as only those run when the module is imported.
std::vector<SourceBlock> source_blocks(std::string_view source) {
  struct Open {
    std::uint32_t block;
    std::uint32_t column;
  };
  std::vector<SourceBlock> blocks;
  std::vector<Open> open;
  python_source::Lexer lexer(source);
  std::uint32_t last = 0;
  std::uint32_t decorated_from = 0;  // the first line of decorators that wait for their function; 0 for none
  for (python_source::LogicalLine line; lexer.next(line); last = line.last) {
    while (!open.empty() && line.column <= open.back().column) {
      blocks[open.back().block].last = std::max(blocks[open.back().block].last, last);
      open.pop_back();
    }
    const python_source::Token& first = line.tokens.front();
    if (python_source::is_operator(first, "@")) {
      decorated_from = decorated_from == 0 ? first.line : decorated_from;
      continue;
    }
    const bool opens = python_source::is_operator(line.tokens.back(), ":");
    SourceBlock block = python_source::block_of(line, decorated_from == 0 ? first.line : decorated_from);
    decorated_from = 0;
    if (python_source::is_word(first, "import") || python_source::is_word(first, "from")) {
      if (std::ranges::any_of(open,
                              [&](const Open& each) { return blocks[each.block].kind != SourceBlock::Kind::kOther; })) {
        continue;
      }
      block.kind = SourceBlock::Kind::kImport;
    } else if (!opens && block.kind == SourceBlock::Kind::kOther) {
      continue;
    }
    block.parent = open.empty() ? SourceBlock::kNoParent : open.back().block;
    ORDEAL_DCHECK(open.empty() || block.parent < blocks.size(), "a block lies in one that follows");
    ORDEAL_DCHECK(block.first <= block.last, "a block from line " << block.first << " to " << block.last);
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
