// The only source of randomness: a seeded generator with named sub-streams.
//
// Everything that must be reproducible for a seed draws from here alone: the distributions of the standard library and
// the seeding of its generators differ between platforms.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

#include "core/base/check.h"

namespace ordeal {

// One round of SplitMix64 (Steele, Lea, Flood 2014): a bijection on 64 bits that spreads every input bit.
constexpr std::uint64_t mix64(std::uint64_t x) noexcept {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31U);
}

// FNV-1a over the bytes, then mixed. Stable between processes, machines and versions.
constexpr std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed = 0) noexcept {
  std::uint64_t h = 0xCBF29CE484222325ULL ^ mix64(seed);
  for (const char c : bytes) {
    h = (h ^ static_cast<std::uint8_t>(c)) * 0x100000001B3ULL;
  }
  return mix64(h);
}

// xoshiro256** 1.0 (Blackman and Vigna 2018). Thread-compatible: one owner draws at a time. The state is four words, so
// that a session can save and restore it. A generator is cheap to copy (32 bytes). Code whose draws must not shift
// others takes its own stream() instead of a shared generator.
class Rng {
 public:
  using State = std::array<std::uint64_t, 4>;

  explicit Rng(std::uint64_t seed) noexcept {
    for (auto& word : state_) {
      seed = mix64(seed);
      word = seed;
    }
  }

  // A sub-stream: independent draws for one purpose, so that more draws in one place shift none elsewhere.
  static Rng stream(std::uint64_t seed, std::string_view name, std::uint64_t number = 0) noexcept {
    return Rng(hash_bytes(name, mix64(seed) ^ (number * 0x9E3779B97F4A7C15ULL)));
  }

  // The raw 64 bits, from which all other draws are made.
  std::uint64_t next() noexcept {
    const std::uint64_t result = std::rotl(state_[1] * 5U, 7) * 9U;
    const std::uint64_t t = state_[1] << 17U;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // Uniform in [0, bound); bound > 0. Lemire's multiplication with rejection (2019): no bias.
  std::uint64_t below(std::uint64_t bound) noexcept {
    ORDEAL_DCHECK(bound > 0, "bound=" << bound);
    unsigned __int128 product = static_cast<unsigned __int128>(next()) * bound;
    if (static_cast<std::uint64_t>(product) < bound) {
      const std::uint64_t threshold = (0 - bound) % bound;
      while (static_cast<std::uint64_t>(product) < threshold) {
        product = static_cast<unsigned __int128>(next()) * bound;
      }
    }
    return static_cast<std::uint64_t>(product >> 64U);
  }

  // Uniform in [low, high], the whole int64 range included.
  std::int64_t between(std::int64_t low, std::int64_t high) noexcept {
    ORDEAL_DCHECK(low <= high, "low=" << low << " high=" << high);
    const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    const std::uint64_t offset = span == UINT64_MAX ? next() : below(span + 1);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
  }

  // Uniform in [0, 1) with 53 bits.
  double unit() noexcept { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

  // True with probability p; p <= 0 is never, p >= 1 always. Always draws once.
  bool chance(double p) noexcept { return unit() < p; }

  [[nodiscard]] const State& state() const noexcept { return state_; }
  // From a state of zeros the generator would return zeros forever.
  void set_state(const State& state) noexcept {
    ORDEAL_DCHECK(state != State{}, "the state of a generator is all zeros");
    state_ = state;
  }

 private:
  State state_{};
};

}  // namespace ordeal
