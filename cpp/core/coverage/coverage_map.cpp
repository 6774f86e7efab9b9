// The slower half of the coverage map: growth, runs, and reading it out.
#include "core/coverage/coverage_map.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/check.h"
#include "core/base/error.h"

namespace ordeal {

// Reserves space for `capacity` edges at once, so that callbacks of the program under test rarely allocate.
CoverageMap::CoverageMap(std::size_t capacity) {
  if (capacity == 0 || capacity > kEdgesMax) {
    throw ConfigError("coverage map capacity is " + std::to_string(capacity) + "; it must be between 1 and " +
                      std::to_string(kEdgesMax));
  }
  ids_.reserve(capacity);
  keys_.reserve(capacity);
  cells_.reserve(capacity);
  frequencies_.reserve(capacity);
  touched_.reserve(capacity);
  unshared_.reserve(capacity);
}

// Lets hit() and mark() not allocate: the lists that they append to get space for every edge here.
std::uint32_t CoverageMap::add_edge(std::uint64_t key) {
  if (const auto known = ids_.find(key); known != ids_.end()) {
    return known->second;
  }
  ORDEAL_CHECK(cells_.size() < kEdgesMax, "edges=" << cells_.size());
  const auto id = static_cast<std::uint32_t>(cells_.size());
  keys_.push_back(key);
  cells_.emplace_back();
  frequencies_.emplace_back();
  touched_.reserve(cells_.capacity());
  unshared_.reserve(cells_.capacity());
  ids_.emplace(key, id);
  ORDEAL_CHECK(touched_.capacity() >= cells_.size(), "capacity=" << touched_.capacity());
  ORDEAL_CHECK(unshared_.capacity() >= cells_.size(), "capacity=" << unshared_.capacity());
  return id;
}

// O(edges of the last run), not O(edges).
void CoverageMap::begin_run() noexcept {
  for (const std::uint32_t id : touched_) {
    cells_[id].hits = 0;
  }
  touched_.clear();
}

// Only now are the new edges shared.
void CoverageMap::end_run() noexcept {
  ORDEAL_DCHECK(unshared_.empty() || others_ != nullptr, "nobody is there to share edges with");
  runs_sampled_ += sampled_.any() ? 1U : 0U;
  ++run_;
  // Not before: if a run ends its process, nobody learns how it reached them.
  for (const std::uint32_t id : unshared_) {
    others_->insert(keys_[id]);
  }
  unshared_.clear();
}

// Counts of different kinds of sampling must not be added.
void CoverageMap::forget_sample() noexcept {
  std::ranges::fill(frequencies_, FeatureFrequency{});
  runs_sampled_ = 0;
}

NewCoverage CoverageMap::take_new_coverage() noexcept {
  ORDEAL_DCHECK(new_coverage_.buckets >= new_coverage_.edges, "an edge without a bucket");
  new_edges_listed_ = std::min<std::size_t>(new_coverage_.edges, kNewEdgesListed);
  return std::exchange(new_coverage_, NewCoverage{});
}

// For another state of the program: what was seen before says nothing about it.
void CoverageMap::forget() noexcept {
  std::ranges::fill(cells_, Cell{});
  touched_.clear();
  unshared_.clear();
  forget_sample();
  new_coverage_ = {};
  new_edges_listed_ = 0;
  edges_seen_ = 0;
}

// One look-up: for the few edges of a checkpoint.
std::uint64_t CoverageMap::runs_of(std::uint64_t key) const noexcept {
  const auto known = ids_.find(key);
  return known == ids_.end() ? 0 : frequencies_[known->second].runs;
}

SampleCounts CoverageMap::sample_counts() const { return count_sample(frequencies_, runs_sampled_); }

std::uint32_t CoverageMap::hits(std::uint32_t id) const {
  ORDEAL_CHECK(id < cells_.size(), "id=" << id << " edges=" << cells_.size());
  return cells_[id].hits;
}

std::uint64_t CoverageMap::key(std::uint32_t id) const {
  ORDEAL_CHECK(id < keys_.size(), "id=" << id << " edges=" << keys_.size());
  return keys_[id];
}

// O(n log n): for files and comparisons.
std::vector<std::uint64_t> CoverageMap::keys() const {
  std::vector<std::uint64_t> seen;
  seen.reserve(edges_seen_);
  for (std::size_t id = 0; id < cells_.size(); ++id) {
    if (cells_[id].buckets != 0) {
      seen.push_back(keys_[id]);
    }
  }
  ORDEAL_CHECK(seen.size() == edges_seen_, "seen=" << seen.size() << " counted=" << edges_seen_);
  std::ranges::sort(seen);
  return seen;
}

// An edge seen here but owed to others is new once, when it is known how to reach it.
bool CoverageMap::import_edge(std::uint64_t key) {
  const std::size_t before = edges_seen_;
  Cell& cell = cells_[add_seen({.key = key, .buckets = 1})];
  return edges_seen_ != before || std::exchange(cell.owed, false);
}

// Shares at once what this session has seen, so that others need not find it again.
void CoverageMap::share(std::shared_ptr<SharedEdges> others, bool listens) {
  others_ = std::move(others);
  listens_ = listens;
  unshared_.clear();
  for (const std::uint64_t key : others_ == nullptr ? std::vector<std::uint64_t>{} : keys()) {
    others_->insert(key);
  }
}

// Sorted, so that equal states are equal bytes.
CoverageState CoverageMap::save() const {
  CoverageState state;
  state.edges.reserve(edges_seen_);
  for (std::size_t id = 0; id < cells_.size(); ++id) {
    if (cells_[id].buckets != 0) {
      const Cell& cell = cells_[id];
      state.edges.push_back({.key = keys_[id],
                             .buckets = cell.buckets,
                             .stale_runs = cell.stale_runs,
                             .rules = cell.rules,
                             .frequency = frequencies_[id]});
    }
  }
  std::ranges::sort(state.edges, {}, &CoverageState::Edge::key);
  state.runs = run_ - 1;
  state.runs_sampled = runs_sampled_;
  return state;
}

// Leaves the frequency unchanged, as only the caller knows in which runs the edge was seen.
std::uint32_t CoverageMap::add_seen(const CoverageState::Edge& edge) {
  const std::uint32_t id = add_edge(edge.key);
  Cell& cell = cells_[id];
  edges_seen_ += cell.buckets == 0 && edge.buckets != 0 ? 1 : 0;
  cell.buckets = static_cast<std::uint8_t>(cell.buckets | edge.buckets);
  cell.rules |= edge.rules;
  return id;
}

// The runs of that session come before those of this one.
void CoverageMap::restore(const CoverageState& state) {
  for (const CoverageState::Edge& edge : state.edges) {
    const std::uint32_t id = add_seen(edge);
    cells_[id].stale_runs = edge.stale_runs;
    frequencies_[id] = edge.frequency;
  }
  run_ = static_cast<std::uint32_t>(state.runs + 1);
  runs_sampled_ = state.runs_sampled;
}

// The runs of the other session come after those of this one, as if both were one.
void CoverageMap::merge(const CoverageState& state) {
  for (const CoverageState::Edge& edge : state.edges) {
    FeatureFrequency& mine = frequencies_[add_seen(edge)];
    if (edge.frequency.runs > 0) {
      mine = {mine.runs + edge.frequency.runs, run_ - 1 + edge.frequency.last_run};
    }
  }
  run_ += static_cast<std::uint32_t>(state.runs);
  runs_sampled_ += state.runs_sampled;
}

}  // namespace ordeal
