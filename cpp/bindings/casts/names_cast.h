// The names of a machine's parts as Python passes them.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "bindings/bindings.h"
#include "core/tape/name_codec.h"

namespace ordeal::bindings {

using Names = std::vector<std::string>;
// Of rules, initialize rules, faults and arguments.
using NamesTuple = std::tuple<Names, Names, Names, Names>;

inline MachineNames machine_names(const NamesTuple& names) {
  const auto& [rules, initializers, faults, arguments] = names;
  return {rules, initializers, faults, arguments};
}

}  // namespace ordeal::bindings
