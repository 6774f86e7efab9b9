// Binds Odometer, and the types with which tests make its choices.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/exhaustive/choices.h"
#include "core/draw/odometer.h"

namespace ordeal::bindings {
namespace {

std::unique_ptr<Counter> make_counter(std::uint64_t limit) {
  auto counter = std::make_unique<Counter>();
  counter->odometer = Odometer(limit);
  return counter;
}

// The site of the choice that the case should have made next, or None.
py::object missing_site(const Counter& counter) {
  const Odometer& odometer = counter.odometer;
  return odometer.repeats() ? counter.sites.place(odometer.digits()[odometer.position()].site) : py::none();
}

}  // namespace

void bind_odometer(py::module_& m) {
  py::class_<Counter>(m, "Odometer")
      .def(py::init(&make_counter), py::kw_only(), py::arg("limit"))
      .def("restart", [](Counter& self) { self.odometer.restart(); })
      .def(
          "replay", [](Counter& self, std::vector<std::uint64_t> path) { self.odometer.replay(std::move(path)); },
          py::arg("path"))
      .def("next", [](Counter& self) { return static_cast<int>(self.odometer.next()); })
      .def("drop", [](Counter& self) { self.odometer.drop(); })
      .def(
          "choose",
          [](Counter& self, std::uint64_t bound) {
            return self.odometer.choose(bound, self.odometer.repeats() ? 0 : self.site_now());
          },
          py::arg("bound"))
      .def(
          "retry", [](Counter& self, std::size_t begin) { return self.odometer.retry(begin); }, py::arg("begin"))
      .def(
          "is_new", [](const Counter& self, std::size_t begin) { return self.odometer.is_new(begin); },
          py::arg("begin"))
      .def(
          "hold", [](Counter& self, std::size_t begin) { self.odometer.hold(begin); }, py::arg("begin"))
      .def(
          "release", [](Counter& self, bool has_more) { self.odometer.release(has_more); }, py::arg("has_more"))
      .def(
          "speak_for", [](Counter& self, std::uint64_t site) { self.spoken_for = site; }, py::arg("site"))
      .def(
          "site", [](Counter& self, int outer) { return self.sites.outside(outer); }, py::arg("outer"))
      .def_property_readonly("missing_site", &missing_site)
      .def_property_readonly("running", [](const Counter& self) { return self.odometer.running(); })
      .def_property_readonly("position", [](const Counter& self) { return self.odometer.position(); })
      .def_property_readonly("path", [](const Counter& self) { return self.odometer.path(); })
      .def_property_readonly("cases", [](const Counter& self) { return self.odometer.cases(); })
      .def_property_readonly("dropped", [](const Counter& self) { return self.odometer.dropped(); })
      .def_property_readonly("unused", [](const Counter& self) { return self.odometer.unused(); });
  add_choices(m);
}

}  // namespace ordeal::bindings
