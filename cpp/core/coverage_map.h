// The coverage map: which edges ran in this session, how often in this run, and what of that was new.
#pragma once

#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/check.h"

namespace ordeal {

// What was unseen in the session until now.
struct Fresh {
  std::uint32_t edges = 0;  // edges that never ran before
  std::uint32_t buckets =
      0;  // (edge, hit-count bucket) pairs; an edge that is itself fresh brings its first pair along
};

// What a map has seen, for a later session to go on with.
struct CoverageState {
  struct Edge {
    std::uint64_t key = 0;
    std::uint8_t buckets = 0;  // a bit per bucket; never 0

    friend bool operator==(const Edge&, const Edge&) = default;
  };

  std::vector<Edge> edges;              // by ascending key
  std::vector<std::uint64_t> features;  // ascending

  friend bool operator==(const CoverageState&, const CoverageState&) = default;
};

// Edges are dense ids handed out by add_edge(), so that two edges never share a counter as they do in a hashed map.
// hit() and mark() are the hot path: noexcept and free of allocation, because add_edge() has made the room before.
// Thread-compatible: the owner's lock (in Python, the GIL) guards every call.
class CoverageMap {
 public:
  static constexpr std::size_t kDefaultCapacity = 65536;
  static constexpr std::size_t kEdgesMax = std::size_t{1} << 26U;
  static constexpr std::size_t kFeaturesMax = std::size_t{1} << 26U;

  explicit CoverageMap(std::size_t capacity = kDefaultCapacity);

  // The dense id of an edge; the same key always gives the same id. Adding does not make the edge seen. May allocate.
  std::uint32_t add_edge(std::uint64_t key);

  // Counts level: one more passage of the edge in this run. Entering a bucket that the session never saw is fresh.
  void hit(std::uint32_t id) noexcept {
    ORDEAL_DCHECK(id < cells_.size(), "id=" << id << " edges=" << cells_.size());
    Cell& cell = cells_[id];
    if (cell.hits == kHitsMax) {
      return;
    }
    if (cell.hits == 0) {
      touched_.push_back(id);  // never allocates: add_edge() keeps room for every edge
    }
    ++cell.hits;
    see(cell, kBucketEntered[cell.hits]);
  }

  // Novelty level: the edge ran at least once.
  void mark(std::uint32_t id) noexcept {
    ORDEAL_DCHECK(id < cells_.size(), "id=" << id << " edges=" << cells_.size());
    see(cells_[id], 1);
  }

  // Starts the counters of a run at zero. Costs one store for each edge that the last run touched.
  void begin_run() noexcept;

  // What became fresh since the last call.
  Fresh take_fresh() noexcept;

  // Nothing counts as seen any more, so that keys() tells of what runs from here on alone. Ids stay valid.
  void forget() noexcept;

  // Another kind of feature than an edge (a state hash, a pair of rules); true when the session never saw it.
  bool add_feature(std::uint64_t key);

  [[nodiscard]] std::size_t edges_seen() const noexcept { return edges_seen_; }
  [[nodiscard]] std::size_t features_seen() const noexcept { return features_.size(); }
  // How often the edge ran in this run, up to 128.
  [[nodiscard]] std::uint32_t hits(std::uint32_t id) const;
  // The keys of the edges seen, sorted, so that they can be written, compared and merged.
  [[nodiscard]] std::vector<std::uint64_t> keys() const;
  [[nodiscard]] CoverageState save() const;
  // Adds what an earlier session saw; none of it is fresh any more.
  void restore(const CoverageState& state);

 private:
  // AFL's hit-count buckets 1, 2, 3, 4-7, 8-15, 16-31, 32-127 and 128 or more, a bit for each.
  static constexpr std::uint8_t kHitsMax = 128;
  static constexpr std::array<std::uint8_t, 8> kBucketStarts{1, 2, 3, 4, 8, 16, 32, 128};

  struct Cell {
    std::uint8_t hits = 0;     // in this run, saturating at kHitsMax
    std::uint8_t buckets = 0;  // seen in this session, a bit per bucket; 0 means that the edge never ran
  };

  // The bit of the bucket that begins at this number of hits, 0 inside a bucket.
  static constexpr std::array<std::uint8_t, kHitsMax + 1> bucket_entered() noexcept {
    std::array<std::uint8_t, kHitsMax + 1> bits{};
    for (std::size_t bucket = 0; bucket < kBucketStarts.size(); ++bucket) {
      bits[kBucketStarts[bucket]] = static_cast<std::uint8_t>(1U << bucket);
    }
    return bits;
  }
  static const std::array<std::uint8_t, kHitsMax + 1> kBucketEntered;

  void see(Cell& cell, std::uint8_t bucket) noexcept {
    if ((bucket & ~cell.buckets) == 0) {
      return;
    }
    if (cell.buckets == 0) {
      ++fresh_.edges;
      ++edges_seen_;
    }
    ++fresh_.buckets;
    cell.buckets = static_cast<std::uint8_t>(cell.buckets | bucket);
  }

  tsl::robin_map<std::uint64_t, std::uint32_t> ids_;
  std::vector<std::uint64_t> keys_;     // by id
  std::vector<Cell> cells_;             // by id
  std::vector<std::uint32_t> touched_;  // ids with hits in this run; capacity is never below cells_.size()
  tsl::robin_set<std::uint64_t> features_;
  Fresh fresh_;
  std::size_t edges_seen_ = 0;
};

inline constexpr std::array<std::uint8_t, CoverageMap::kHitsMax + 1> CoverageMap::kBucketEntered =
    CoverageMap::bucket_entered();

}  // namespace ordeal
