// Whether a program has used Python's own generator of random numbers: to seed it takes longer than a small run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "bindings/bindings.h"

namespace ordeal::bindings {

// Compares the state of a `random.Random` with what it was. Where that state lies is found out by looking, and so is
// whether it lies there at all. Thread-compatible.
class ChanceWatch {
 public:
  explicit ChanceWatch(py::object generator);

  // Whether the state was found; otherwise a generator counts as changed at any time.
  [[nodiscard]] bool is_able() const noexcept { return is_able_; }
  void mark();
  [[nodiscard]] bool has_changed() const;

 private:
  // CPython's Mersenne Twister: 624 words, and which of them comes next.
  static constexpr std::size_t kWords = 624;
  static constexpr std::size_t kBytes = (kWords + 1) * sizeof(std::uint32_t);

  [[nodiscard]] const std::byte* state() const noexcept;

  py::object generator_;
  std::array<std::byte, kBytes> marked_{};
  bool is_able_ = false;
};

}  // namespace ordeal::bindings
