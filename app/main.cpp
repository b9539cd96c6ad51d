#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <system_error>
#include <vector>

#include "app/cli/option_groups.h"
#include "app/cli/verb.h"
#include "app/process/child_process.h"
#include "app/process/kernel_processes.h"
#include "app/process/this_program.h"
#include "app/text/console.h"
#include "app/window/keys.h"
#include "app/window/run_view.h"
#include "compute/core/error.h"
#include "compute/core/process.h"
#include "compute/ranks/communicator.h"
#include "compute/ranks/rank_leader.h"
#include "orrery_version.h"

namespace orrery {
namespace {

int fail(int status, const std::string& why) {
  console::complain(why);
  return status;
}

/// Runs the verb of the command line and returns its exit status. `sharing` as in KernelCatalog.
int run_once(const std::vector<std::string>& arguments, KernelSharing* sharing,
             const std::optional<std::filesystem::path>& handover, NextProgram& next_program) {
  KernelCatalog kernels{sharing};
  const auto view = [&](const ViewOptions& given) {
    const ViewOptions options = handover ? options_after_handover(given, *handover) : given;
    prepare_files(files_of(options));
    return run_view(kernels, options, kernels.sharing() ? nullptr : &next_program);  // mpirun waits for this one
  };
  const Graphics graphics{probe_gl, probe_window, picture_scene, key_table, view};
  return parse_options(kernels, arguments, handover.has_value())->run({kernels, graphics});
}

/// Runs a spare process: prepares what the verb of `preparation` will need, and waits for the parent's command.
int run_spare(const std::vector<std::string>& preparation) {
  KernelCatalog kernels;
  return parse_options(kernels, preparation)->run_as_spare({kernels});
}

/// Returns whether the message names a rank.
bool names_rank(const std::string& why) {
  return std::regex_search(why, std::regex{"(^|: )rank [0-9]+(:| )"});
}

/// Returns the text of the failure. Adds the verb's name if a library threw it, since such texts alone say too little.
std::string why_failed(const std::exception& failure, const std::vector<std::string>& arguments) {
  if (!is_of_library(failure)) return failure_text(failure);
  const bool has_verb = !arguments.empty() && !arguments.front().starts_with('-');
  return "'orrery" + (has_verb ? " " + arguments.front() : std::string{}) + "' failed: " + failure_text(failure);
}

/// Runs the program and prints failures. If a window failed but left a handover, `next_program` still gets its folder.
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

/// Ends this rank without MPI_Finalize(), which would wait in vain for the other ranks. mpirun then ends the others.
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

/// Returns this rank's device; null in a build without CUDA.
std::unique_ptr<RankDevice> rank_device() {
#if ORRERY_HAVE_CUDA
  return cuda_rank_device();
#else
  return nullptr;
#endif
}

/// Evaluates kernels for rank 0 until rank 0 ends.
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
  setenv("NO_COLOR", "1", /*replace=*/0);  // mpirun gives its ranks a terminal even if its own output is not one
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
    std::_Exit(status);  // run() has printed the failure
  }
}

/// Runs a process that is one of several ranks according to the environment, but alone according to MPI.
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

/// Runs a process that mpirun started. Rank 0 runs the program, and the others serve it.
int run_rank(const std::vector<std::string>& arguments) {
  const int rank = launched_rank();
  try {
    const int launched = launched_ranks();
    const std::unique_ptr<Communicator> ranks = join_mpi_ranks();
    if (ranks->size() == 1) return run_alone(launched, arguments);
    if (rank > 0) ignore_stop_signals();  // rank 0 may have to write a checkpoint first
    RankWatch watch{*ranks, give_up};
    if (rank == 0) return lead(*ranks, watch, arguments);
    serve(*ranks, arguments);
    return 0;
  } catch (const std::exception& error) {
    return rank == 0 ? fail(1, failure_text(error)) : 1;
  }
}

/// Sets the environment for OpenMP's library. Idle threads are to sleep immediately: they otherwise spin for
/// milliseconds on processors that the window needs. GNU's library reads OMP_WAIT_POLICY before main() begins. So this
/// sets the variable and restarts the program in the same process. It does not if the user has chosen how threads wait,
/// or the file cannot be started. KMP_WARNINGS=0 stops LLVM's library from printing invalid variables, control
/// characters included; users can set it to 1.
void prepare_openmp(char** argv) {
  constexpr std::array said_by{"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"};  // two of GNU and LLVM
  (void)setenv("KMP_WARNINGS", "0", 0);
  if (std::ranges::any_of(said_by, [](const char* name) { return std::getenv(name); })) return;
  if (getauxval(AT_BASE) == 0) return;  // started through the loader, which /proc/self/exe would name
  std::error_code unknown;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  if (unknown || setenv(said_by.front(), "passive", 0) != 0) return;
  execv(program.c_str(), argv);
}

}  // namespace
}  // namespace orrery

int main(int argc, char** argv) {
  if (orrery::launched_ranks() <= 1) orrery::report_early_end();  // MPI has its own way to end ranks
  orrery::end_with_parent();
  orrery::prepare_openmp(argv);
  orrery::console::open();
  const std::vector<std::string> arguments{argv + 1, argv + argc};
  const int status = orrery::launched_ranks() > 1 ? orrery::run_rank(arguments) : orrery::run(arguments, nullptr);
  orrery::end_as_planned();
  return status;
}
