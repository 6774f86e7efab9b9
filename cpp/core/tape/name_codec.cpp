#include "core/tape/name_codec.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

#include "core/base/error.h"
#include "core/tape/step_source.h"

namespace ordeal {
namespace {

// In the order of the indices in tapes.
void write_names(ByteWriter& out, const std::vector<std::string>& names) {
  out.number(names.size());
  for (const std::string& name : names) {
    out.text(name);
  }
}

// The limit of a machine: a file must not name more than any machine has.
std::vector<std::string> read_names(ByteReader& in, const char* what) {
  return in.items<std::string>(what, 1, MachineShape::kTargetsMax, [&] { return std::string(in.text(what)); });
}

// The present index of each name, Renaming::kGone for one that no longer exists.
std::vector<std::uint32_t> indexes_now(const std::vector<std::string>& then, const std::vector<std::string>& now) {
  std::map<std::string_view, std::vector<std::uint32_t>> places;
  for (std::size_t i = 0; i < now.size(); ++i) {
    places[now[i]].push_back(static_cast<std::uint32_t>(i));
  }
  std::map<std::string_view, std::size_t> used;
  std::vector<std::uint32_t> indexes(then.size(), Renaming::kGone);
  for (std::size_t i = 0; i < then.size(); ++i) {
    const auto found = places.find(then[i]);
    const std::size_t place = used[then[i]]++;
    if (found != places.end() && place < found->second.size()) {
      indexes[i] = found->second[place];
    }
  }
  return indexes;
}

}  // namespace

void write_machine_names(ByteWriter& out, const MachineNames& names) {
  write_names(out, names.rules);
  write_names(out, names.initializers);
  write_names(out, names.faults);
  write_names(out, names.arguments);
}

// In the order in which they are written.
MachineNames read_machine_names(ByteReader& in) {
  MachineNames names;
  names.rules = read_names(in, "names of rules");
  names.initializers = read_names(in, "names of initialize rules");
  names.faults = read_names(in, "names of faults");
  names.arguments = read_names(in, "names of arguments");
  return names;
}

// Equal names are distinguished by their order among themselves.
Renaming renaming_of(const MachineNames& then, const MachineNames& now) {
  return {indexes_now(then.rules, now.rules), indexes_now(then.initializers, now.initializers),
          indexes_now(then.faults, now.faults), indexes_now(then.arguments, now.arguments)};
}

}  // namespace ordeal
