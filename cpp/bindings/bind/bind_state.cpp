// Binds the state of a session: to and from the bytes of a state file.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/casts/names_cast.h"
#include "core/base/error.h"
#include "core/search/session.h"
#include "core/search/state_codec.h"

namespace ordeal::bindings {
namespace {

py::bytes encode(const NamesTuple& names, const Session& session, const std::vector<Tape>& tapes) {
  return {encode_state(machine_names(names), session.save(), tapes)};
}

LoadedState decode(const py::bytes& state, const NamesTuple& names) {
  return decode_state(std::string_view(state), machine_names(names));
}

}  // namespace

void bind_state(py::module_& m) {
  py::class_<LoadedState>(m, "LoadedState")
      .def_readonly("tapes", &LoadedState::tapes)
      .def_readonly("tapes_in_file", &LoadedState::tapes_in_file)
      .def_readonly("tapes_dropped", &LoadedState::tapes_dropped)
      .def_readonly("machine_changed", &LoadedState::machine_changed)
      .def(
          "restore_into", [](const LoadedState& self, Session& session) { session.restore(self.session); },
          py::arg("session"))
      .def("entries",
           [](const LoadedState& self) {
             std::vector<SharedEntry> entries;
             entries.reserve(self.session.checkpoints.size());
             for (const Checkpoint& checkpoint : self.session.checkpoints) {
               entries.push_back({.prefix = checkpoint.prefix.tape(), .shows = checkpoint.shows});
             }
             return entries;
           })
      .def(
          "merge_coverage", [](const LoadedState& self, CoverageMap& map) { map.merge(self.session.coverage); },
          py::arg("coverage"));

  m.def("encode_state", &encode, py::arg("names"), py::arg("session"), py::arg("tapes"));
  m.def("decode_state", &decode, py::arg("state"), py::arg("names"));
}

}  // namespace ordeal::bindings
