// Binds shared entries, which sessions of several processes exchange, and their bytes.
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/casts/names_cast.h"
#include "core/corpus/shared_entry.h"
#include "core/search/session.h"

namespace ordeal::bindings {
namespace {

std::vector<std::uint64_t> edges_of(const SharedEntry& entry) {
  std::vector<std::uint64_t> edges;
  for (const Feature& feature : entry.shows) {
    if (feature.kind == FeatureKind::kEdge) {
      edges.push_back(feature.key);
    }
  }
  return edges;
}

}  // namespace

void bind_shared_entry(py::module_& m) {
  py::class_<SharedEntry>(m, "SharedEntry")
      .def(py::init([](const Tape& tape) { return SharedEntry{.prefix = tape, .shows = {}}; }), py::arg("tape"))
      .def_readonly("tape", &SharedEntry::prefix)
      .def_readonly("energy", &SharedEntry::energy)
      .def_property_readonly("edges", &edges_of)
      .def("__eq__", [](const SharedEntry& self, const SharedEntry& other) { return self == other; });

  m.def(
      "encode_entries",
      [](const NamesTuple& names, const std::vector<SharedEntry>& entries) {
        return py::bytes(encode_entries(machine_names(names), entries));
      },
      py::arg("names"), py::arg("entries"));
  m.def(
      "decode_entries",
      [](const py::bytes& entries, const NamesTuple& names) {
        LoadedEntries loaded = decode_entries(std::string_view(entries), machine_names(names));
        return py::make_tuple(std::move(loaded.entries), loaded.dropped);
      },
      py::arg("entries"), py::arg("names"));

  auto session = py::reinterpret_borrow<py::class_<Session>>(m.attr("Session"));
  session.def("take_new_entries", &Session::take_new_entries)
      .def(
          "import_entry",
          [](Session& self, const SharedEntry& entry) {
            const KeepResult kept = self.import_entry(entry);
            return py::make_tuple(kept.id, kept.evicted);
          },
          py::arg("entry"));
}

}  // namespace ordeal::bindings
