// Binds the codec of packed files.
#include <string>

#include "bindings/bindings.h"
#include "core/base/codec.h"

namespace ordeal::bindings {

void bind_codec(py::module_& m) {
  m.def("compress", [](const py::bytes& data) { return py::bytes(compress(std::string_view(data))); }, py::arg("data"));
  m.def(
      "decompress",
      [](const py::bytes& packed, std::size_t size_max) {
        return py::bytes(decompress(std::string_view(packed), size_max));
      },
      py::arg("packed"), py::arg("size_max"));
}

}  // namespace ordeal::bindings
