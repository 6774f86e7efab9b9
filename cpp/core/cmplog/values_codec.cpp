#include "core/cmplog/values_codec.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace ordeal {
namespace {

constexpr std::size_t kValueBytesMin = 1 + kChoiceBytesMin;
constexpr std::size_t kTriedBytes = 9;

}  // namespace

void write_values(ByteWriter& out, std::span<const ShelvedValue> values) {
  out.number(values.size());
  for (const ShelvedValue& shelved : values) {
    out.byte(static_cast<std::uint8_t>(shelved.shelf));
    write_choice(out, shelved.value);
  }
}

std::vector<ShelvedValue> read_values(ByteReader& in) {
  std::vector<ShelvedValue> values(in.count("values", kValueBytesMin));
  for (ShelvedValue& shelved : values) {
    shelved.shelf = static_cast<ValueShelf>(in.number("a shelf", static_cast<std::uint64_t>(ValueShelf::kProductive)));
    shelved.value = read_choice(in);
  }
  return values;
}

void write_operand_search(ByteWriter& out, const OperandSearchState& search) {
  out.number(search.barren_runs);
  out.number(search.wait);
  out.byte(search.watches_run ? 1 : 0);
  out.number(search.others_left);
  out.number(search.watched);
  out.byte(search.turn ? 1 : 0);
  out.number(search.queue.size());
  for (const Tape& tape : search.queue) {
    write_tape(out, tape);
  }
  out.number(search.tried.size());
  for (const auto& [key, tries] : search.tried) {
    out.word(key);
    out.byte(tries);
  }
}

OperandSearchState read_operand_search(ByteReader& in, const Renaming& renaming) {
  OperandSearchState search{.barren_runs = in.number("barren runs"),
                            .wait = in.number("runs to wait", OperandSearch::kWaitMax),
                            .watches_run = in.number("a run to watch", 1) == 1,
                            .others_left = in.number("checkpoints to watch", OperandSearch::kOthersInARow),
                            .watched = in.number("a checkpoint"),
                            .turn = in.number("a turn", 1) == 1,
                            .queue = {},
                            .tried = {}};
  const std::size_t tapes = in.count("tapes to try", 1);
  for (std::size_t i = 0; i < tapes; ++i) {
    if (std::optional<Tape> tape = read_tape(in, renaming)) {
      search.queue.push_back(*std::move(tape));
    }
  }
  search.tried.resize(in.count("tried values", kTriedBytes));
  for (auto& [key, tries] : search.tried) {
    key = in.word("a tried value");
    tries = in.byte("tries");
  }
  return search;
}

}  // namespace ordeal
