// The coverage map: which edges ran in this session, how often in this run, and what of that was new.
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/check.h"
#include "core/coverage/shared_edges.h"
#include "core/coverage/species_estimate.h"

namespace ordeal {

// What was unseen in the session until now.
struct NewCoverage {
  std::uint32_t edges = 0;    // edges that never ran before
  std::uint32_t buckets = 0;  // (edge, hit-count bucket) pairs; an edge that is itself new brings its first pair along
  std::uint32_t rules = 0;    // (edge, rule) pairs; a new edge brings one along as well
};

// What counts for the sample of runs behind the frequencies of edges. An event that comes only once for many runs tells
// nothing of how many runs show its edge, so the monitor says which events come in every run of the sample.
struct Sampled {
  bool hits = false;
  bool marks = false;

  [[nodiscard]] bool any() const noexcept { return hits || marks; }
};

// What a map has seen, for a later session to go on with.
struct CoverageState {
  struct Edge {
    std::uint64_t key = 0;
    std::uint8_t buckets = 0;  // a bit per bucket; never 0
    std::uint64_t rules = 0;   // a bit per rule that passed it
    FeatureFrequency frequency{};

    friend bool operator==(const Edge&, const Edge&) = default;
  };

  std::vector<Edge> edges;  // by ascending key
  std::uint64_t runs = 0;
  std::uint64_t runs_sampled = 0;

  friend bool operator==(const CoverageState&, const CoverageState&) = default;
};

// Edges are dense ids handed out by add_edge(), so that two edges never share a counter as they do in a hashed map.
// hit() and mark() are the hot path: noexcept and free of allocation, because add_edge() has made the room before.
// Thread-compatible: the owner's lock (in Python, the GIL) guards every call.
class CoverageMap {
 public:
  static constexpr std::size_t kDefaultCapacity = 65536;
  static constexpr std::size_t kEdgesMax = std::size_t{1} << 26U;
  // More passages of an edge in one run count no further.
  static constexpr std::uint32_t kHitsCounted = 128;
  // How many of the new edges of a step are listed by id.
  static constexpr std::size_t kNewEdgesListed = 8;

  explicit CoverageMap(std::size_t capacity = kDefaultCapacity);

  // The dense id of an edge; the same key always gives the same id. Adding does not make the edge seen. May allocate.
  std::uint32_t add_edge(std::uint64_t key);

  // Counts level: one more passage of the edge in this run. Entering a bucket that the session never saw is new.
  void hit(std::uint32_t id) noexcept {
    ORDEAL_DCHECK(id < cells_.size(), "id=" << id << " edges=" << cells_.size());
    Cell& cell = cells_[id];
    see_rule(cell);
    if (cell.hits == kHitsMax) {
      return;
    }
    if (cell.hits == 0) {
      touched_.push_back(id);  // never allocates: add_edge() keeps room for every edge
      if (sampled_.hits) {
        frequencies_[id].in_run(run_);
      }
    }
    ++cell.hits;
    see(cell, id, kBucketEntered[cell.hits]);
  }

  // Novelty level: the edge ran at least once. When its location does not tell so in each run that is sampled, it
  // counts for no sample.
  void mark(std::uint32_t id, bool tells_each_run = true) noexcept {
    ORDEAL_DCHECK(id < cells_.size(), "id=" << id << " edges=" << cells_.size());
    see_rule(cells_[id]);
    see(cells_[id], id, 1);
    if (sampled_.marks && tells_each_run) {
      frequencies_[id].in_run(run_);
    }
  }

  // Starts the counters of a run at zero. Costs one store for each edge that the last run touched.
  void begin_run() noexcept;
  // The run is over: if it was sampled, it counts.
  void end_run() noexcept;
  // What of this run and the next ones counts for the sample; all does until somebody says otherwise.
  void sample(Sampled sampled) noexcept { sampled_ = sampled; }
  // Starts the sample anew: what was counted does not go together with what will be.
  void forget_sample() noexcept;
  // From here on, edges are passed by this rule: a bit, or 0 for none.
  void enter_rule(std::uint64_t bit) noexcept { rule_ = bit; }

  // What was new since the last call.
  NewCoverage take_new_coverage() noexcept;

  // The edges that ran in this run at the counts level, in the order of their first passage.
  [[nodiscard]] const std::vector<std::uint32_t>& touched() const noexcept { return touched_; }
  [[nodiscard]] std::uint64_t key(std::uint32_t id) const;

  // Forgets everything that was seen: keys() then lists what runs from here on. Ids stay valid.
  void forget() noexcept;

  // The first edges, by id, of those that the last take_new_coverage() told of. Until the next edge is new.
  [[nodiscard]] std::span<const std::uint32_t> new_edge_ids() const noexcept {
    return {new_edge_ids_.data(), new_edges_listed_};
  }

  [[nodiscard]] std::size_t edges_seen() const noexcept { return edges_seen_; }
  // In how many of the sampled runs the edge ran; 0 for one that is not known.
  [[nodiscard]] std::uint64_t runs_of(std::uint64_t key) const noexcept;
  [[nodiscard]] std::uint64_t runs_sampled() const noexcept { return runs_sampled_; }
  // How rare the edges of the sample are.
  [[nodiscard]] SampleCounts sample_counts() const;
  // How often the edge ran in this run, up to 128.
  [[nodiscard]] std::uint32_t hits(std::uint32_t id) const;
  // The keys of the edges seen, sorted, so that they can be written, compared and merged.
  [[nodiscard]] std::vector<std::uint64_t> keys() const;
  // Another session saw this edge, so that it is not new here any more. Returns whether it would have been, or was not
  // only because the shared edges had it. May allocate.
  bool import_edge(std::uint64_t key);
  // From here on `others` get what was seen at the end of each run, and what is seen already at once. When it
  // `listens`, an edge that they have is not new here. Not in the middle of a run.
  void share(std::shared_ptr<SharedEdges> others, bool listens);
  [[nodiscard]] CoverageState save() const;
  // Adds what an earlier session saw; none of it is new any more.
  void restore(const CoverageState& state);
  // Adds what another session saw, and how many of its runs did: they count as later ones than those before.
  void merge(const CoverageState& state);

 private:
  // AFL's hit-count buckets 1, 2, 3, 4-7, 8-15, 16-31, 32-127 and 128 or more, a bit for each.
  static constexpr std::uint8_t kHitsMax = kHitsCounted;
  static constexpr std::array<std::uint8_t, 8> kBucketStarts{1, 2, 3, 4, 8, 16, 32, 128};

  struct Cell {
    std::uint8_t hits = 0;     // in this run, saturating at kHitsMax
    std::uint8_t buckets = 0;  // seen in this session, a bit per bucket; 0 means that the edge never ran
    bool owed = false;        // seen, but not counted as new, because others have it and the way there is not known yet
    std::uint64_t rules = 0;  // that passed it in this session, a bit for each
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

  // The id of an edge that somebody else saw, which is seen here as well now. When and how often is left to the caller.
  std::uint32_t add_seen(const CoverageState::Edge& edge);

  void see_rule(Cell& cell) noexcept {
    if ((rule_ & ~cell.rules) != 0) {
      cell.rules |= rule_;
      ++new_coverage_.rules;
    }
  }

  void see(Cell& cell, std::uint32_t id, std::uint8_t bucket) noexcept {
    if ((bucket & ~cell.buckets) == 0) {
      return;
    }
    if (cell.buckets == 0) {
      ++edges_seen_;
      if (is_elsewhere(cell, id)) {
        cell.buckets = bucket;
        return;
      }
      if (new_coverage_.edges < kNewEdgesListed) {
        new_edge_ids_[new_coverage_.edges] = id;
      }
      ++new_coverage_.edges;
    }
    ++new_coverage_.buckets;
    cell.buckets = static_cast<std::uint8_t>(cell.buckets | bucket);
  }

  // Of an edge that this session sees for the first time: whether others have it. If not, they will.
  bool is_elsewhere(Cell& cell, std::uint32_t id) noexcept {
    if (others_ == nullptr) {
      return false;
    }
    cell.owed = listens_ && others_->holds(keys_[id]);
    if (!cell.owed) {
      unshared_.push_back(id);  // never allocates, as touched_
    }
    return cell.owed;
  }

  tsl::robin_map<std::uint64_t, std::uint32_t> ids_;
  std::vector<std::uint64_t> keys_;            // by id
  std::vector<Cell> cells_;                    // by id
  std::vector<FeatureFrequency> frequencies_;  // by id
  std::vector<std::uint32_t> touched_;         // ids with hits in this run; capacity is never below cells_.size()
  std::shared_ptr<SharedEdges> others_;
  bool listens_ = false;
  std::vector<std::uint32_t> unshared_;  // ids of what they get at the end of the run; capacity as of touched_
  std::array<std::uint32_t, kNewEdgesListed> new_edge_ids_{};
  std::size_t new_edges_listed_ = 0;
  std::uint64_t rule_ = 0;
  Sampled sampled_{.hits = true, .marks = true};
  std::uint32_t run_ = 1;
  std::uint64_t runs_sampled_ = 0;
  NewCoverage new_coverage_;
  std::size_t edges_seen_ = 0;
};

inline constexpr std::array<std::uint8_t, CoverageMap::kHitsMax + 1> CoverageMap::kBucketEntered =
    CoverageMap::bucket_entered();

}  // namespace ordeal
