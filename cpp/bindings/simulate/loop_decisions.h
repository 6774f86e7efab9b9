// What a simulated loop has decided: by the schedule of the core, or by one in Python that keeps decisions on a tape.
#pragma once

#include <cstdint>

#include "bindings/bindings.h"

namespace ordeal::bindings {

struct ReadyQueue;

// 0 at the end of a run, when nothing is disturbed any more.
std::uint32_t decision(const ReadyQueue& queue, std::uint32_t kind, std::uint64_t actor, std::uint64_t site,
                       std::uint32_t bound);

}  // namespace ordeal::bindings
