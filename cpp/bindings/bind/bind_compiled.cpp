// Binds the nodes of compiled strategies, for the compiler of strategies.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/casts/choice_cast.h"
#include "bindings/compiled/call_nodes.h"
#include "bindings/compiled/choice_nodes.h"
#include "bindings/compiled/collection_nodes.h"
#include "bindings/compiled/compiled_strategy.h"
#include "bindings/compiled/machine_nodes.h"
#include "bindings/compiled/strategy_objects.h"
#include "bindings/compiled/text_nodes.h"
#include "bindings/compiled/value_nodes.h"
#include "core/draw/redraw.h"
#include "core/tape/alphabet.h"

namespace ordeal::bindings {
namespace {

// The holder type of pybind11. Nothing that is bound changes a node.
using Node = std::shared_ptr<StrategyNode>;
using Nodes = std::vector<Node>;
using Keyed = std::vector<std::pair<py::object, Node>>;
using Steps = std::vector<std::pair<bool, py::object>>;
using Sizes = std::tuple<std::int64_t, std::optional<std::int64_t>, double>;

Node held(StrategyNodePtr node) { return std::const_pointer_cast<StrategyNode>(std::move(node)); }

std::vector<StrategyNodePtr> shared(const Nodes& nodes) { return {nodes.begin(), nodes.end()}; }

std::vector<KeyedNode> shared(const Keyed& keyed) { return {keyed.begin(), keyed.end()}; }

SizeRange to_sizes(const Sizes& sizes) {
  const auto& [low, high, p_continue] = sizes;
  return {low, high.value_or(SizeRange::kEndless), p_continue};
}

// None means the element itself.
Uniqueness to_uniqueness(std::vector<py::object> keys, const Node& suffix) {
  for (py::object& key : keys) {
    if (key.is_none()) {
      key = py::object();
    }
  }
  return {std::move(keys), suffix};
}

Transformations to_transformations(const Steps& steps) {
  std::vector<Transformations::Step> all;
  all.reserve(steps.size());
  for (const auto& [is_filter, function] : steps) {
    all.push_back({is_filter, function});
  }
  return Transformations(std::move(all));
}

Node make_one_of(const std::vector<std::pair<Node, py::object>>& branches, bool chooses_one) {
  std::vector<Branch> all;
  all.reserve(branches.size());
  for (const auto& [node, bundle] : branches) {
    all.push_back({node, bundle.is_none() ? py::object() : bundle});
  }
  return held(one_of_node(std::move(all), chooses_one));
}

void bind_values(py::module_& m) {
  m.def(
      "integers_node", [](std::int64_t low, std::int64_t high) { return held(integers_node(low, high)); },
      py::arg("low"), py::arg("high"));
  m.def(
      "open_integers_node",
      [](std::optional<std::int64_t> low, std::optional<std::int64_t> high) {
        return held(open_integers_node(low, high));
      },
      py::arg("low"), py::arg("high"));
  m.def(
      "wide_integers_node",
      [](py::handle low, py::handle high) {
        return held(wide_integers_node(wide_from_python(low), wide_from_python(high)));
      },
      py::arg("low"), py::arg("high"));
  m.def("booleans_node", [] { return held(booleans_node()); });
  m.def(
      "floats_node",
      [](double low, double high, bool allow_nan, double smallest_nonzero) {
        return held(floats_node(low, high, allow_nan, smallest_nonzero));
      },
      py::arg("low"), py::arg("high"), py::arg("allow_nan"), py::arg("smallest_nonzero"));
  m.def(
      "bytes_node", [](std::int64_t low, std::int64_t high) { return held(bytes_node(low, high)); }, py::arg("low"),
      py::arg("high"));
  m.def("constant_node", [](py::object value) { return held(constant_node(std::move(value))); }, py::arg("value"));
  m.def(
      "calendar_node",
      [](py::object make, const CalendarParts& low, const CalendarParts& high, std::size_t first, std::size_t end,
         bool has_fold, double tricky_p, std::vector<CalendarParts> instants, std::size_t simplest,
         std::vector<std::int64_t> widths_us) {
        return held(calendar_node(std::move(make), {low, high, first, end, has_fold},
                                  {tricky_p, std::move(instants), simplest, std::move(widths_us)}));
      },
      py::arg("make"), py::arg("low"), py::arg("high"), py::kw_only(), py::arg("first"), py::arg("end"),
      py::arg("has_fold"), py::arg("tricky_p") = 0.0, py::arg("instants") = std::vector<CalendarParts>(),
      py::arg("simplest") = 0, py::arg("widths_us") = std::vector<std::int64_t>());
  m.def(
      "timedelta_node",
      [](py::object make, const std::array<std::int64_t, 3>& low, const std::array<std::int64_t, 3>& high) {
        return held(timedelta_node(std::move(make), low, high));
      },
      py::arg("make"), py::arg("low"), py::arg("high"));
}

void bind_text(py::module_& m) {
  py::class_<Alphabet, std::shared_ptr<Alphabet>>(m, "Alphabet")
      .def(py::init([](const std::vector<std::pair<std::uint32_t, std::uint32_t>>& intervals) {
             std::vector<Alphabet::Interval> all;
             all.reserve(intervals.size());
             for (const auto& [low, high] : intervals) {
               all.emplace_back(static_cast<char32_t>(low), static_cast<char32_t>(high));
             }
             return std::make_shared<Alphabet>(std::move(all));
           }),
           py::arg("intervals"))
      .def("__len__", &Alphabet::size)
      .def(
          "at", [](const Alphabet& self, std::uint32_t rank) { return static_cast<std::uint32_t>(self.at(rank)); },
          py::arg("rank"));
  m.def(
      "text_node",
      [](const std::shared_ptr<Alphabet>& alphabet, std::int64_t low, std::int64_t high) {
        return held(text_node(alphabet, low, high));
      },
      py::arg("alphabet"), py::arg("low"), py::arg("high"));
  m.def("joined_node", [](const Node& texts) { return held(joined_node(texts)); }, py::arg("texts"));
}

void bind_choices(py::module_& m) {
  m.def(
      "sampled_node",
      [](py::object elements, bool is_position) { return held(sampled_node(std::move(elements), is_position)); },
      py::arg("elements"), py::arg("is_position"));
  m.def(
      "filtered_sample_node",
      [](py::object elements, const Steps& steps) {
        return held(filtered_sample_node(std::move(elements), to_transformations(steps)));
      },
      py::arg("elements"), py::arg("transformations"));
  m.def(
      "transformed_node",
      [](py::object value, const Steps& steps) {
        return held(transformed_node(std::move(value), to_transformations(steps)));
      },
      py::arg("value"), py::arg("transformations"));
  m.def("one_of_node", &make_one_of, py::arg("branches"), py::arg("chooses_one"));
}

void bind_collections(py::module_& m) {
  m.def(
      "list_node", [](const Node& element, const Sizes& sizes) { return held(list_node(element, to_sizes(sizes))); },
      py::arg("element"), py::arg("sizes"));
  m.def(
      "sparse_node",
      [](const Node& element, const Node& fill, std::int64_t size, const Sizes& sizes) {
        if (size < 1) {
          throw py::value_error("an array without places has nothing to draw");
        }
        return held(sparse_node(element, fill, size, to_sizes(sizes)));
      },
      py::arg("element"), py::arg("fill"), py::arg("size"), py::arg("sizes"));
  m.def(
      "unique_list_node",
      [](const Node& element, std::vector<py::object> conditions, const Sizes& sizes, std::vector<py::object> keys,
         const Node& suffix) {
        return held(
            unique_list_node(element, std::move(conditions), to_sizes(sizes), to_uniqueness(std::move(keys), suffix)));
      },
      py::arg("element"), py::arg("conditions"), py::arg("sizes"), py::arg("keys"), py::arg("suffix"));
  m.def(
      "unique_sample_node",
      [](py::object elements, const Steps& steps, const Sizes& sizes, std::vector<py::object> keys, const Node& suffix,
         bool forces_end) {
        return held(unique_sample_node(std::move(elements), to_transformations(steps), to_sizes(sizes),
                                       to_uniqueness(std::move(keys), suffix), forces_end));
      },
      py::arg("elements"), py::arg("transformations"), py::arg("sizes"), py::arg("keys"), py::arg("suffix"),
      py::arg("forces_end"));
  m.def("tuple_node", [](const Nodes& elements) { return held(tuple_node(shared(elements))); }, py::arg("elements"));
  m.def(
      "permutation_node", [](py::object elements) { return held(permutation_node(std::move(elements))); },
      py::arg("elements"));
  m.def(
      "fixed_dictionary_node",
      [](py::object make, const Keyed& required, const Keyed& optional, const Sizes& sizes, bool shuffles) {
        return held(
            fixed_dictionary_node(std::move(make), shared(required), shared(optional), to_sizes(sizes), shuffles));
      },
      py::arg("make"), py::arg("required"), py::arg("optional"), py::arg("optional_sizes"), py::arg("shuffles"));
}

void bind_calls(py::module_& m) {
  m.def(
      "map_node", [](const Node& mapped, py::object function) { return held(map_node(mapped, std::move(function))); },
      py::arg("mapped"), py::arg("function"));
  m.def(
      "filter_node",
      [](const Node& filtered, std::vector<py::object> conditions) {
        return held(filter_node(filtered, std::move(conditions)));
      },
      py::arg("filtered"), py::arg("conditions"));
  m.def(
      "builds_node",
      [](py::object target, const Nodes& arguments, const Keyed& keywords) {
        return held(builds_node(std::move(target), shared(arguments), shared(keywords)));
      },
      py::arg("target"), py::arg("arguments"), py::arg("keywords"));
  m.def(
      "flatmap_node",
      [](const Node& base, py::object expand, int depth) { return held(flatmap_node(base, std::move(expand), depth)); },
      py::arg("base"), py::arg("expand"), py::arg("depth"));
  m.def(
      "composite_node",
      [](py::object definition, const py::tuple& arguments, const py::dict& keywords, int depth) {
        return held(composite_node(std::move(definition), arguments, keywords, depth));
      },
      py::arg("definition"), py::arg("arguments"), py::arg("keywords"), py::arg("depth"));
}

void bind_machine(py::module_& m) {
  m.def(
      "bundle_node",
      [](py::object name, bool consumes, bool draws_references, const Steps& steps) {
        return held(bundle_node(std::move(name), consumes, draws_references, to_transformations(steps)));
      },
      py::arg("name"), py::arg("consumes"), py::arg("draws_references"), py::arg("transformations"));
  m.def("runner_node", [](const Node& otherwise) { return held(runner_node(otherwise)); }, py::arg("otherwise"));
  m.def(
      "generic_node", [](py::object strategy, int depth) { return held(generic_node(std::move(strategy), depth)); },
      py::arg("strategy"), py::arg("depth"));
}

}  // namespace

void bind_compiled(py::module_& m) {
  py::class_<StrategyNode, Node>(m, "StrategyNode")
      .def(
          "draw",
          [](const StrategyNode& self, py::handle run) {
            DrawContext* const draw_context = draw_context_of(run.ptr());
            PyObject* const value = draw_context == nullptr ? nullptr : self.draw(*draw_context);
            if (value == nullptr) {
              if (draw_context == nullptr) {
                throw py::type_error("a node draws in a DrawContext");
              }
              throw py::error_already_set();
            }
            return py::reinterpret_steal<py::object>(value);
          },
          py::arg("run"));
  add_strategy_objects(m);
  bind_values(m);
  bind_text(m);
  bind_choices(m);
  bind_collections(m);
  bind_calls(m);
  bind_machine(m);
  m.def("set_compiler_hooks", &set_compiler_hooks, py::arg("compiler"), py::arg("auditor"), py::arg("recognizer"));
  m.def("set_unsatisfied", &set_unsatisfied, py::arg("exception"));
  py::class_<Redraw>(m, "Redraw")
      .def(py::init<std::uint64_t, std::string_view>(), py::arg("seed"), py::arg("stream") = "rehearsal")
      .def(py::init([](const std::vector<py::object>& choices) {
             std::vector<Choice> all;
             all.reserve(choices.size());
             for (const py::object& choice : choices) {
               all.push_back(choice_from_python(choice));
             }
             return std::make_unique<Redraw>(all);
           }),
           py::arg("choices"))
      .def_property_readonly("source", &Redraw::source, py::return_value_policy::reference_internal)
      .def("repeat", &Redraw::repeat)
      .def_property_readonly("matches", &Redraw::matches);
}

}  // namespace ordeal::bindings
