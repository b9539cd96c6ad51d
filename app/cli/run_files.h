#pragma once

#include <string>
#include <vector>

#include "app/cli/options.h"

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

RunFiles files_of(const ViewOptions& options);
RunFiles files_of(const BenchOptions& options);
RunFiles files_of(const ReportOptions& options);
RunFiles files_of(const VerifyOptions& options);
RunFiles files_of(const RunOptions& options);
RunFiles files_of(const ConvertOptions& options);
RunFiles files_of(const InspectOptions& options);
RunFiles files_of(const CompareOptions& options);
RunFiles files_of(const RaceOptions& options);
RunFiles files_of(const ProfileOptions& options);

/// Throws UsageError if two outputs are the same file, or an output is an input, by whatever names; std::runtime_error
/// if an input does not exist or an output cannot be written. Changes no file.
void check_files(const RunFiles& files);

/// The first half of check_files(): throws UsageError if two outputs are the same file, or an output is an input.
void refuse_files_that_meet(const RunFiles& files);

/// Whether one of the outputs is stdout.
bool takes_stdout(const RunFiles& files);

}  // namespace orrery
