#include "core/tape/tape_codec.h"

#include <string>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/tape/text.h"

namespace ordeal {
namespace {

constexpr std::uint8_t kBigInteger = 5;  // follows the kinds of choices
constexpr std::size_t kBigIntegerBytesMin = 9;
// The minimum size of an item, which limits how many of them can follow.
constexpr std::size_t kStepBytesMin = 4;
constexpr std::size_t kArgumentBytesMin = 3;

// Fewer bytes would fit into 64 bits, and so be a second encoding of the same choice.
Choice read_big_integer(ByteReader& in) {
  const std::string_view blob = in.text("an integer");
  if (blob.size() < kBigIntegerBytesMin) {
    throw TraceError("a big integer has " + std::to_string(blob.size()) + " bytes; it must have at least " +
                     std::to_string(kBigIntegerBytesMin));
  }
  return Choice::big_integer(std::string(blob));
}

// Python cannot hold a string that is not UTF-8; it would fail far from here.
Choice read_string(ByteReader& in) {
  const std::string_view text = in.text("a string");
  if (!is_text(text)) {
    throw TraceError("a string is not UTF-8");
  }
  return Choice::text(std::string(text));
}

// Translates an index at the time of writing into the present one.
std::uint32_t read_index(ByteReader& in, const char* what, const std::vector<std::uint32_t>& table) {
  const std::uint64_t index = in.number(what);
  if (index >= table.size()) {
    throw TraceError(std::string(what) + " is number " + std::to_string(index) + " of " + std::to_string(table.size()));
  }
  return table[static_cast<std::size_t>(index)];
}

// False when the name no longer exists.
bool read_argument(ByteReader& in, const Renaming& renaming, Tape& tape) {
  const std::uint32_t name = read_index(in, "an argument", renaming.arguments);
  tape.begin_argument(name);
  tape.set_producer(in.integer("a producer"));
  const std::size_t choices = in.count("choices", kChoiceBytesMin);
  for (std::size_t i = 0; i < choices; ++i) {
    tape.add(read_choice(in));
  }
  return name != Renaming::kGone;
}

// False when something it names no longer exists.
bool read_step(ByteReader& in, const Renaming& renaming, Tape& tape) {
  const std::uint8_t kind = in.byte("a step");
  if (kind > static_cast<std::uint8_t>(StepKind::kFaultOff)) {
    throw TraceError("a step has the unknown kind " + std::to_string(kind));
  }
  const auto step_kind = static_cast<StepKind>(kind);
  const std::uint32_t target = read_index(in, "a step", renaming.of(step_kind));
  tape.begin_step(step_kind, target, in.number32("an origin"));
  bool applies = target != Renaming::kGone;
  const std::size_t arguments = in.count("arguments", kArgumentBytesMin);
  for (std::size_t i = 0; i < arguments; ++i) {
    applies = read_argument(in, renaming, tape) && applies;
  }
  return applies;
}

}  // namespace

// The kind comes first. A big integer has a separate kind, after those of choices.
void write_choice(ByteWriter& out, const Choice& choice) {
  out.byte(choice.is_big() ? kBigInteger : static_cast<std::uint8_t>(choice.kind));
  switch (choice.kind) {
    case ChoiceKind::kBoolean:
      out.byte(choice.number != 0 ? 1 : 0);
      break;
    case ChoiceKind::kInteger:
      choice.is_big() ? out.text(choice.blob()) : out.integer(choice.number);
      break;
    case ChoiceKind::kFloat:
      out.real(choice.as_real());
      break;
    case ChoiceKind::kString:
    case ChoiceKind::kBytes:
      out.text(choice.blob());
      break;
  }
}

// A big integer has its own tag behind the kinds, so that small ones stay short.
Choice read_choice(ByteReader& in) {
  const std::uint8_t kind = in.byte("a choice");
  if (kind == kBigInteger) {
    return read_big_integer(in);
  }
  switch (static_cast<ChoiceKind>(kind)) {
    case ChoiceKind::kBoolean:
      return Choice::boolean(in.number("a boolean", 1) == 1);
    case ChoiceKind::kInteger:
      return Choice::integer(in.integer("an integer"));
    case ChoiceKind::kFloat:
      return Choice::real(in.real("a float"));
    case ChoiceKind::kString:
      return read_string(in);
    case ChoiceKind::kBytes:
      return Choice::bytes(std::string(in.text("bytes")));
  }
  throw TraceError("a choice has the unknown kind " + std::to_string(kind));
}

// Each array is preceded by its length, which the reader checks against the bytes that are left before it allocates.
void write_tape(ByteWriter& out, const Tape& tape) {
  out.number(tape.size());
  for (const TapeStep& step : tape.steps()) {
    out.byte(static_cast<std::uint8_t>(step.kind));
    out.number(step.target);
    out.number(step.origin);
    const auto arguments = tape.arguments(step);
    out.number(arguments.size());
    for (const TapeArgument& argument : arguments) {
      out.number(argument.name);
      out.integer(argument.producer);
      const auto choices = tape.choices(argument);
      out.number(choices.size());
      for (const Choice& choice : choices) {
        write_choice(out, choice);
      }
    }
  }
}

// Reads to the end even if a name is gone: the bytes after this tape must be found.
std::optional<Tape> read_tape(ByteReader& in, const Renaming& renaming) {
  Tape tape;
  bool applies = true;
  const std::size_t steps = in.count("steps", kStepBytesMin);
  for (std::size_t i = 0; i < steps; ++i) {
    applies = read_step(in, renaming, tape) && applies;
  }
  return applies ? std::optional(std::move(tape)) : std::nullopt;
}

}  // namespace ordeal
