// Binds deep_copy(): copy.deepcopy for snapshots.
#include <utility>

#include "bindings/bindings.h"
#include "bindings/cpython/graph_copy.h"

namespace ordeal::bindings {

void bind_graph_copy(py::module_& m) {
  m.def(
      "deep_copy",
      [](const py::object& value, py::dict memo) { return GraphCopy(std::move(memo)).copy_all(value.ptr()); },
      py::arg("value"), py::arg("memo"));
}

}  // namespace ordeal::bindings
