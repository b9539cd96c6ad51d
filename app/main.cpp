#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "app/cli/commands.h"
#include "app/cli/compile_kernel_files.h"
#include "app/cli/early_end.h"
#include "app/cli/options.h"
#include "app/cli/profile_command.h"
#include "app/cli/run_files.h"
#include "app/process/build_id.h"
#include "app/process/child_process.h"
#include "app/process/spare_process.h"
#include "app/text/console.h"
#include "app/text/table.h"
#include "app/viewer/keys.h"
#include "app/viewer/run_view.h"
#include "app/workshop/compiler_process.h"
#include "compute/core/error.h"
#include "compute/core/stop_signal.h"
#include "compute/ranks/rank_leader.h"
#include "compute/ranks/rank_start.h"
#include "compute/ranks/rank_watch.h"
#include "compute/ranks/rank_worker.h"
#include "compute/sim/backends.h"
#include "orrery_version.h"

#if ORRERY_HAVE_CUDA
#include "compute/devices/cuda_rank_device.h"
#endif

namespace orrery {
namespace {

/// Runs what the command line asks for. The device is opened here, after the whole command line has been read.
struct Runner {
  KernelCatalog& kernels;
  const std::optional<std::filesystem::path> handover{};  // that the window takes over
  NextProgram& next_program;                              // see run_view()

  int operator()(const ShowText& show) const {
    console::show(show.unbroken ? show.text : fitted_help(show.text, stdout_style({})));
    return 0;
  }
  int operator()(const ShowKeys& show) const {
    console::show(key_table(stdout_style(show.table)));
    return 0;
  }
  int operator()(const ViewOptions& given) const {
    const ViewOptions options = handover ? options_after_handover(given, *handover) : given;
    prepare_files(options);
    return run_view(kernels, options, kernels.sharing() ? nullptr : &next_program);  // mpirun waits for this program
  }
  int operator()(const BenchOptions& options) const {
    prepare_files(options);
    return run_bench(with_compiled_files(chosen_backends(options)), options);
  }
  int operator()(const ReportOptions& options) const {
    prepare_files(options);
    watch_stop_signals();  // a stop while the picture is drawn still gives a page
    const Backends backends{kernels, options.bench.device};
    const GlReport gl = probe_gl(kernels);
    ReportPicture picture =
        picture_scene(kernels, pictured_scene(backends, options), options.picture, options.theme, options.bench.device);
    return run_report(backends, options, std::move(picture), gl);
  }
  int operator()(const VerifyOptions& options) const {
    prepare_files(options);
    return run_verify(chosen_backends(options), options);
  }
  int operator()(const RunOptions& options) const {
    prepare_files(options);
    return run_simulation(with_compiled_files(chosen_backends(options)), options);
  }
  int operator()(const ReplayOptions& options) const {
    return run_replay(with_compiled_files(Backends{kernels, options.device}), options);
  }
  int operator()(const ConvertOptions& options) const {
    prepare_files(options);
    return run_convert(options);
  }
  int operator()(const InspectOptions& options) const {
    prepare_files(options);
    return run_inspect(options, [&] {
      constexpr WindowSize size{640, 480};
      return picture_scene(kernels, {.scene = {}, .file = options.file, .hints = options.hints}, size,
                           render::Theme::dark, {});
    });
  }
  int operator()(const ProfileOptions& options) const {
    prepare_files(options);
    return run_profile(with_compiled_files(Backends{kernels, options.device}), options);
  }
  int operator()(const CompareOptions& options) const {
    prepare_files(options);
    return run_compare(with_compiled_files(Backends{kernels, options.device}), options);
  }
  int operator()(const RaceOptions& options) const {
    prepare_files(options);
    return run_race(with_compiled_files(Backends{kernels, options.device}), options);
  }
  int operator()(const KernelsOptions& options) const { return run_kernels(Backends{kernels}, options); }
  int operator()(const InfoOptions& options) const {
    GlReport gl = probe_gl(kernels);
    probe_window(gl);
    return run_info(Backends{kernels}, options, gl);
  }
  int operator()(const NewKernelOptions& options) const { return run_new_kernel(options); }
  int operator()(const LessonOptions& options) const { return run_lesson(kernels, options); }

  /// The backends, with the one device, or the several, that the user chose.
  Backends chosen_backends(const auto& options) const {
    return options.devices ? Backends{kernels, *options.devices} : Backends{kernels, options.device};
  }

  static void prepare_files(const auto& options) {
    const RunFiles files = files_of(options);
    check_files(files);
    if (takes_stdout(files)) console::yield_stdout();
  }
};

int fail(int status, const std::string& why) {
  console::complain(why);
  return status;
}

/// `sharing`: see KernelCatalog.
int run_once(const std::vector<std::string>& arguments, KernelSharing* sharing,
             const std::optional<std::filesystem::path>& handover, NextProgram& next_program) {
  KernelCatalog kernels{sharing};
  return std::visit(Runner{kernels, handover, next_program}, parse_options(kernels, arguments, handover.has_value()));
}

/// The process that takes profiles for a window, see ProfileControl: prepares what these words say, and profiles what
/// its parent asks for. If it cannot prepare itself, it ends, and another process profiles.
int run_spare(const std::vector<std::string>& preparation) {
  KernelCatalog kernels;
  const Backends backends{kernels, std::get<ProfileOptions>(parse_options(kernels, preparation)).device};
  ProfileMeasurement measurement{backends};
  if (!measurement.prepare()) return 0;
  const std::vector<std::string> words = wait_for_words();
  if (words.empty()) return 0;
  const auto options = std::get<ProfileOptions>(parse_options(kernels, words));
  Runner::prepare_files(options);
  return run_profile(with_compiled_files(backends), options, measurement);
}

/// Whether the message names a rank.
bool names_rank(const std::string& why) {
  return std::regex_search(why, std::regex{"(^|: )rank [0-9]+(:| )"});
}

/// The failure, with the command's name if the exception is a library's, whose cause alone says too little.
std::string why_failed(const std::exception& failure, const std::vector<std::string>& arguments) {
  if (!is_of_library(failure)) return failure_text(failure);
  const bool has_verb = !arguments.empty() && !arguments.front().starts_with('-');
  return "'orrery" + (has_verb ? " " + arguments.front() : std::string{}) + "' failed: " + failure_text(failure);
}

/// Prints failures. After one of a window that has left a handover, `next_program` has its folder nevertheless.
int run_and_report(std::vector<std::string>& arguments, KernelSharing* sharing, NextProgram& next_program) {
  std::optional<std::filesystem::path> handover;
  const auto failed = [&](int status, std::string why) {
    if (sharing && status == 1 && !names_rank(why)) why.insert(0, "rank 0: ");
    const std::string next = handover ? continuation(*handover) : "";
    if (next.empty()) return fail(status, why);
    return fail(stop_requested() ? stop_status() : status, why + "; " + next);
  };
  try {
    if (is_compiler_process(arguments)) return run_compiler_process();
    if (const auto preparation = preparation_in(arguments)) return run_spare(*preparation);
    handover = take_handover(arguments);
    next_program.words = arguments;
    const int status = run_once(arguments, sharing, handover, next_program);
    return console::problem().empty() ? status : fail(1, console::problem());
  } catch (const UsageError& error) {
    return failed(2, error.what());
  } catch (const std::exception& error) {
    return failed(1, why_failed(error, arguments));
  }
}

int run(std::vector<std::string> arguments, KernelSharing* sharing) {
  NextProgram next_program;
  const int status = run_and_report(arguments, sharing, next_program);
  if (next_program.folder.empty()) return status;
  const std::string why = start_anew(next_program.folder, next_program.words);
  return fail(stop_requested() ? stop_status() : 1, why);
}

/// MPI would wait in vain for the ranks to end together. mpirun then ends the others.
[[noreturn]] void give_up(const std::string& why) {
  console::complain(why);
  std::_Exit(1);
}

std::string this_program() {
  return std::string{"orrery "} + version + " (" + git_id + ", build " + build_id() + ")";
}

void check_same_start(Communicator& ranks, const std::vector<std::string>& arguments) {
  check_same_program(ranks, this_program());
  check_same_arguments(ranks, arguments);
}

/// Null in a build without CUDA.
std::unique_ptr<RankDevice> rank_device() {
#if ORRERY_HAVE_CUDA
  return cuda_rank_device();
#else
  return nullptr;
#endif
}

/// Serves rank 0 until it ends.
void serve(Communicator& ranks, const std::vector<std::string>& arguments) {
  const std::string name = "rank " + std::to_string(ranks.rank()) + ": ";
  try {
    check_same_start(ranks, arguments);
    const std::unique_ptr<RankDevice> device = rank_device();
    serve_leader(ranks, KernelCatalog{}, device.get());
  } catch (const std::exception& error) {
    give_up(name + failure_text(error));
  }
}

/// Runs the program as rank 0.
int lead(Communicator& ranks, RankWatch& watch, const std::vector<std::string>& arguments) {
  setenv("NO_COLOR", "1", /*replace=*/0);  // mpirun gives its ranks a terminal, wherever it writes itself
  int status = 0;
  try {
    check_same_start(ranks, arguments);
    const std::unique_ptr<RankDevice> device = rank_device();
    RankLeader leader{ranks, watch, device.get()};
    status = run(arguments, &leader);
    leader.end();
    return status;
  } catch (const std::exception& error) {
    if (status == 0) give_up(failure_text(error));
    std::_Exit(status);  // it has printed why
  }
}

/// Runs a process that the environment says is one of several ranks, while MPI finds it alone.
int run_alone(int launched, const std::vector<std::string>& arguments) {
  if (const int rank = launched_rank(); rank > 0) {
    return fail(1, "rank " + std::to_string(rank) +
                       ": MPI finds one process: start the program with the mpirun of the Open MPI that it was built "
                       "with");
  }
  console::complain("OMPI_COMM_WORLD_SIZE is " + std::to_string(launched) +
                    ", but mpirun did not start this process: it runs alone");
  return run(arguments, nullptr);
}

/// Runs one of the processes that mpirun started. Rank 0 is the program, and the others work for it.
int run_rank(const std::vector<std::string>& arguments) {
  const int rank = launched_rank();
  try {
    const int launched = launched_ranks();
    const std::unique_ptr<Communicator> ranks = join_mpi_ranks();
    if (ranks->size() == 1) return run_alone(launched, arguments);
    if (rank > 0) ignore_stop_signals();  // rank 0 may have a checkpoint to write
    RankWatch watch{*ranks, give_up};
    if (rank == 0) return lead(*ranks, watch, arguments);
    serve(*ranks, arguments);
    return 0;
  } catch (const std::exception& error) {
    return rank == 0 ? fail(1, failure_text(error)) : 1;
  }
}

/// Prepares OpenMP's library, which reads the environment: it makes idle threads sleep at once, since otherwise they
/// spin for milliseconds on processors that the window needs. GNU's library reads OMP_WAIT_POLICY before main() begins,
/// so this sets it and starts the program again in the same process, unless the user has set how threads wait, or the
/// program's file cannot be started. LLVM's library no longer prints variables that it cannot read, control characters
/// and all; KMP_WARNINGS=1 brings that back.
void prepare_openmp(char** argv) {
  constexpr std::array said_by{"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"};  // the last two: GNU's and LLVM's
  (void)setenv("KMP_WARNINGS", "0", 0);
  if (std::ranges::any_of(said_by, [](const char* name) { return std::getenv(name); })) return;
  if (getauxval(AT_BASE) == 0) return;  // started by hand through the loader, which /proc/self/exe would name
  std::error_code unknown;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  if (unknown || setenv(said_by.front(), "passive", 0) != 0) return;
  execv(program.c_str(), argv);
}

}  // namespace
}  // namespace orrery

int main(int argc, char** argv) {
  if (orrery::launched_ranks() <= 1) orrery::report_early_end();  // MPI ends ranks in its own way
  orrery::end_with_parent();
  orrery::prepare_openmp(argv);
  orrery::console::open();
  const std::vector<std::string> arguments{argv + 1, argv + argc};
  const int status = orrery::launched_ranks() > 1 ? orrery::run_rank(arguments) : orrery::run(arguments, nullptr);
  orrery::end_as_planned();
  return status;
}
