// Binds the coverage map; shared, because the session reads what the monitor writes.
#include <memory>

#include "bindings/bindings.h"
#include "bindings/discovery_cast.h"
#include "core/coverage_hits.h"
#include "core/coverage_map.h"

namespace ordeal::bindings {

void bind_coverage_map(py::module_& m) {
  py::class_<CoverageMap, std::shared_ptr<CoverageMap>>(m, "CoverageMap")
      .def(py::init<std::size_t>(), py::arg("capacity") = CoverageMap::kDefaultCapacity)
      .def("add_edge", &CoverageMap::add_edge, py::arg("key"))
      .def(
          "hit",
          [](CoverageMap& map, std::uint32_t id) {
            static_cast<void>(map.hits(id));  // refuses an unknown id; the hot path does not look
            map.hit(id);
          },
          py::arg("edge"))
      .def(
          "mark",
          [](CoverageMap& map, std::uint32_t id) {
            static_cast<void>(map.hits(id));
            map.mark(id);
          },
          py::arg("edge"))
      .def("hits", &CoverageMap::hits, py::arg("edge"))
      .def("begin_run", &CoverageMap::begin_run)
      .def("take_fresh",
           [](CoverageMap& map) {
             const Fresh fresh = map.take_fresh();
             return py::make_tuple(fresh.edges, fresh.buckets);
           })
      .def("forget", &CoverageMap::forget)
      .def("forget_sample", &CoverageMap::forget_sample)
      .def("take_hits", [](CoverageMap& map) { return py::bytes(take_hits(map)); })
      .def("add_hits", &add_hits, py::arg("hits"), py::kw_only(), py::arg("counted"))
      .def("keys", &CoverageMap::keys)
      .def("adopt", &CoverageMap::adopt, py::arg("key"))
      .def("discovery", [](const CoverageMap& map) { return told(estimate_discovery(map.abundance())); })
      .def_property_readonly("edges_seen", &CoverageMap::edges_seen);
}

}  // namespace ordeal::bindings
