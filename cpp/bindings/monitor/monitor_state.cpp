// Saves the state of a monitor, and restores it in a monitor of another process.
#include <algorithm>
#include <utility>

#include "bindings/monitor/monitor.h"
#include "core/coverage/edge.h"

namespace ordeal::bindings {

std::vector<MonitorState::File> Monitor::saved_files() const {
  const auto lock = lock_.hold();
  std::vector<MonitorState::File> saved;
  for (const TracedFile& file : files_) {
    std::vector<std::int64_t> lines(file.lines.begin(), file.lines.end());
    std::ranges::sort(lines);
    saved.push_back({file.source.path, std::move(lines)});
  }
  return saved;
}

MonitorState Monitor::save() const {
  const auto lock = lock_.hold();
  MonitorState state{.files = saved_files(), .touched = touched_, .codes = {}, .events = events()};
  for (const TracedCode& code : codes_) {
    state.codes.push_back(saved(code));
  }
  for (const auto& [key, code] : restored_) {
    state.codes.push_back(code);
  }
  std::ranges::sort(state.codes, {}, &MonitorState::Code::key);
  return state;
}

MonitorState::Code Monitor::saved(const TracedCode& code) {
  MonitorState::Code state{.key = code.key,
                           .entry_silent = code.entry_silent,
                           .silent_lines = {code.silent_lines.begin(), code.silent_lines.end()},
                           .sites = {}};
  std::ranges::sort(state.silent_lines);
  for (std::size_t instruction = 0; instruction < code.site_at.size(); ++instruction) {
    if (code.site_at[instruction] == nullptr) {
      continue;
    }
    const BranchSite& site = *code.site_at[instruction];
    state.sites.push_back(
        {.from = static_cast<std::int64_t>(instruction) * kInstructionSize,
         .one_sided_hits = site.one_sided_hits,
         .silent = site.silent,
         .sides = {{{site.sides[0].to, site.sides[0].silent}, {site.sides[1].to, site.sides[1].silent}}}});
  }
  return state;
}

void Monitor::restore(const MonitorState& state) {
  const auto lock = lock_.hold();
  std::vector<TracedFile*> file_now(state.files.size());
  for (std::size_t id = 0; id < state.files.size(); ++id) {
    file_now[id] = add_file(state.files[id].path);
    if (file_now[id] != nullptr) {
      file_now[id]->lines.insert(state.files[id].lines.begin(), state.files[id].lines.end());
    }
  }
  for (const std::uint32_t id : state.touched) {
    if (id < file_now.size() && file_now[id] != nullptr) {
      touch(*file_now[id]);
    }
  }
  for (const MonitorState::Code& code : state.codes) {
    restored_.insert_or_assign(code.key, code);
  }
  add_events(state.events - events());
  has_silenced_ = true;
}

// The key of a code object covers its instructions, so offsets are the same; those of a damaged state may not be.
void Monitor::put_back(TracedCode& code, const MonitorState::Code& state) {
  code.entry_silent = state.entry_silent;
  code.silent_lines.insert(state.silent_lines.begin(), state.silent_lines.end());
  const std::size_t size = code.is_met ? code.site_at.size() : kInstructionsMax;
  for (const MonitorState::Site& saved_site : state.sites) {
    if (saved_site.from < 0 || std::cmp_greater_equal(saved_site.from / kInstructionSize, size)) {
      continue;
    }
    BranchSite& site = site_of(code, saved_site.from);
    site.one_sided_hits = saved_site.one_sided_hits;
    site.silent = saved_site.silent;
    for (std::size_t i = 0; i < site.sides.size(); ++i) {
      if (const auto [to, silent] = saved_site.sides[i]; to >= 0) {
        site.sides[i].edge = &coverage_->add_edge(branch_key(code.key, saved_site.from, to));
        site.sides[i].silent = silent;
        site.sides[i].to = to;
      }
    }
  }
}

}  // namespace ordeal::bindings
