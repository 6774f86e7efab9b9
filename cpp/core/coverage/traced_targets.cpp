// Compares paths with the targets, component by component.
#include "core/coverage/traced_targets.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <system_error>

#include "core/base/error.h"

namespace ordeal {
namespace {

namespace fs = std::filesystem;

// Whether Python could import a module of this name. Non-ASCII bytes are accepted.
bool is_identifier(std::string_view text) noexcept {
  const auto is_word = [](unsigned char c) { return c == '_' || c >= 0x80 || std::isalnum(c) != 0; };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::ranges::all_of(text, is_word);
}

// The name of the module at `file` below the package directory `root`, or nothing if it cannot be imported from there.
std::optional<std::string> module_below(const fs::path& root, const std::string& package, const fs::path& file) {
  const auto [root_rest, file_rest] = std::ranges::mismatch(root, file);
  if (root_rest != root.end() || file_rest == file.end() || file.extension() != ".py") {
    return std::nullopt;
  }
  std::string name = package;
  for (auto part = file_rest; part != file.end(); ++part) {
    const bool is_last = std::next(part) == file.end();
    const std::string word = is_last ? part->stem().string() : part->string();
    if (!is_identifier(word)) {
      return std::nullopt;
    }
    if (!is_last || word != "__init__") {
      name += "." + word;
    }
  }
  return name;
}

// The folder for relative paths; nothing if it is gone.
fs::path working_folder() {
  std::error_code failed;
  const fs::path folder = fs::current_path(failed);
  return failed ? fs::path() : folder;
}

// The path without links, as far as it exists. Nothing for a relative path if the working folder is gone.
fs::path resolve(const fs::path& path) {
  std::error_code failed;
  const fs::path resolved = fs::weakly_canonical(path, failed);
  return failed ? fs::path() : resolved;
}

// The path with its links. Nothing for a relative path if the working folder is gone.
fs::path from_root(const fs::path& path) {
  std::error_code failed;
  return fs::absolute(path, failed).lexically_normal();
}

}  // namespace

TracedTargets::TracedTargets(const std::vector<TracedTarget>& targets) : folder_(working_folder()) {
  for (const TracedTarget& target : targets) {
    const fs::path resolved = resolve(target.path);
    if (resolved.empty()) {
      throw ConfigError("target '" + target.module_name + "' is at '" + target.path + "', which cannot be resolved");
    }
    roots_.push_back({target.module_name, resolved, from_root(target.path), target.is_package});
  }
}

// Called once for each code object, so reading the file system is affordable. A package is searched for by its path
// without links first, then as written: editable installs and links inside packages need either.
std::optional<TracedSource> TracedTargets::source_of(const std::string& filename) const {
  const fs::path absolute = folder_ / filename;  // `filename` itself if it begins at the root
  const bool is_file = !filename.empty() && !filename.starts_with('<') && absolute.is_absolute();
  const fs::path resolved = is_file ? resolve(absolute) : fs::path();
  if (resolved.empty()) {
    return std::nullopt;
  }
  const fs::path as_written = from_root(absolute);
  for (const Root& root : roots_) {
    if (!root.is_package) {
      if (resolved == root.resolved) {
        return TracedSource{resolved.string(), root.module_name};
      }
      continue;
    }
    auto module_name = module_below(root.resolved, root.module_name, resolved);
    if (!module_name) {
      module_name = module_below(root.as_written, root.module_name, as_written);
    }
    if (module_name) {
      return TracedSource{resolved.string(), *module_name};
    }
  }
  return std::nullopt;
}

}  // namespace ordeal
