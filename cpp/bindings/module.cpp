// The extension module `ordeal._native`: the list of what is bound, and how errors of the core reach Python.
#include "bindings/bindings.h"
#include "bindings/cpython/quick_properties.h"
#include "core/base/check.h"
#include "core/base/error.h"

#ifndef ORDEAL_VERSION
#define ORDEAL_VERSION "0.0.0"
#endif

PYBIND11_MODULE(_native, m, pybind11::mod_gil_not_used()) {
  namespace py = pybind11;
  // What the process has once would serve two interpreters; Python itself refuses only those with their own GIL.
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    throw py::import_error("ordeal does not run in a sub-interpreter: import it in the main interpreter");
  }
  m.doc() = "The compiled engine of ordeal. Its typed contract is `_native.pyi`.";
  m.attr("__version__") = ORDEAL_VERSION;
  py::register_exception<ordeal::Error>(m, "CoreError", PyExc_ValueError);
  py::register_exception<ordeal::CheckFailure>(m, "CheckError", PyExc_AssertionError);
  ordeal::bindings::bind_codec(m);
  ordeal::bindings::bind_tape(m);
  ordeal::bindings::bind_choice_source(m);
  ordeal::bindings::bind_compiled(m);
  ordeal::bindings::bind_coverage_map(m);
  ordeal::bindings::bind_run_policy(m);
  ordeal::bindings::bind_session(m);
  ordeal::bindings::bind_session_values(m);
  ordeal::bindings::bind_journal(m);
  ordeal::bindings::bind_state(m);
  ordeal::bindings::bind_shared_entry(m);
  ordeal::bindings::bind_state_watch(m);
  ordeal::bindings::bind_step_loop(m);
  ordeal::bindings::bind_shrinker(m);
  ordeal::bindings::bind_fault_ablation(m);
  ordeal::bindings::bind_monitor(m);
  ordeal::bindings::bind_loop_counter(m);
  ordeal::bindings::bind_allocations(m);
  ordeal::bindings::bind_odometer(m);
  ordeal::bindings::bind_process(m);
  ordeal::bindings::bind_fast_path(m);
  ordeal::bindings::bind_faults(m);
  ordeal::bindings::bind_graph_copy(m);
  ordeal::bindings::bind_rng(m);
  ordeal::bindings::bind_rule_weights(m);
  ordeal::bindings::bind_schedule(m);
  ordeal::bindings::bind_alarm(m);
  ordeal::bindings::bind_audit(m);
  ordeal::bindings::unwrap_properties(m);
}
