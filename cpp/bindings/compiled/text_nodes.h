// Strategy nodes of texts and characters.
#pragma once

#include <cstdint>
#include <memory>

#include "bindings/compiled/compiled_strategy.h"
#include "core/tape/alphabet.h"

namespace ordeal::bindings {

// A text is one choice of any length.
StrategyNodePtr text_node(std::shared_ptr<const Alphabet> alphabet, std::int64_t low, std::int64_t high);
// The joined texts of a list: a text over a strategy other than characters.
StrategyNodePtr joined_node(StrategyNodePtr texts);

}  // namespace ordeal::bindings
