// Binds what switches faults and counts the calls that meet them.
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/cpython/module_bindings.h"
#include "bindings/cpython/modules_mark.h"
#include "bindings/faults/direct_call.h"
#include "bindings/faults/fault_switch.h"
#include "bindings/faults/patch_site.h"

namespace ordeal::bindings {
namespace {

// What they hold leads back to them, through functions and classes of the program.
template <typename Held>
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return py::detail::is_holder_constructed(self) ? py::cast<Held&>(py::handle(self)).traverse(visit, arg) : 0;
}

template <typename Held>
int clear(PyObject* self) {
  if (py::detail::is_holder_constructed(self)) {
    py::cast<Held&>(py::handle(self)).clear();
  }
  return 0;
}

template <typename Held>
void collectable(PyHeapTypeObject* heap_type) {
  PyTypeObject& type = heap_type->ht_type;
  type.tp_flags |= Py_TPFLAGS_HAVE_GC;
  type.tp_traverse = traverse<Held>;
  type.tp_clear = clear<Held>;
}

py::object interned_name(const py::handle& name) {
  PyObject* text = Py_NewRef(name.ptr());
  PyUnicode_InternInPlace(&text);
  return py::reinterpret_steal<py::object>(text);
}

FaultSwitch::Part read_part(const py::tuple& given) {
  FaultSwitch::Part part;
  part.layer = given[0];
  for (const py::handle site : py::list(given[1])) {
    part.sites.emplace_back(py::reinterpret_borrow<py::object>(site), &site.cast<PatchSite&>());
  }
  for (const py::handle other : py::list(given[2])) {
    const auto pair = py::reinterpret_borrow<py::tuple>(other);
    part.others.emplace_back(pair[0], interned_name(pair[1]));
  }
  part.original = given[3];
  return part;
}

FaultSwitch::Plan read_plan(py::object mark, const py::list& path, const py::list& parts) {
  FaultSwitch::Plan plan;
  plan.mark = std::move(mark);
  for (const py::handle step : path) {
    const auto given = py::reinterpret_borrow<py::tuple>(step);
    plan.path.push_back({given[0], interned_name(given[1]), given[2], given[3].cast<bool>()});
  }
  for (const py::handle part : parts) {
    plan.parts.push_back(read_part(py::reinterpret_borrow<py::tuple>(part)));
  }
  return plan;
}

void bind_switch(py::module_& m) {
  py::class_<FaultSwitch>(m, "FaultSwitch", py::custom_type_setup(collectable<FaultSwitch>))
      .def(py::init<>())
      .def_property_readonly("on", [](const FaultSwitch& self) -> bool { return self.on; })
      .def_readonly("by_plan", &FaultSwitch::by_plan)
      .def_property(
          "hits", [](const FaultSwitch& self) { return self.hits.load(); },
          [](FaultSwitch& self, std::int64_t hits) { self.hits = hits; })
      .def_property_readonly("runs_on", [](const FaultSwitch& self) { return self.runs + (self.was_on ? 1 : 0); })
      .def_property_readonly(
          "uses",
          [](const FaultSwitch& self) { return py::make_tuple(self.runs, self.calls.load(), self.changes.load()); })
      .def_readwrite("listener", &FaultSwitch::listener)
      .def("meet", &FaultSwitch::meet)
      .def("count_change", [](FaultSwitch& self) { ++self.changes; })
      .def("forget", &FaultSwitch::forget)
      .def("pause", &FaultSwitch::pause)
      .def("resume", &FaultSwitch::resume)
      .def("set_on", &FaultSwitch::set_on, py::arg("value"))
      .def(
          "set_plan",
          [](FaultSwitch& self, py::object mark, const py::list& path, const py::list& parts) {
            self.set_plan(read_plan(std::move(mark), path, parts));
          },
          py::arg("mark"), py::arg("path"), py::arg("parts"))
      .def("drop_plan", &FaultSwitch::drop_plan)
      .def_property_readonly("has_plan", &FaultSwitch::has_plan)
      .def("put_on", &FaultSwitch::put_on)
      .def("take_off", &FaultSwitch::take_off)
      .def("reset", &FaultSwitch::reset, py::kw_only(), py::arg("lasts"));
}

void bind_site(py::module_& m) {
  py::class_<PatchSite>(m, "PatchSite", py::custom_type_setup(collectable<PatchSite>))
      .def(py::init([](py::object owner, const py::object& attribute, py::object original, bool is_own, py::dict sites,
                       py::object key) {
             return PatchSite(std::move(owner), interned_name(attribute), std::move(original), is_own, std::move(sites),
                              std::move(key));
           }),
           py::arg("owner"), py::arg("attribute"), py::arg("original"), py::kw_only(), py::arg("is_own"),
           py::arg("sites"), py::arg("key"))
      .def_readonly("owner", &PatchSite::owner)
      .def_readonly("attribute", &PatchSite::attribute)
      .def_readonly("original", &PatchSite::original)
      .def_readonly("is_own", &PatchSite::is_own)
      .def_property_readonly("is_direct", &PatchSite::is_direct)
      .def_readwrite("installed", &PatchSite::installed)
      .def_readwrite("marked", &PatchSite::marked)
      .def_property_readonly("current", &PatchSite::current)
      .def_property_readonly("layers", &PatchSite::layers)
      .def("set_function", &PatchSite::set_function, py::arg("function"))
      .def("set_dispatcher", &PatchSite::set_dispatcher, py::arg("stored"), py::arg("cell"))
      .def("known", &PatchSite::known, py::arg("layers"))
      .def("remember", &PatchSite::remember, py::arg("layers"), py::arg("function"), py::arg("stored"))
      .def("forget", &PatchSite::forget, py::arg("layer"))
      .def("add", &PatchSite::add, py::arg("layer"), py::arg("function"))
      .def("remove", &PatchSite::remove, py::arg("layer"), py::arg("function"));
}

}  // namespace

void bind_faults(py::module_& m) {
  bind_switch(m);
  bind_site(m);
  m.def("modules_mark", &modules_mark);
  m.def("module_bindings", &module_bindings, py::arg("wanted"));
  m.def("call_directly", &call_directly, py::arg("function"));
  m.def(
      "struck_call",
      [](py::object fault_switch, py::object original, py::object replacement, py::object admits, py::object before,
         py::object answer, py::object after) {
        return struck_call({std::move(fault_switch), std::move(original), std::move(replacement), std::move(admits),
                            std::move(before), std::move(answer), std::move(after)});
      },
      py::arg("fault_switch"), py::arg("original"), py::kw_only(), py::arg("replacement") = py::none(),
      py::arg("admits") = py::none(), py::arg("before") = py::none(), py::arg("answer") = py::none(),
      py::arg("after") = py::none());
}

}  // namespace ordeal::bindings
