// Binds finds: what sessions of several processes give to each other, and its bytes.
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/casts/names_cast.h"
#include "core/corpus/find.h"
#include "core/search/session.h"

namespace ordeal::bindings {
namespace {

std::vector<std::uint64_t> edges_of(const Find& find) {
  std::vector<std::uint64_t> edges;
  for (const Feature& feature : find.shows) {
    if (feature.kind == FeatureKind::kEdge) {
      edges.push_back(feature.key);
    }
  }
  return edges;
}

}  // namespace

void bind_find(py::module_& m) {
  py::class_<Find>(m, "Find")
      .def(py::init([](const Tape& tape) { return Find{.prefix = tape, .shows = {}}; }), py::arg("tape"))
      .def_readonly("tape", &Find::prefix)
      .def_readonly("energy", &Find::energy)
      .def_property_readonly("edges", &edges_of)
      .def("__eq__", [](const Find& self, const Find& other) { return self == other; });

  m.def(
      "encode_finds",
      [](const NamesTuple& names, const std::vector<Find>& finds) {
        return py::bytes(encode_finds(machine_names(names), finds));
      },
      py::arg("names"), py::arg("finds"));
  m.def(
      "decode_finds",
      [](const py::bytes& finds, const NamesTuple& names) {
        LoadedFinds loaded = decode_finds(std::string_view(finds), machine_names(names));
        return py::make_tuple(std::move(loaded.finds), loaded.dropped);
      },
      py::arg("finds"), py::arg("names"));

  auto session = py::reinterpret_borrow<py::class_<Session>>(m.attr("Session"));
  session.def("take_finds", &Session::take_finds)
      .def(
          "adopt",
          [](Session& self, const Find& find) {
            const Kept kept = self.adopt(find);
            return py::make_tuple(kept.id, kept.evicted);
          },
          py::arg("find"));
}

}  // namespace ordeal::bindings
