// Binds RunPolicy, which the search asks between two runs.
#include "bindings/bindings.h"
#include "core/search/run_policy.h"

namespace ordeal::bindings {

namespace {

// The name of an end of a search in its result.
const char* name_of(EndReason reason) {
  switch (reason) {
    case EndReason::kMaxRuns:
      return "max_runs";
    case EndReason::kStuck:
      return "stuck";
    case EndReason::kPatience:
      return "patience";
  }
  return "";
}

}  // namespace

void bind_run_policy(py::module_& m) {
  py::class_<WatchSpec>(m, "WatchSpec")
      .def_readonly("full", &WatchSpec::full)
      .def_readonly("count_all", &WatchSpec::count_all)
      .def_readonly("choose_level", &WatchSpec::choose_level)
      .def_readonly("learn_files", &WatchSpec::learn_files)
      .def_readonly("drop_files", &WatchSpec::drop_files)
      .def_readonly("direct_swarm", &WatchSpec::direct_swarm);
  py::class_<RunPolicy>(m, "RunPolicy")
      .def(py::init<>())
      .def_readonly_static("WARM_UP_RUNS", &RunPolicy::kWarmUpRuns)
      .def_static("watch", &RunPolicy::watch, py::arg("run_id"), py::kw_only(), py::arg("learns_swarm"),
                  py::arg("by_bandit"))
      .def_static("counting_is_expensive", &RunPolicy::counting_is_expensive, py::arg("events"), py::arg("steps"))
      .def("check_copy", &RunPolicy::check_copy)
      .def_static(
          "returning_is_expensive",
          [](std::uint64_t returns, std::uint64_t steps, double seconds, std::uint64_t runs, bool by_steps) {
            return RunPolicy::returning_is_expensive({.returns = returns, .steps = steps, .seconds = seconds}, runs,
                                                     by_steps);
          },
          py::kw_only(), py::arg("returns"), py::arg("steps"), py::arg("seconds"), py::arg("runs"), py::arg("by_steps"))
      .def_static(
          "copying_pays",
          [](std::uint64_t steps, double seconds, double copy_seconds, bool by_steps) {
            return RunPolicy::copying_pays({.returns = 1, .steps = steps, .seconds = seconds}, copy_seconds, by_steps);
          },
          py::kw_only(), py::arg("steps"), py::arg("seconds"), py::arg("copy_seconds"), py::arg("by_steps"))
      .def_static(
          "holding_pays",
          [](std::uint64_t steps, double seconds, double hold_seconds, bool by_steps) {
            return RunPolicy::holding_pays({.returns = 1, .steps = steps, .seconds = seconds}, hold_seconds, by_steps);
          },
          py::kw_only(), py::arg("steps"), py::arg("seconds"), py::arg("hold_seconds"), py::arg("by_steps"))
      .def_static(
          "end",
          [](std::uint64_t runs, std::uint64_t steps, std::uint64_t runs_without_new_features,
             std::optional<std::uint64_t> max_runs,
             std::uint64_t patience) -> std::pair<std::optional<std::string>, std::uint64_t> {
            const EndDecision decision =
                RunPolicy::end({.runs = runs, .steps = steps, .runs_without_new_features = runs_without_new_features},
                               max_runs, patience);
            const auto reason = decision.reason ? std::optional<std::string>(name_of(*decision.reason)) : std::nullopt;
            return {reason, decision.ask_again};
          },
          py::kw_only(), py::arg("runs"), py::arg("steps"), py::arg("runs_without_new_features"), py::arg("max_runs"),
          py::arg("patience"));
}

}  // namespace ordeal::bindings
