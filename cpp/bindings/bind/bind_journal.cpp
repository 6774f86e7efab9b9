// Binds Journal, over the memory of any object that lends it, and what reads it in another process.
#include <pthread.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>

#include "bindings/bindings.h"
#include "bindings/cpython/lent_memory.h"
#include "core/base/error.h"
#include "core/draw/replay.h"
#include "core/search/session.h"
#include "core/tape/journal.h"

namespace ordeal::bindings {
namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, 5> kStages{"idle", "making", "step", "teardown", "inspecting"};

// The memory comes first: it must be there before the journal, and longer.
class LentJournal : private LentMemory, public Journal {
 public:
  explicit LentJournal(const py::object& lender) : LentMemory(lender, PyBUF_WRITABLE), Journal(bytes()) {}
};

// A step source keeps its journal alive.
template <typename StepSource>
void give_journal(py::class_<StepSource>& step_source) {
  step_source.def_property(
      "journal", [](StepSource& self) { return std::static_pointer_cast<LentJournal>(self.source().journal()); },
      [](StepSource& self, std::shared_ptr<LentJournal> journal) { self.set_journal(std::move(journal)); });
}

JournalRecord read(const py::object& memory, const std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>& shape,
                   std::uint32_t argument_names) {
  const auto [rules, initializers, faults] = shape;
  const LentMemory lent(memory, PyBUF_SIMPLE);
  return read_journal(lent.bytes(), {.rules = rules, .initializers = initializers, .faults = faults}, argument_names);
}

}  // namespace

void bind_journal(py::module_& m) {
  // However a process forks, the child is not the process that the journal describes.
  static const int kRegistered = pthread_atfork(nullptr, nullptr, [] { Journal::forked(); });
  if (kRegistered != 0) {
    throw Error("fork handlers could not be registered");
  }
  py::class_<LentJournal, std::shared_ptr<LentJournal>>(m, "Journal")
      .def(py::init<const py::object&>(), py::arg("memory"))
      .def("own", [](LentJournal& self) { self.own(); })
      // Without an argument: it is called in every run.
      .def("enter_teardown", [](LentJournal& self) { self.enter(JournalStage::kTeardown); })
      // What is between a begin and its end may be between others: the end gets what the begin gave.
      .def("begin_inspecting",
           [](LentJournal& self) {
             const JournalStage before = self.stage();
             self.enter(JournalStage::kInspecting);
             return static_cast<std::uint32_t>(before);
           })
      .def(
          "end_inspecting",
          [](LentJournal& self, std::uint32_t before) { self.enter(static_cast<JournalStage>(before)); },
          py::arg("before"))
      .def(
          "add_decision",
          [](LentJournal& self, std::uint32_t name, bool decision) { self.add_decision(name, decision); },
          py::arg("name"), py::arg("decision"))
      .def_property_readonly("steps", [](const LentJournal& self) { return self.steps(); });

  py::class_<JournalRecord>(m, "JournalRecord")
      .def_property_readonly("tape", [](const JournalRecord& self) { return self.tape; })
      .def_readonly("cut", &JournalRecord::cut)
      .def_readonly("ended", &JournalRecord::ended)
      .def_readonly("run", &JournalRecord::run)
      .def_readonly("steps", &JournalRecord::steps)
      .def_property_readonly("stage", [](const JournalRecord& self) {
        return std::string(kStages.at(static_cast<std::size_t>(self.stage)));
      });

  m.def("read_journal", &read, py::arg("memory"), py::arg("shape"), py::arg("argument_names"));
  m.def(
      "journal_steps",
      [](const py::object& memory) { return read_journal_steps(LentMemory(memory, PyBUF_SIMPLE).bytes()); },
      py::arg("memory"));

  auto session = py::reinterpret_borrow<py::class_<Session>>(m.attr("Session"));
  give_journal(session);
  auto replay = py::reinterpret_borrow<py::class_<Replay>>(m.attr("Replay"));
  give_journal(replay);
}

}  // namespace ordeal::bindings
