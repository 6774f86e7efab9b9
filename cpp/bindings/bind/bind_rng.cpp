// Binds Rng: a seeded random stream for code outside an exploration.
#include <cstdint>
#include <string>

#include "bindings/bindings.h"
#include "core/base/rng.h"

namespace ordeal::bindings {

void bind_rng(py::module_& m) {
  py::class_<Rng>(m, "Rng")
      .def(py::init([](std::uint64_t seed, const std::string& stream) { return Rng::stream(seed, stream); }),
           py::arg("seed"), py::arg("stream"))
      .def("random", &Rng::unit)
      .def("chance", &Rng::chance, py::arg("p"));

  // The seed of one of several sessions with the same goal.
  m.def(
      "derived_seed", [](std::uint64_t seed, const std::string& stream) { return Rng::stream(seed, stream).next(); },
      py::arg("seed"), py::arg("stream"));
}

}  // namespace ordeal::bindings
