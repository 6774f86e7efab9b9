// What each level of tracing makes of a location: whether it is counted or marked, and when it falls silent.
#include <algorithm>

#include "bindings/monitor/monitor.h"

namespace ordeal::bindings {

// True for a location that the interpreter would not report any more, had this been the same process.
bool Monitor::is_silent(const BranchSite& site, std::int64_t to) const noexcept {
  return site.silent || std::ranges::any_of(site.sides, [&](const Side& side) { return side.to == to && side.silent; });
}

// At the counts level: whether the location has more to report.
bool Monitor::count_entry(TracedCode& code) noexcept {
  if (code.entry_silent) {
    return false;
  }
  count_event(code);
  coverage_->hit(*code.entry_edge);
  if (!silences_counted_ || !coverage_->is_stale(*code.entry_edge)) {
    return true;
  }
  code.entry_silent = true;
  has_silenced_ = true;
  return false;
}

// At the counts level. Sides that share an event are silenced together; one that was never taken is mostly a line that
// is still armed.
bool Monitor::count_branch(const TracedCode& code, BranchSite& site, std::int64_t to, Edge& edge) noexcept {
  coverage_->hit(edge);
  const auto is_stale = [&](const Edge& each) { return coverage_->is_stale(each, *code.entry_edge); };
  if (!silences_counted_ || !is_stale(edge)) {
    return true;
  }
  if (sides_apart_) {
    bool is_known = false;
    for (Side& side : site.sides) {
      is_known = is_known || side.to == to;
      if (side.to == to) {
        side.silent = true;
        has_silenced_ = true;
      }
    }
    return !is_known;
  }
  const bool is_silent =
      std::ranges::all_of(site.sides, [&](const Side& side) { return side.to < 0 || is_stale(*side.edge); });
  if (is_silent) {
    site.silent = true;
    has_silenced_ = true;
  }
  return !is_silent;
}

// At the novelty level: whether the location has more to report.
bool Monitor::mark_branch(BranchSite& site, std::int64_t to, Edge& edge) noexcept {
  // While both sides share an event, one side silences both: then no run reports each side that it took.
  coverage_->mark(edge, sides_apart_);
  if (!sides_apart_) {
    const bool has_more = has_more_to_tell(site);
    if (!has_more) {
      site.silent = true;
    }
    return has_more;
  }
  for (Side& side : site.sides) {
    if (side.to == to) {
      side.silent = true;
    }
  }
  return false;
}

// At the novelty level. A loop that always goes one way would cost its event for ever, so it is silenced eventually.
bool Monitor::has_more_to_tell(BranchSite& site) const noexcept {
  const bool both_sides_seen = site.sides[1].to >= 0;
  site.one_sided_hits = site.one_sided_hits + (both_sides_seen ? 0 : 1);
  return !both_sides_seen && site.one_sided_hits < kOneSidedHitsMax;
}

}  // namespace ordeal::bindings
