// How long the steps of runs take, each run compared with all of them.
//
// Where a program takes most of the time, its large states can take nearly all of it: a share of the runs is then no
// share of the time. This is the one place in which a clock steers a search, and only where it may.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ordeal {

// Thread-compatible.
class StepTimes {
 public:
  // Where steps take less than this on average, the engine has a part in their time, and nothing depends on the clock.
  static constexpr double kSlowStepSeconds = 0.001;
  // A run that takes longer than so many times the mean was held up by something else.
  static constexpr double kSlownessMax = 64;

  // Notes a run of so many new steps, and returns the time that they took each as a multiple of the mean of all runs so
  // far: 1 if that is unknown or of no matter. `seconds` is 0 where no clock may decide.
  double note(double seconds, std::uint64_t steps) noexcept {
    if (!(seconds > 0) || steps == 0) {
      return 1;
    }
    seconds_ += seconds;
    steps_ += static_cast<double>(steps);
    if (!matter()) {
      return 1;
    }
    return std::min(kSlownessMax, seconds / static_cast<double>(steps) / mean());
  }

  // Whether the steps so far are slow enough for their time to decide anything.
  [[nodiscard]] bool matter() const noexcept { return seconds_ > kSlowStepSeconds * steps_; }

 private:
  [[nodiscard]] double mean() const noexcept { return seconds_ / steps_; }

  double seconds_ = 0;
  double steps_ = 0;
};

}  // namespace ordeal
