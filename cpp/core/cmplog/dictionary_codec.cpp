#include "core/cmplog/dictionary_codec.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace ordeal {
namespace {

// What bounds how many items can follow in the bytes that are left.
constexpr std::size_t kValueBytesMin = 1 + kChoiceBytesMin;
constexpr std::size_t kTriedBytes = 9;

}  // namespace

// Where a value comes from, then the value.
void write_values(ByteWriter& out, std::span<const DictionaryEntry> values) {
  out.number(values.size());
  for (const DictionaryEntry& entry : values) {
    out.byte(static_cast<std::uint8_t>(entry.source));
    write_choice(out, entry.value);
  }
}

std::vector<DictionaryEntry> read_values(ByteReader& in) {
  std::vector<DictionaryEntry> values(in.count("values", kValueBytesMin));
  for (DictionaryEntry& entry : values) {
    entry.source =
        static_cast<DictionarySource>(in.number("a shelf", static_cast<std::uint64_t>(DictionarySource::kProductive)));
    entry.value = read_choice(in);
  }
  return values;
}

// The tapes that wait to be run go along: they are what the watching was for.
void write_cmplog(ByteWriter& out, const CmplogState& search) {
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

// A tape that names what is gone is left out: it can be found again.
CmplogState read_cmplog(ByteReader& in, const Renaming& renaming) {
  CmplogState search{.barren_runs = in.number("barren runs"),
                     .wait = in.number("runs to wait", Cmplog::kWaitMax),
                     .watches_run = in.number("a run to watch", 1) == 1,
                     .others_left = in.number("checkpoints to watch", Cmplog::kOthersInARow),
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
