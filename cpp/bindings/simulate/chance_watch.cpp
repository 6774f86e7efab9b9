#include "bindings/simulate/chance_watch.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "bindings/cpython/c_api.h"

namespace ordeal::bindings {

// The state is compared with what the generator says of it: first the index, then the words.
ChanceWatch::ChanceWatch(py::object generator) : generator_(std::move(generator)) {
  const auto size = static_cast<std::size_t>(Py_TYPE(generator_.ptr())->tp_basicsize);
  if (size < sizeof(PyObject) + kBytes) {
    return;
  }
  const auto words = generator_.attr("getstate")().cast<py::tuple>()[1].cast<std::vector<std::uint32_t>>();
  if (words.size() != kWords + 1) {
    return;
  }
  std::array<std::uint32_t, kWords + 1> seen{};
  std::memcpy(seen.data(), state(), kBytes);
  is_able_ = seen[0] == words[kWords] && std::equal(words.begin(), words.end() - 1, seen.begin() + 1);
}

const std::byte* ChanceWatch::state() const noexcept {
  return reinterpret_cast<const std::byte*>(generator_.ptr()) + sizeof(PyObject);
}

void ChanceWatch::mark() {
  if (is_able_) {
    std::memcpy(marked_.data(), state(), kBytes);
  }
}

bool ChanceWatch::has_changed() const { return !is_able_ || std::memcmp(marked_.data(), state(), kBytes) != 0; }

}  // namespace ordeal::bindings
