// Binds the decisions of a simulated run, what shrinks them, and the part of its loop that each step goes through. A
// decision is a tuple of kind, actor, site, occurrence, bound and value.
#include <cstdint>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/simulate/bound_places.h"
#include "bindings/simulate/handles.h"
#include "bindings/simulate/life_state.h"
#include "bindings/simulate/ready_queue.h"
#include "bindings/simulate/task_state.h"
#include "bindings/simulate/world_state.h"
#include "core/base/rng.h"
#include "core/schedule/interleaving.h"
#include "core/schedule/schedule.h"
#include "core/schedule/schedule_planner.h"
#include "core/schedule/schedule_shrinker.h"

namespace ordeal::bindings {
namespace {

using Fields = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, std::uint32_t, std::uint32_t, std::uint32_t>;

Fields to_fields(const Decision& decision) {
  const DecisionLabel& label = decision.label;
  return {label.kind, label.actor, label.site, label.occurrence, decision.bound, decision.value};
}

Decision to_decision(const Fields& fields) {
  const auto& [kind, actor, site, occurrence, bound, value] = fields;
  return {
      .label = {.kind = kind, .occurrence = occurrence, .actor = actor, .site = site}, .bound = bound, .value = value};
}

template <typename Decisions>
std::vector<Fields> all_fields(const Decisions& decisions) {
  std::vector<Fields> fields;
  fields.reserve(decisions.size());
  for (const Decision& decision : decisions) {
    fields.push_back(to_fields(decision));
  }
  return fields;
}

ScheduleShrinker make_shrinker(const std::vector<Fields>& decisions,
                               const std::unordered_map<std::uint64_t, std::uint64_t>& families) {
  std::vector<Decision> needed;
  needed.reserve(decisions.size());
  for (const Fields& fields : decisions) {
    needed.push_back(to_decision(fields));
  }
  return ScheduleShrinker(std::move(needed), {families.begin(), families.end()});
}

py::object next_candidate(ScheduleShrinker& shrinker) {
  const auto candidate = shrinker.next();
  return candidate ? py::cast(all_fields(*candidate)) : py::none();
}

}  // namespace

void bind_schedule(py::module_& m) {
  py::class_<Interleaving>(m, "Interleaving")
      .def(py::init<>())
      .def(
          "struck",
          [](Interleaving& self, std::uint32_t kind, std::uint64_t actor, std::uint64_t site, std::uint32_t occurrence,
             std::uint32_t value) { self.struck(Schedule::place_hash(kind, actor, site), occurrence, value); },
          py::arg("kind"), py::arg("actor"), py::arg("site"), py::arg("occurrence"), py::arg("value"))
      .def("take_new", [](Interleaving& self) {
        const auto found = self.take_new();
        return std::vector<std::uint64_t>(found.begin(), found.end());
      });

  py::class_<Schedule>(m, "Schedule")
      .def(py::init<std::uint64_t, ScheduleRates>(), py::arg("key"), py::arg("rates"))
      .def(
          "set",
          [](Schedule& self, std::uint32_t kind, std::uint64_t actor, std::uint64_t site, std::uint32_t occurrence,
             std::uint32_t value) {
            self.set({.kind = kind, .occurrence = occurrence, .actor = actor, .site = site}, value);
          },
          py::arg("kind"), py::arg("actor"), py::arg("site"), py::arg("occurrence"), py::arg("value"))
      .def("decide", &Schedule::decide, py::arg("kind"), py::arg("actor"), py::arg("site"), py::arg("bound"))
      .def("decide_evenly", &Schedule::decide_evenly, py::arg("kind"), py::arg("actor"), py::arg("site"),
           py::arg("bound"))
      .def("event", &Schedule::event, py::arg("what"))
      .def("keep_all", &Schedule::keep_all)
      .def_property_readonly("struck_of_kinds",
                             [](const Schedule& self) {
                               const auto counts = self.struck_of_kinds();
                               return std::vector<std::uint64_t>(counts.begin(), counts.end());
                             })
      .def_property_readonly("decisions", [](const Schedule& self) { return all_fields(self.decisions()); })
      .def_property_readonly("made", &Schedule::made)
      .def_property_readonly("event_hash", &Schedule::event_hash)
      .def_property_readonly("events", &Schedule::events);

  py::class_<SchedulePlanner>(m, "SchedulePlanner")
      .def(py::init<std::size_t, unsigned>(), py::arg("kinds"), py::arg("policies"))
      .def(
          "next", [](SchedulePlanner& self, std::uint64_t seed) { return self.next(seed).schedule(); }, py::arg("seed"))
      .def("again", [](const SchedulePlanner& self) { return self.plan().schedule(); })
      .def("tell", &SchedulePlanner::tell, py::arg("schedule"))
      .def_property_readonly("chance", [](const SchedulePlanner& self) { return self.plan().chance; })
      .def_property_readonly("is_steered",
                             [](const SchedulePlanner& self) { return self.plan().policy != SchedulePolicy::kDrawn; })
      .def_property_readonly("policy", [](const SchedulePlanner& self) { return static_cast<int>(self.plan().policy); })
      .def_property_readonly("kept", &SchedulePlanner::kept)
      .def_property_readonly("known", &SchedulePlanner::known);

  py::class_<ScheduleShrinker>(m, "ScheduleShrinker")
      .def(py::init(&make_shrinker), py::arg("decisions"),
           py::arg("families") = std::unordered_map<std::uint64_t, std::uint64_t>{})
      .def("next", &next_candidate)
      .def("tell", &ScheduleShrinker::tell, py::arg("still_fails"))
      .def_property_readonly("needed", [](const ScheduleShrinker& self) { return all_fields(self.needed()); });

  m.def("replace_at", &replace_at, py::arg("places"));
  m.def("restore_at", &restore_at, py::arg("places"), py::arg("originals"));

  m.attr("ReadyQueue") = ready_queue_type();
  m.attr("TaskState") = task_state_type();
  m.attr("LifeState") = life_state_type();
  m.attr("ClockState") = clock_state_type();
  m.attr("WorldState") = world_state_type();
  m.attr("Numbered") = numbered_type();
  m.def("set_task_types", &set_task_types, py::arg("task_type"), py::arg("record_type"));
  m.def(
      "set_loop_facts",
      [](py::object handle_type, py::object timer_type, py::object current_task, py::object heap_push,
         py::object heap_pop, py::object loop_actor, py::object nowhere, py::object step_type, py::object stepped_task,
         py::object life, py::object life_of, py::object name_key, py::object base_name, std::uint32_t stall,
         std::uint64_t step_site, std::uint32_t order, std::uint64_t timer_site, std::int64_t still_steps_max,
         std::int64_t steps_max, double tie_s, double creep_s) {
        set_loop_facts({.handle_type = std::move(handle_type),
                        .timer_type = std::move(timer_type),
                        .current_task = std::move(current_task),
                        .heap_push = std::move(heap_push),
                        .heap_pop = std::move(heap_pop),
                        .loop_actor = std::move(loop_actor),
                        .nowhere = std::move(nowhere),
                        .step_type = std::move(step_type),
                        .stepped_task = std::move(stepped_task),
                        .life = std::move(life),
                        .life_of = std::move(life_of),
                        .name_key = std::move(name_key),
                        .base_name = std::move(base_name),
                        .stall = stall,
                        .step_site = step_site,
                        .order = order,
                        .timer_site = timer_site,
                        .still_steps_max = still_steps_max,
                        .steps_max = steps_max,
                        .tie_s = tie_s,
                        .creep_s = creep_s});
      },
      py::kw_only(), py::arg("handle_type"), py::arg("timer_type"), py::arg("current_task"), py::arg("heap_push"),
      py::arg("heap_pop"), py::arg("loop_actor"), py::arg("nowhere"), py::arg("step_type"), py::arg("stepped_task"),
      py::arg("life"), py::arg("life_of"), py::arg("name_key"), py::arg("base_name"), py::arg("stall"),
      py::arg("step_site"), py::arg("order"), py::arg("timer_site"), py::arg("still_steps_max"), py::arg("steps_max"),
      py::arg("tie_s"), py::arg("creep_s"));

  m.def(
      "drawn_schedule",
      [](std::uint64_t seed, std::size_t kinds) {
        const std::uint64_t key = schedule_key(seed);
        return Schedule(key, draw_schedule_rates(key, kinds));
      },
      py::arg("seed"), py::arg("kinds"));
  m.def("schedule_run_seed", &schedule_run_seed, py::arg("seed"), py::arg("number"));
  // The same in every process, unlike Python's hash().
  m.def("stable_hash", [](const std::string& text) { return hash_bytes(text); }, py::arg("text"));
}

}  // namespace ordeal::bindings
