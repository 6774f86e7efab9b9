// Binds deep_copy(): copy.deepcopy for snapshots; and judge_finalizers(), which says what it may copy.
#include <utility>

#include "bindings/bindings.h"
#include "bindings/cpython/graph_copy.h"
#include "bindings/cpython/instance_attributes.h"
#include "bindings/cpython/object_shape.h"

namespace ordeal::bindings {

void bind_graph_copy(py::module_& m) {
  m.def(
      "deep_copy",
      [](const py::object& value, py::dict memo) { return GraphCopy(std::move(memo)).copy_all(value.ptr()); },
      py::arg("value"), py::arg("memo"));
  m.def(
      "store_attributes",
      [](const py::object& instance, const py::dict& attributes) {
        store_attributes(instance.ptr(), attributes.ptr());
      },
      py::arg("instance"), py::arg("attributes"));
  m.def("judge_finalizers", &judge_finalizers, py::arg("judge"));
}

}  // namespace ordeal::bindings
