#include "app/cli/run_files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "app/commands/command_entry.h"
#include "app/recording/conserved_log.h"
#include "app/text/console.h"
#include "app/ui_state/window_commands.h"
#include "compute/core/atomic_file.h"
#include "compute/core/error.h"

namespace orrery {

void add_named(std::vector<NamedFile>& files, const std::string& where, const std::string& path) {
  if (!path.empty()) files.push_back({where, path});
}

namespace {

namespace fs = std::filesystem;

void add_recording(std::vector<NamedFile>& files, const std::string& where, const std::string& path) {
  add_named(files, where, path);
  if (!path.empty() && !is_stream(path)) add_named(files, where + "'s conserved sums", conserved_name(path));
}

void add_script_line(std::vector<NamedFile>& files, const std::string& where, const Request& request) {
  const bool records = command_if<StartRecording>(request) != nullptr;
  for (const auto& argument : entry_of(request).arguments) {
    if (argument->traits().form != Form::written_file) continue;
    records ? add_recording(files, where, argument->text(request)) : add_named(files, where, argument->text(request));
  }
}

/// The identity of the file itself, whatever its name.
struct Identity {
  explicit Identity(const std::string& path) : exists{stat(path.c_str(), &status) == 0} {
    std::error_code error;
    name = fs::weakly_canonical(fs::absolute(followed(path)), error);
    if (error) name = fs::absolute(path).lexically_normal();
  }
  /// /dev/null and the like, which any number of outputs may share.
  bool keeps_nothing() const { return exists && S_ISCHR(status.st_mode) && major(status.st_rdev) == 1; }
  bool same_as(const Identity& other) const {
    if (keeps_nothing()) return false;
    const bool one_file = exists && other.exists && status.st_dev == other.status.st_dev &&  //
                          status.st_ino == other.status.st_ino;
    return one_file || name == other.name;
  }

  struct stat status {};
  bool exists;
  fs::path name;
};

struct Known {
  NamedFile file;
  Identity identity;
  bool input;
};

void refuse_if_known(const NamedFile& file, const Identity& identity, const std::vector<Known>& known) {
  const auto same = std::ranges::find_if(known, [&](const Known& other) { return identity.same_as(other.identity); });
  if (same == known.end()) return;
  throw UsageError(fmt::format("{} names '{}', which {} {}: name another file", file.where, file.path, same->file.where,
                               same->input ? "reads" : "names as well"));
}

}  // namespace

RunFiles files_of(const ViewOptions& options) {
  RunFiles files{.inputs = {}, .outputs = {}, .existing = options.existing};
  add_named(files.inputs, "FILE", options.scene.file);
  add_named(files.inputs, "--resume", options.resume_file);
  add_named(files.inputs, "--script", options.script_file);
  add_named(files.inputs, "--path", options.path_file);
  add_named(files.inputs, "--kernel-file", options.kernel_file);
  add_recording(files.outputs, "--record", options.record_file);
  add_named(files.outputs, "--screenshot", options.screenshot_file);
  add_named(files.outputs, "--save", options.save_file);
  if (options.film && !options.film->folder) add_named(files.outputs, "--out", options.film->out);
  for (const ScriptLine& line : options.script) {
    const std::string where = fmt::format("{}:{}", options.script_file, line.line);
    add_script_line(files.outputs, where, line.request);
  }
  return files;
}

void refuse_files_that_meet(const RunFiles& files) {
  std::vector<Known> known;
  for (const NamedFile& input : files.inputs) known.push_back({input, Identity{input.path}, true});
  for (const NamedFile& output : files.outputs) {
    const Identity identity{own_descriptor(output.path) == STDOUT_FILENO ? "/dev/stdout" : output.path};
    refuse_if_known(output, identity, known);
    known.push_back({output, identity, false});
  }
}

void prepare_files(const RunFiles& files) {
  for (const NamedFile& input : files.inputs) {
    std::error_code unknown;  // its reader finds out
    if (fs::status(input.path, unknown).type() == fs::file_type::not_found) {
      throw std::runtime_error(fmt::format("'{}': no such file", input.path));
    }
  }
  refuse_files_that_meet(files);
  for (const NamedFile& output : files.outputs) {
    try {
      check_output(output.path, files.existing);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(fmt::format("{}: {}", output.where, failure_text(error)));
    }
  }
  const auto is_stdout = [](const NamedFile& output) { return own_descriptor(output.path) == STDOUT_FILENO; };
  if (std::ranges::any_of(files.outputs, is_stdout)) console::yield_stdout();
}

}  // namespace orrery
