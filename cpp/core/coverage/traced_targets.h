// Which source files belong to the targets, and the module name that each of them has.
//
// Immutable after it is made. Every question asks the file system, so that the monitor asks once for each code object
// and keeps the verdict.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ordeal {

// What is traced: the file of a module, or one directory in which the modules of a package are found.
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

// Answers for files as code objects spell them, also for those that are gone: code that was imported goes on to run
// when a program deletes its source. A file below a directory that happens to bear the name of a target is no source of
// it: only the target's own path counts, and below a package only what can be imported from it, so that a virtual
// environment inside of it is not traced. Relative names count from the working folder of when this was made, wherever
// the program under test goes.
class TracedTargets {
 public:
  // Throws ConfigError for a target whose path cannot be one.
  explicit TracedTargets(const std::vector<TracedTarget>& targets);

  // The source that this file is, or nothing when it is outside the targets, or the name is not that of a file
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
