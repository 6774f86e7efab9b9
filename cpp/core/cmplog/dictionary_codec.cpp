#include "core/cmplog/dictionary_codec.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace ordeal {
namespace {

// Limits how many items can follow in the remaining bytes.
constexpr std::size_t kValueBytesMin = 1 + kChoiceBytesMin;
constexpr std::size_t kTriedBytes = 9;
// More than a dictionary holds in all shelves together.
constexpr std::size_t kValuesMax = std::size_t{1} << 16U;

}  // namespace

// Where a value comes from, then the value.
void write_values(ByteWriter& out, std::span<const DictionaryEntry> values) {
  out.number(values.size());
  for (const DictionaryEntry& entry : values) {
    out.byte(static_cast<std::uint8_t>(entry.source));
    write_choice(out, entry.value);
  }
}

// At most as many as a dictionary keeps.
std::vector<DictionaryEntry> read_values(ByteReader& in) {
  constexpr auto kSourceMax = static_cast<std::uint64_t>(DictionarySource::kProductive);
  return in.items<DictionaryEntry>("values", kValueBytesMin, kValuesMax, [&] {
    const auto source = static_cast<DictionarySource>(in.number("a shelf", kSourceMax));
    return DictionaryEntry{source, read_choice(in)};
  });
}

// Includes the tapes that wait to run: they are the result of observing.
void write_cmplog(ByteWriter& out, const CmplogState& search) {
  out.byte(search.watches_run ? 1 : 0);
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

// A tape that names something gone is left out: it can be found again.
CmplogState read_cmplog(ByteReader& in, const Renaming& renaming) {
  CmplogState search{.watches_run = in.number("a run to watch", 1) == 1,
                     .watched = in.number("a checkpoint"),
                     .turn = in.number("a turn", 1) == 1,
                     .queue = {},
                     .tried = {}};
  const auto tapes =
      in.items<std::optional<Tape>>("tapes to try", 1, Cmplog::kQueueMax, [&] { return read_tape(in, renaming); });
  for (const std::optional<Tape>& tape : tapes) {
    if (tape) {
      search.queue.push_back(*tape);
    }
  }
  using Tried = decltype(search.tried)::value_type;
  search.tried = in.items<Tried>("tried values", kTriedBytes, Cmplog::kTriedMax, [&] {
    const std::uint64_t key = in.word("a tried value");
    return Tried{key, in.byte("tries")};
  });
  return search;
}

}  // namespace ordeal
