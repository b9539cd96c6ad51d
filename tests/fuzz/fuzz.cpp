// One program for all fuzz targets: the variable ORRERY_FUZZ of the environment names the one that libFuzzer runs. Each
// target gives one input to the reader of its name; CMakeLists.txt lists the same names.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/verb.h"
#include "app/cli/view_verb.h"
#include "app/commands/command_text.h"
#include "app/commands/window_memory.h"
#include "app/features/lessons/lesson.h"
#include "app/features/lessons/lesson_results.h"
#include "app/features/runs/replay.h"
#include "app/lab/baseline.h"
#include "app/lab/tuning/auto_chooser.h"
#include "app/ui_state/camera_path.h"
#include "compute/core/temporary_folder.h"
#include "compute/kernels/runtime/compile_kernel.h"
#include "compute/snapshots/snapshot_format.h"
#include "compute/snapshots/snapshot_input.h"

namespace orrery {
namespace {

/// The fuzzer's input as a regular file that is in memory alone.
class InputFile {
 public:
  InputFile(const std::uint8_t* data, std::size_t size) : descriptor_{memfd_create("input", MFD_CLOEXEC)} {
    if (descriptor_ < 0 || write(descriptor_, data, size) != static_cast<ssize_t>(size)) {
      throw std::runtime_error("no file in memory");
    }
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile() { close(descriptor_); }

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

/// Runs `read`, which may refuse the input.
template <class Read>
int accept_refusals(Read read) {
  try {
    read();
  } catch (const std::runtime_error&) {
    // One line to the user: any other exception is a finding.
  }
  return 0;
}

int baseline(const std::uint8_t* data, std::size_t size) {
  const InputFile file{data, size};
  return accept_refusals([&] {
    const Baseline baseline = read_baseline(file.path());
    (void)compare({&baseline, 1}, baseline.whole, usual_noise);
  });
}

/// The files beside a TIPSY file, of ids and of units: the input is both. A damaged one is noted. Only bodies that it
/// calls comoving are refused, as their time of 0 is no scale factor.
int beside(const std::uint8_t* data, std::size_t size) {
  static const TemporaryFolder folder;
  static const std::filesystem::path file = [] {
    const Bodies bodies{{{1, 0, 0, 1}, {-1, 0, 0, 1}}, {{0, 1, 0, 0}, {0, -1, 0, 0}}};
    return write_snapshot(folder / "a.tipsy", {.bodies = bodies}).files.front();
  }();
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  for (const char* name : {"a.tipsy.iord", "a.param"}) std::ofstream{folder / name, std::ios::binary} << text;
  Snapshot snapshot;
  try {
    snapshot = read_snapshot(file);
  } catch (const std::runtime_error&) {
    if (text.find("bComove") == text.npos) std::abort();
    return 0;
  }
  if (!snapshot.properties.ids.empty() && snapshot.properties.ids.size() != 2) std::abort();
  if (snapshot.units && !snapshot.units->usable()) std::abort();
  return 0;
}

int cache(const std::uint8_t* data, std::size_t size) {
  const InputFile file{data, size};
  static const KernelCatalog kernels;
  ChoiceCache cache{kernels, file.path()};
  for (const ChoiceCache::Entry& entry : cache.entries()) (void)entry.result.preference();
  (void)cache.find({{"law", "gravity"}}, {});
  return 0;
}

/// A command that JSON holds is the same after a way through text, and after one through JSON.
int command(const std::uint8_t* data, std::size_t size) {
  return accept_refusals([&] {
    const Request read = command_of_json_text({reinterpret_cast<const char*>(data), size});
    const Json json = command_json(read);
    if (command_json(command_of(json)) != json) std::abort();
    if (command_json(parse_command(command_text(read))) != json) std::abort();
  });
}

/// Each line is an argument. Only reads files, and those that the arguments name.
int command_line(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> arguments;
  std::string_view rest{reinterpret_cast<const char*>(data), size};
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    arguments.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return accept_refusals([&] {
    KernelCatalog kernels;
    (void)parse_options(kernels, arguments);
  });
}

/// The input is a kernel file, and what a compiler writes about another one.
int kernel(const std::uint8_t* data, std::size_t size) {
  static const KernelFile file = parse_kernel_file("my.cu", "// id: mine\n// notes: a\n\n__global__ void f();\n");
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)read_compiler_log(text, file);
  return accept_refusals([&] { (void)parse_kernel_file("my.cu", text); });
}

int lesson(const std::uint8_t* data, std::size_t size) {
  static const KernelCatalog kernels;
  const InputFile file{data, size};
  return accept_refusals([&] {
    const Lesson lesson = read_lesson(file.path(), kernels);
    for (const LessonPart* part : {&lesson.part(false), &lesson.part(true)}) {
      const LessonResults results(part->rows.size());
      (void)filled(part->answer, *part, results, {});
      (void)judge(*part, results);
    }
  });
}

int memory(const std::uint8_t* data, std::size_t size) {
  const InputFile file{data, size};
  return accept_refusals([&] { (void)read_window_memory(file.path()); });
}

int path(const std::uint8_t* data, std::size_t size) {
  const InputFile file{data, size};
  return accept_refusals([&] {
    const CameraPath path = read_camera_path(file.path());
    (void)path.at(0.5 * path.end_s());
    (void)parse_camera_path(camera_path_text(path.key_frames()), "again");
  });
}

int replay(const std::uint8_t* data, std::size_t size) {
  const InputFile file{data, size};
  return accept_refusals([&] {
    const std::string text = replay_text(read_replay(file.path()));
    if (replay_text(parse_replay(text, "again")) != text) std::abort();
  });
}

int script(const std::uint8_t* data, std::size_t size) {
  static const KernelCatalog kernels;
  const KernelSelection automatic{.kernels = {}, .automatic = true};
  const InputFile file{data, size};
  return accept_refusals([&] { (void)read_script(file.path(), kernels, automatic); });
}

/// Every reader gets every input, whatever its content tells. HDF5 is left out: libhdf5 is not built for this.
int snapshot(const std::uint8_t* data, std::size_t size) {
  const InputFile file{data, size};
  for (const SnapshotFormat* format : snapshot_formats()) {
    if (std::string{format->id} == "hdf5") continue;
    accept_refusals([&] {
      SnapshotInput input{file.path()};
      Snapshot snapshot = format->read(input);
      convert_to_gravity_units(snapshot);
    });
  }
  return 0;
}

struct Target {
  const char* name;
  int (*run)(const std::uint8_t* data, std::size_t size);
};
constexpr Target targets[] = {{"baseline", baseline},
                              {"beside", beside},
                              {"cache", cache},
                              {"command", command},
                              {"command_line", command_line},
                              {"kernel", kernel},
                              {"lesson", lesson},
                              {"memory", memory},
                              {"path", path},
                              {"replay", replay},
                              {"script", script},
                              {"snapshot", snapshot}};

Target chosen_target() {
  const char* const variable = std::getenv("ORRERY_FUZZ");
  for (const Target& target : targets) {
    if (variable && target.name == std::string_view{variable}) return target;
  }
  std::fputs("Set ORRERY_FUZZ to the name of a target, a folder of tests/fuzz/corpus: snapshot, for one\n", stderr);
  std::exit(2);
}

}  // namespace
}  // namespace orrery

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const orrery::Target chosen = orrery::chosen_target();
  return chosen.run(data, size);
}
