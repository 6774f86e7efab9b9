// Binds the values that a session learns from outside: constants of the program, and compared values.
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/casts/choice_cast.h"
#include "core/base/error.h"
#include "core/search/session.h"

namespace ordeal::bindings {
namespace {

using ComparisonTuple = std::tuple<std::size_t, int, py::object, py::object>;

std::size_t learn_comparisons(Session& session, const std::vector<ComparisonTuple>& tuples) {
  std::vector<Comparison> comparisons;
  comparisons.reserve(tuples.size());
  for (const auto& [steps, relation, left, right] : tuples) {
    if (relation < 0 || std::cmp_greater_equal(relation, kRelations)) {
      throw Error("a comparison has the unknown relation " + std::to_string(relation));
    }
    comparisons.push_back(
        {steps, static_cast<Relation>(relation), choice_from_python(left), choice_from_python(right)});
  }
  return session.learn_comparisons(comparisons);
}

}  // namespace

void bind_session_values(py::module_& m) {
  auto session = py::reinterpret_borrow<py::class_<Session>>(m.attr("Session"));
  session
      .def(
          "add_constant", [](Session& self, py::handle value) { self.add_constant(choice_from_python(value)); },
          py::arg("value"))
      .def("learn_comparisons", &learn_comparisons, py::arg("comparisons"))
      .def_property_readonly("wants_comparisons", &Session::wants_comparisons)
      .def_property_readonly("tape_to_watch", &Session::tape_to_watch, py::return_value_policy::copy);
}

}  // namespace ordeal::bindings
