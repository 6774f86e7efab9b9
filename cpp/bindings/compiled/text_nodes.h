// Strategy nodes of texts and characters.
#pragma once

#include <cstdint>
#include <memory>

#include "bindings/compiled/compiled_strategy.h"
#include "core/tape/alphabet.h"

namespace ordeal::bindings {

// A text is one choice, whatever its length.
StrategyNodePtr text_node(std::shared_ptr<const Alphabet> alphabet, std::int64_t low, std::int64_t high);
// The texts of a list, joined: what a text over any other strategy than characters is made of.
StrategyNodePtr joined_node(StrategyNodePtr texts);

}  // namespace ordeal::bindings
