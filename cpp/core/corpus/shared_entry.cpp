#include "core/corpus/shared_entry.h"

#include <cmath>
#include <optional>
#include <utility>

#include "core/base/byte_stream.h"
#include "core/base/error.h"
#include "core/coverage/feature_codec.h"
#include "core/tape/tape_codec.h"

namespace ordeal {
namespace {

// The minimum size of a shared entry: its energy, and its numbers of features and steps.
constexpr std::size_t kEntryBytesMin = 10;
// More than any discovery earns: it would starve all other states.
constexpr double kEnergyMax = 1e6;

// Checkpoints have more, which only matters to the session that keeps them.
void write_entry(ByteWriter& out, const SharedEntry& entry) {
  out.real(entry.energy);
  out.number(entry.shows.size());
  for (const Feature& feature : entry.shows) {
    write_feature(out, feature);
  }
  write_tape(out, entry.prefix);
}

// Nothing if its tape names something gone. It is read to its end all the same.
std::optional<SharedEntry> read_entry(ByteReader& in, const Renaming& renaming) {
  SharedEntry entry;
  entry.energy = in.real("an energy");
  if (!std::isfinite(entry.energy) || entry.energy <= 0 || entry.energy > kEnergyMax) {
    throw TraceError("the energy of a find is not between 0 and a million");
  }
  entry.shows = in.items<Feature>("features of a find", kFeatureBytes, SIZE_MAX, [&] { return read_feature(in); });
  std::optional<Tape> prefix = read_tape(in, renaming);
  if (!prefix) {
    return std::nullopt;
  }
  entry.prefix = std::move(*prefix);
  return entry;
}

}  // namespace

// The names come first, so that a session of another version of the class can read it.
std::string encode_entries(const MachineNames& names, std::span<const SharedEntry> entries) {
  ByteWriter out;
  write_machine_names(out, names);
  out.number(entries.size());
  for (const SharedEntry& entry : entries) {
    write_entry(out, entry);
  }
  return std::move(out).take();
}

// The bytes come from another process or machine: each value is checked before it is used.
LoadedEntries decode_entries(std::string_view bytes, const MachineNames& now) {
  ByteReader in(bytes);
  const Renaming renaming = renaming_of(read_machine_names(in), now);
  LoadedEntries loaded;
  const std::size_t count = in.count("finds", kEntryBytesMin);
  for (std::size_t i = 0; i < count; ++i) {
    std::optional<SharedEntry> entry = read_entry(in, renaming);
    if (entry) {
      loaded.entries.push_back(std::move(*entry));
    } else {
      ++loaded.dropped;
    }
  }
  in.check_end();
  return loaded;
}

}  // namespace ordeal
