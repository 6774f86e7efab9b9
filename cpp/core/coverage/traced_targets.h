// Which source files belong to the targets, and the module name of each.
//
// Immutable. Every question reads the file system, so the monitor asks once for each code object and keeps the answer.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ordeal {

// A traced target: the file of a module, or a directory that contains the modules of a package.
struct TracedTarget {
  std::string module_name;
  std::string path;
  bool is_package = false;
};

// A source file of a target.
struct TracedSource {
  std::string path;  // absolute, without symbolic links
  std::string module_name;
};

// Answers for files as code objects spell them, including deleted ones: imported code continues to run when a program
// deletes its source. Only the target's own path counts, not other directories of the same name, and below a package
// only what can be imported from it, so that a virtual environment inside is not traced. Relative names are resolved
// against the working folder at construction, wherever the program under test goes.
class TracedTargets {
 public:
  // Throws ConfigError for an invalid path of a target.
  explicit TracedTargets(const std::vector<TracedTarget>& targets);

  // Returns the source for this file, or nothing when it is outside the targets or the name is not that of a file
  // ("<string>").
  [[nodiscard]] std::optional<TracedSource> source_of(const std::string& filename) const;

 private:
  struct Root {
    std::string module_name;
    std::filesystem::path resolved;
    std::filesystem::path as_written;  // of a package whose files are symbolic links to elsewhere (editable installs)
    bool is_package;
  };

  std::filesystem::path folder_;
  std::vector<Root> roots_;
};

}  // namespace ordeal
