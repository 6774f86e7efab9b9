// Binds the coverage map; shared, because the session reads what the monitor writes. And SharedEdges, over the memory
// of any object that lends it.
#include <cstdint>
#include <memory>
#include <utility>

#include "bindings/bindings.h"
#include "bindings/casts/species_estimate_cast.h"
#include "bindings/cpython/lent_memory.h"
#include "core/coverage/coverage_map.h"
#include "core/coverage/shared_edges.h"

namespace ordeal::bindings {
namespace {

// The memory comes first: it must be there before the set, and longer.
class LentEdges : private LentMemory, public SharedEdges {
 public:
  explicit LentEdges(const py::object& lender) : LentMemory(lender, PyBUF_WRITABLE), SharedEdges(bytes()) {}
};

}  // namespace

void bind_coverage_map(py::module_& m) {
  py::class_<LentEdges, std::shared_ptr<LentEdges>> shared_edges(m, "SharedEdges");
  shared_edges.def(py::init<const py::object&>(), py::arg("memory"))
      .def(
          "insert", [](LentEdges& edges, std::uint64_t key) { return edges.insert(key); }, py::arg("key"))
      .def(
          "erase", [](LentEdges& edges, std::uint64_t key) { edges.erase(key); }, py::arg("key"))
      .def("keys", [](const LentEdges& edges) { return edges.keys(); });
  shared_edges.attr("DEFAULT_BYTES") = SharedEdges::kDefaultBytes;
  shared_edges.attr("BYTES_MAX") = SharedEdges::kBytesMax;

  py::class_<CoverageMap, std::shared_ptr<CoverageMap>>(m, "CoverageMap")
      .def(py::init<std::size_t>(), py::arg("capacity") = CoverageMap::kDefaultCapacity)
      .def(
          "add_edge", [](CoverageMap& map, std::uint64_t key) { return map.add_edge(key).id; }, py::arg("key"))
      .def(
          "hit", [](CoverageMap& map, std::uint32_t id) { map.hit(map.edge_at(id)); }, py::arg("edge"))
      .def(
          "mark", [](CoverageMap& map, std::uint32_t id) { map.mark(map.edge_at(id)); }, py::arg("edge"))
      .def(
          "hits", [](CoverageMap& map, std::uint32_t id) { return map.hits(map.edge_at(id)); }, py::arg("edge"))
      .def("begin_run", &CoverageMap::begin_run)
      .def("take_new_coverage",
           [](CoverageMap& map) {
             const NewCoverage new_coverage = map.take_new_coverage();
             return py::make_tuple(new_coverage.edges, new_coverage.buckets);
           })
      .def("forget", &CoverageMap::forget)
      .def("forget_sample", &CoverageMap::forget_sample)
      .def("keys", &CoverageMap::keys)
      .def("import_edge", &CoverageMap::import_edge, py::arg("key"))
      .def(
          "share",
          [](CoverageMap& map, std::shared_ptr<LentEdges> others, bool listens) {
            map.share(std::move(others), listens);
          },
          py::arg("others"), py::kw_only(), py::arg("listens"))
      .def("species_estimate",
           [](const CoverageMap& map) { return estimate_to_python(estimate_species(map.sample_counts())); })
      .def_property_readonly("edges_seen", &CoverageMap::edges_seen);
}

}  // namespace ordeal::bindings
