// The one place that includes pybind11: every unit of the extension must see the same type casters.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace ordeal::bindings {

namespace py = pybind11;

#ifdef Py_GIL_DISABLED
inline constexpr bool kHasGil = false;
#else
inline constexpr bool kHasGil = true;
#endif

void bind_allocations(py::module_& m);
void bind_alarm(py::module_& m);
void bind_audit(py::module_& m);
void bind_codec(py::module_& m);
void bind_coverage_map(py::module_& m);
void bind_fault_ablation(py::module_& m);
void bind_fast_path(py::module_& m);
void bind_faults(py::module_& m);
void bind_graph_copy(py::module_& m);
void bind_journal(py::module_& m);
void bind_loop_counter(py::module_& m);
void bind_monitor(py::module_& m);
void bind_odometer(py::module_& m);
void bind_rule_weights(py::module_& m);
void bind_compiled(py::module_& m);
void bind_process(py::module_& m);
void bind_rng(py::module_& m);
void bind_run_policy(py::module_& m);
void bind_session(py::module_& m);
void bind_session_values(py::module_& m);
void bind_schedule(py::module_& m);
void bind_shrinker(py::module_& m);
void bind_shared_entry(py::module_& m);
void bind_state(py::module_& m);
void bind_state_watch(py::module_& m);
void bind_step_loop(py::module_& m);
void bind_choice_source(py::module_& m);
void bind_tape(py::module_& m);

}  // namespace ordeal::bindings
