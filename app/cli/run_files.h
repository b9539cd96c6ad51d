#pragma once

#include <string>
#include <vector>

#include "app/ui_state/view_options.h"
#include "compute/core/atomic_file.h"

namespace orrery {

/// A file that the command line or a script names.
struct NamedFile {
  std::string where;  ///< "--json", or "demo.txt:3" for a line of a script
  std::string path;
};

/// The files that a run reads and writes, as far as their names are known before it starts.
struct RunFiles {
  std::vector<NamedFile> inputs, outputs;
  Existing existing = Existing::keep;  ///< of the outputs
};

/// Adds a file with this name, unless the name is empty.
void add_named(std::vector<NamedFile>& files, const std::string& where, const std::string& path);

/// The files of `orrery view` and its script.
RunFiles files_of(const ViewOptions& options);

/// Throws UsageError if two outputs are the same file, or an output is an input, by whatever names; std::runtime_error
/// if an input does not exist or an output cannot be written. Changes no file. If an output is stdout, nothing else is
/// printed there from now on.
void prepare_files(const RunFiles& files);

/// The first half of prepare_files(): throws UsageError if two outputs are the same file, or an output is an input.
void refuse_files_that_meet(const RunFiles& files);

}  // namespace orrery
