// Binds the edge tracer.
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/monitor.h"
#include "core/error.h"

namespace ordeal::bindings {
namespace {

using TargetTuple = std::tuple<std::string, std::string, bool>;

TraceLevel parse_level(const std::string& level) {
  if (level == "novelty") {
    return TraceLevel::kNovelty;
  }
  if (level == "counts") {
    return TraceLevel::kCounts;
  }
  throw ConfigError("trace level is '" + level + "'; it must be 'novelty' or 'counts'");
}

std::unique_ptr<Monitor> make_monitor(std::shared_ptr<CoverageMap> coverage, const std::vector<TargetTuple>& targets,
                                      const std::string& level) {
  std::vector<TracedTarget> traced;
  traced.reserve(targets.size());
  for (const auto& [module_name, path, is_package] : targets) {
    traced.push_back({module_name, path, is_package});
  }
  return std::make_unique<Monitor>(std::move(coverage), traced, parse_level(level));
}

}  // namespace

void bind_monitor(py::module_& m) {
  py::class_<Monitor>(m, "Monitor")
      .def(py::init(&make_monitor), py::arg("coverage_map"), py::arg("targets"), py::kw_only(),
           py::arg("level") = "novelty")
      .def("start", &Monitor::start)
      .def("stop", &Monitor::stop)
      .def("begin_run", &Monitor::begin_run, py::arg("full") = false)
      .def(
          "set_level", [](Monitor& monitor, const std::string& level) { monitor.set_level(parse_level(level)); },
          py::arg("level"))
      .def("lines", &Monitor::lines)
      .def("files", &Monitor::files)
      .def("take_files", &Monitor::take_files)
      .def_property_readonly("events", &Monitor::events)
      .def_property_readonly("tool_id", &Monitor::tool_id)
      .def_property_readonly(
          "level", [](const Monitor& monitor) { return monitor.level() == TraceLevel::kCounts ? "counts" : "novelty"; })
      .def_property_readonly("error", &Monitor::error);
}

}  // namespace ordeal::bindings
