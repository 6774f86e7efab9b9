// Binds the edge tracer.
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/monitor/monitor.h"
#include "core/base/error.h"

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

std::shared_ptr<Monitor> make_monitor(std::shared_ptr<CoverageMap> coverage, const std::vector<TargetTuple>& targets,
                                      const std::string& level) {
  std::vector<TracedTarget> traced;
  traced.reserve(targets.size());
  for (const auto& [module_name, path, is_package] : targets) {
    traced.push_back({module_name, path, is_package});
  }
  return std::make_shared<Monitor>(std::move(coverage), traced, parse_level(level));
}

// As plain tuples, which the state file stores unchanged.
using SideTuple = std::pair<std::int64_t, bool>;
using SiteTuple = std::tuple<std::int64_t, std::uint32_t, bool, SideTuple, SideTuple>;
using CodeTuple = std::tuple<std::uint64_t, bool, std::vector<std::int64_t>, std::vector<SiteTuple>>;

CodeTuple code_to_tuple(const MonitorState::Code& code) {
  std::vector<SiteTuple> sites;
  sites.reserve(code.sites.size());
  for (const auto& [from, one_sided_hits, silent, sides] : code.sites) {
    sites.emplace_back(from, one_sided_hits, silent, SideTuple(sides[0].to, sides[0].silent),
                       SideTuple(sides[1].to, sides[1].silent));
  }
  return {code.key, code.entry_silent, code.silent_lines, std::move(sites)};
}

MonitorState::Code code_from_tuple(const CodeTuple& tuple) {
  const auto& [key, entry_silent, silent_lines, sites] = tuple;
  MonitorState::Code code{.key = key, .entry_silent = entry_silent, .silent_lines = silent_lines, .sites = {}};
  for (const auto& [from, one_sided_hits, silent, first, second] : sites) {
    code.sites.push_back({.from = from,
                          .one_sided_hits = one_sided_hits,
                          .silent = silent,
                          .sides = {{{first.first, first.second}, {second.first, second.second}}}});
  }
  return code;
}

py::tuple save(const Monitor& monitor) {
  const MonitorState state = monitor.save();
  py::list files;
  for (const MonitorState::File& file : state.files) {
    files.append(py::make_tuple(path_object(file.path), file.lines));
  }
  std::vector<CodeTuple> codes;
  codes.reserve(state.codes.size());
  for (const MonitorState::Code& code : state.codes) {
    codes.push_back(code_to_tuple(code));
  }
  return py::make_tuple(files, state.touched, codes, state.events);
}

void restore(Monitor& monitor, const std::vector<std::pair<py::str, std::vector<std::int64_t>>>& files,
             std::vector<std::uint32_t> touched, const std::vector<CodeTuple>& codes, std::uint64_t events) {
  MonitorState state{.files = {}, .touched = std::move(touched), .codes = {}, .events = events};
  for (const auto& [path, lines] : files) {
    state.files.push_back({path_text(path), lines});
  }
  for (const CodeTuple& code : codes) {
    state.codes.push_back(code_from_tuple(code));
  }
  monitor.restore(state);
}

py::object branch_sides(Monitor& monitor, const py::object& code) {
  if (!PyCode_Check(code.ptr())) {
    throw py::type_error("branch_sides() takes a code object");
  }
  const auto branches = monitor.branch_sides(reinterpret_cast<PyCodeObject*>(code.ptr()));
  if (!branches) {
    return py::none();
  }
  py::list pairs;
  for (const auto& [from, both] : *branches) {
    pairs.append(py::make_tuple(from, both));
  }
  return pairs;
}

}  // namespace

void bind_monitor(py::module_& m) {
  py::class_<Monitor, std::shared_ptr<Monitor>>(m, "Monitor")
      .def(py::init(&make_monitor), py::arg("coverage_map"), py::arg("targets"), py::kw_only(),
           py::arg("level") = "novelty")
      .def("start", &Monitor::start)
      .def("stop", &Monitor::stop)
      .def("begin_run", &Monitor::begin_run, py::arg("full") = false, py::arg("count_all") = true)
      .def(
          "set_level", [](Monitor& monitor, const std::string& level) { monitor.set_level(parse_level(level)); },
          py::arg("level"))
      .def("lines", &Monitor::lines)
      .def("files", &Monitor::files)
      .def("codes", &Monitor::codes, py::arg("begin"))
      .def("take_files", &Monitor::take_files)
      .def("branch_sides", &branch_sides, py::arg("code"))
      .def("set_paused", &Monitor::set_paused, py::arg("paused"))
      .def("record", &Monitor::record)
      .def("take_record", [](Monitor& monitor) { return py::bytes(monitor.take_record()); })
      .def("replay", &Monitor::replay, py::arg("record"))
      .def("save", &save)
      .def("restore", &restore, py::arg("files"), py::arg("touched"), py::arg("codes"), py::arg("events"))
      .def_property_readonly("events", &Monitor::events)
      .def_property_readonly("tool_id", &Monitor::tool_id)
      .def_property_readonly(
          "level", [](const Monitor& monitor) { return monitor.level() == TraceLevel::kCounts ? "counts" : "novelty"; })
      .def_property_readonly("error", &Monitor::error);
}

}  // namespace ordeal::bindings
