#include "bindings/simulate/loop_decisions.h"

#include "bindings/cpython/c_api.h"
#include "bindings/simulate/ready_queue.h"

namespace ordeal::bindings {

std::uint32_t decision(const ReadyQueue& queue, std::uint32_t kind, std::uint64_t actor, std::uint64_t site,
                       std::uint32_t bound) {
  if (queue.is_quiet != 0) {
    return 0;
  }
  if (queue.decides != nullptr) [[likely]] {
    return queue.decides->decide(kind, actor, site, bound);
  }
  static PyObject* const kName = interned("decide");
  return py::handle(queue.schedule).attr(py::handle(kName))(kind, actor, site, bound).cast<std::uint32_t>();
}

}  // namespace ordeal::bindings
