#include "core/corpus/find.h"

#include <cmath>
#include <optional>
#include <utility>

#include "core/base/byte_stream.h"
#include "core/base/error.h"
#include "core/coverage/feature_codec.h"
#include "core/tape/tape_codec.h"

namespace ordeal {
namespace {

// The fewest bytes that a find takes: its energy, and how many features and steps it has.
constexpr std::size_t kFindBytesMin = 10;
// What no discovery earns: more would keep all other states from having their turn.
constexpr double kEnergyMax = 1e6;

void write_find(ByteWriter& out, const Find& find) {
  out.real(find.energy);
  out.number(find.shows.size());
  for (const Feature& feature : find.shows) {
    write_feature(out, feature);
  }
  write_tape(out, find.prefix);
}

std::optional<Find> read_find(ByteReader& in, const Renaming& renaming) {
  Find find;
  find.energy = in.real("an energy");
  if (!std::isfinite(find.energy) || find.energy <= 0 || find.energy > kEnergyMax) {
    throw TraceError("the energy of a find is not between 0 and a million");
  }
  find.shows.resize(in.count("features of a find", kFeatureBytes));
  for (Feature& feature : find.shows) {
    feature = read_feature(in);
  }
  std::optional<Tape> prefix = read_tape(in, renaming);
  if (!prefix) {
    return std::nullopt;
  }
  find.prefix = std::move(*prefix);
  return find;
}

}  // namespace

std::string encode_finds(const MachineNames& names, std::span<const Find> finds) {
  ByteWriter out;
  write_machine_names(out, names);
  out.number(finds.size());
  for (const Find& find : finds) {
    write_find(out, find);
  }
  return std::move(out).take();
}

LoadedFinds decode_finds(std::string_view bytes, const MachineNames& now) {
  ByteReader in(bytes);
  const Renaming renaming = renaming_of(read_machine_names(in), now);
  LoadedFinds loaded;
  const std::size_t count = in.count("finds", kFindBytesMin);
  for (std::size_t i = 0; i < count; ++i) {
    std::optional<Find> find = read_find(in, renaming);
    if (find) {
      loaded.finds.push_back(std::move(*find));
    } else {
      ++loaded.dropped;
    }
  }
  in.check_end();
  return loaded;
}

}  // namespace ordeal
