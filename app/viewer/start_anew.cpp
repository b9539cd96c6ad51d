#include "app/viewer/start_anew.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>

#include "app/process/child_process.h"
#include "app/viewer/handover.h"
#include "compute/core/stop_signal.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr const char* first_word = "take-over-window";  // of the command line

}  // namespace

const char* const stopped_between = "stopped as the window was to start again";

/// The checkpoint and the handover have what these options began with.
ViewOptions options_after_handover(ViewOptions options, const fs::path& folder) {
  options.scene = {};
  options.setup.clear();
  options.settings.clear();
  options.kernel_file.clear();
  options.record_file.clear();
  options.path.reset();
  options.path_file.clear();
  options.resume_file = Handover::checkpoint_in(folder).string();
  options.handover = folder;
  return options;
}

std::optional<fs::path> take_handover(std::vector<std::string>& words) {
  if (words.size() < 2 || words.front() != first_word) return std::nullopt;
  prctl(PR_SET_NAME, "orrery");  // it was started by the name /proc/self/exe
  watch_stop_signals();
  take_stop_signals();  // which start_anew() held
  fs::path folder = words[1];
  words.erase(words.begin(), words.begin() + 2);
  return folder;
}

std::string continuation(const fs::path& folder) {
  const fs::path checkpoint = Handover::checkpoint_in(folder);
  std::error_code unknown;
  if (!fs::exists(checkpoint, unknown)) return {};
  return fmt::format("'orrery view --resume {}' continues", checkpoint.string());
}

std::string start_anew(const fs::path& folder, const std::vector<std::string>& words) {
  hold_stop_signals();  // none ends the next program before it can answer
  if (stop_requested()) return fmt::format("{}; {}", stopped_between, continuation(folder));
  const std::string program = this_program().string();
  std::vector<std::string> all{"orrery", first_word, folder.string()};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  for (std::string& word : all) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  // Libraries may have left files open; the driver takes a context as ended when they are closed.
  (void)close_range(STDERR_FILENO + 1, std::numeric_limits<unsigned>::max(), CLOSE_RANGE_CLOEXEC);
  execv(program.c_str(), pointers.data());
  const std::string why = std::strerror(errno);
  take_stop_signals();
  return fmt::format("the program cannot be started again: {}; {}", why, continuation(folder));
}

}  // namespace orrery
