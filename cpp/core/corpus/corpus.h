// The corpus: checkpoints that reached something new. Decides where the next run starts, and which entry makes room.
//
// An entry is a checkpoint: what libFuzzer and AFL keep as an input is here the way to a state. It holds no snapshot:
// the owner of a snapshot keeps it by the checkpoint's id, and drops it when add() says that the checkpoint made room.
#pragma once

#include <tsl/robin_map.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/energy_tree.h"
#include "core/base/rng.h"
#include "core/corpus/power_schedule.h"
#include "core/coverage/features.h"
#include "core/tape/prefix.h"

namespace ordeal {

enum class CheckpointStrategy : std::uint8_t {
  kEnergy,   // in proportion to energy
  kUniform,  // all equally
  kRecent,   // weights 1..n in the order of creation
};

// "energy", "uniform" or "recent"; ConfigError for anything else.
CheckpointStrategy parse_strategy(std::string_view name);

// A state worth branching from. The prefix alone is enough to reach it from a fresh machine.
struct Checkpoint {
  std::uint64_t id = 0;
  Prefix prefix;
  double energy = kEnergyInitial;
  std::uint32_t frequency_class = 0;  // of the rarest feature below, as last computed
  double slowness = 1.0;              // of steps from here, as a multiple of the mean; learnt by each process
  // The features it was kept for, but not all of a long list.
  // NOLINTNEXTLINE(readability-redundant-member-init): without it, gcc asks for it wherever a checkpoint is written.
  std::vector<Feature> shows = {};
  std::uint32_t new_edges = 0;
  std::uint32_t step = 0;  // its depth: steps from a fresh machine
  std::uint64_t run_id = 0;
  std::uint64_t times_selected = 0;
  bool is_tip = false;  // kept only for a number that is larger than ever before
};

// Every operation is O(log n); a pointer to an entry is valid until the next add or remove.
class Corpus {
 public:
  static constexpr std::size_t kCheckpointsMax = EnergyTree::kSlotsMax;
  // The limit of all prefixes together, with shared steps counted once, far above what the default number of
  // checkpoints needs.
  static constexpr std::size_t kBytesMax = std::size_t{256} << 20U;
  // A checkpoint that takes more than 1/kPartMax of it is not kept.
  static constexpr std::size_t kPartMax = 4;

  // With max_checkpoints 0 nothing is kept. ConfigError above kCheckpointsMax.
  Corpus(std::size_t max_checkpoints, CheckpointStrategy strategy, std::size_t bytes_max = kBytesMax);

  // Keeps the checkpoint, whose id must be new. In a full corpus another makes room and its id is returned: the one of
  // lowest energy (of equals the oldest) under kEnergy, else a random one, but never the new one. If that does not free
  // enough bytes for the prefix, the new one is not kept.
  std::optional<std::uint64_t> add(Checkpoint checkpoint, Rng& rng);
  // Null when the corpus is empty. Counts the selection in the entry. Without `climbs` it is a tip only where there is
  // hardly anything else.
  const Checkpoint* pick(Rng& rng);
  void set_climbs(bool climbs) noexcept { climbs_ = climbs; }

  // Applies the outcome of a run that started from the entry. Ignores an entry that has made room meanwhile.
  void reward(std::uint64_t id, double new_edges);
  void decay(std::uint64_t id);
  // Drops an entry; false if there is none with that id.
  bool remove(std::uint64_t id);
  // Sets how common the features of the entry are now: its share of the runs shrinks, but its energy stays.
  void set_frequency_class(std::uint64_t id, std::uint32_t frequency_class);
  // Sets how slow steps from the entry are: its share of the runs is divided by it, as shares are meant to be of time.
  void set_slowness(std::uint64_t id, double slowness);
  // Moves the energy of one entry, down to its floor, to another. Does nothing when one of them is gone.
  void transfer_energy(std::uint64_t from, std::uint64_t to);

  [[nodiscard]] std::size_t size() const noexcept { return tree_.size(); }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] std::size_t max_checkpoints() const noexcept { return max_checkpoints_; }
  [[nodiscard]] CheckpointStrategy strategy() const noexcept { return strategy_; }
  [[nodiscard]] const Checkpoint* find(std::uint64_t id) const noexcept;
  // All entries, oldest first. O(n).
  [[nodiscard]] std::vector<const Checkpoint*> entries() const;

 private:
  // Mixes the bits, because addresses end in zeros. Nothing depends on the order of the table.
  struct PartHash {
    std::size_t operator()(const Prefix::Part* part) const noexcept {
      return mix64(std::bit_cast<std::uintptr_t>(part));
    }
  };

  [[nodiscard]] std::size_t pick_slot(Rng& rng) const;
  std::uint64_t make_room(Rng& rng);
  void clear_slot(std::size_t slot);
  [[nodiscard]] bool has_room_for(const Prefix& prefix) const;
  void hold(const Prefix& prefix);
  void release(const Prefix& prefix);
  void set_energy(std::size_t slot, double energy);
  void weigh(std::size_t slot);
  // Closes up empty slots and gives the tree room for as many again.
  void compact();

  bool climbs_ = true;
  std::size_t max_checkpoints_;
  CheckpointStrategy strategy_;
  std::size_t bytes_max_;
  // How many entries end with a part, plus how many other parts follow it; and the bytes of all parts together.
  tsl::robin_map<const Prefix::Part*, std::uint32_t, PartHash> uses_;
  std::size_t bytes_ = 0;
  // Slots in the order of creation; empty ones are closed up when slots run out: amortised O(1) per add.
  std::vector<std::optional<Checkpoint>> slots_;
  EnergyTree tree_;
  tsl::robin_map<std::uint64_t, std::size_t> slot_of_;
};

}  // namespace ordeal
