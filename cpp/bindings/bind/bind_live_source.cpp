// Binds a choice source of its own, outside of any session: for tests that Hypothesis itself runs.
#include <cstdint>

#include "bindings/bindings.h"
#include "core/base/rng.h"
#include "core/draw/source.h"
#include "core/tape/tape.h"

namespace ordeal::bindings {
namespace {

// One step with one argument, drawn live from a stream of the seed.
class LiveSource {
 public:
  explicit LiveSource(std::uint64_t seed) : source_(tape_) {
    tape_.begin_step(StepKind::kRule, 0, 0);
    source_.live(Rng::stream(seed, "live source"));
    source_.begin_argument(0);
  }
  LiveSource(const LiveSource&) = delete;  // the source writes to this object's tape
  LiveSource& operator=(const LiveSource&) = delete;
  LiveSource(LiveSource&&) = delete;
  LiveSource& operator=(LiveSource&&) = delete;
  ~LiveSource() = default;

  [[nodiscard]] ChoiceSource& source() noexcept { return source_; }

 private:
  Tape tape_;
  ChoiceSource source_;
};

}  // namespace

void bind_live_source(py::module_& m) {
  py::class_<LiveSource>(m, "LiveSource")
      .def(py::init<std::uint64_t>(), py::arg("seed"))
      .def_property_readonly("source", &LiveSource::source, py::return_value_policy::reference_internal);
}

}  // namespace ordeal::bindings
