// The slower half of the coverage map: growth, runs, and reading it out.
#include "core/coverage_map.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.h"

namespace ordeal {

CoverageMap::CoverageMap(std::size_t capacity) {
  if (capacity == 0 || capacity > kEdgesMax) {
    throw ConfigError("coverage map capacity is " + std::to_string(capacity) + "; it must be between 1 and " +
                      std::to_string(kEdgesMax));
  }
  ids_.reserve(capacity);
  keys_.reserve(capacity);
  cells_.reserve(capacity);
  touched_.reserve(capacity);
}

std::uint32_t CoverageMap::add_edge(std::uint64_t key) {
  if (const auto known = ids_.find(key); known != ids_.end()) {
    return known->second;
  }
  ORDEAL_CHECK(cells_.size() < kEdgesMax, "edges=" << cells_.size());
  const auto id = static_cast<std::uint32_t>(cells_.size());
  keys_.push_back(key);
  cells_.emplace_back();
  touched_.reserve(cells_.capacity());
  ids_.emplace(key, id);
  ORDEAL_CHECK(touched_.capacity() >= cells_.size(), "capacity=" << touched_.capacity());
  return id;
}

void CoverageMap::begin_run() noexcept {
  for (const std::uint32_t id : touched_) {
    cells_[id].hits = 0;
  }
  touched_.clear();
}

Fresh CoverageMap::take_fresh() noexcept { return std::exchange(fresh_, Fresh{}); }

void CoverageMap::forget() noexcept {
  std::ranges::fill(cells_, Cell{});
  touched_.clear();
  features_.clear();
  fresh_ = {};
  edges_seen_ = 0;
}

bool CoverageMap::add_feature(std::uint64_t key) {
  if (features_.contains(key)) {
    return false;
  }
  ORDEAL_CHECK(features_.size() < kFeaturesMax, "features=" << features_.size());
  return features_.insert(key).second;
}

std::uint32_t CoverageMap::hits(std::uint32_t id) const {
  ORDEAL_CHECK(id < cells_.size(), "id=" << id << " edges=" << cells_.size());
  return cells_[id].hits;
}

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

CoverageState CoverageMap::save() const {
  CoverageState state;
  state.edges.reserve(edges_seen_);
  for (std::size_t id = 0; id < cells_.size(); ++id) {
    if (cells_[id].buckets != 0) {
      state.edges.push_back({keys_[id], cells_[id].buckets});
    }
  }
  std::ranges::sort(state.edges, {}, &CoverageState::Edge::key);
  state.features.assign(features_.begin(), features_.end());
  std::ranges::sort(state.features);
  return state;
}

void CoverageMap::restore(const CoverageState& state) {
  for (const auto& [key, buckets] : state.edges) {
    Cell& cell = cells_[add_edge(key)];
    edges_seen_ += cell.buckets == 0 && buckets != 0 ? 1 : 0;
    cell.buckets = static_cast<std::uint8_t>(cell.buckets | buckets);
  }
  for (const std::uint64_t feature : state.features) {
    static_cast<void>(add_feature(feature));
  }
}

}  // namespace ordeal
