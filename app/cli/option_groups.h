// Groups of options that several verbs share. A verb has its groups as members. It declares them among its own options,
// and checks them after all options were read. Each check throws UsageError.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/command_line.h"
#include "app/lab/variants.h"
#include "app/recording/result_files.h"
#include "app/text/parse_value.h"
#include "app/text/table.h"
#include "app/ui_state/picture_options.h"
#include "app/ui_state/view_options.h"
#include "compute/core/atomic_file.h"
#include "compute/kernels/kernel_sharing.h"
#include "compute/kernels/runtime/file_kernel.h"
#include "compute/scenes/scene.h"
#include "compute/sim/backends.h"
#include "compute/snapshots/snapshot_format.h"
#include "render/appearance.h"

namespace orrery {

/// A file named on the command line or in a script.
struct NamedFile {
  std::string where;  ///< where it was named: "--json", or "demo.txt:3" for a line of a script
  std::string path;
};

/// Files that a run reads and writes, if their names are known before the start.
struct RunFiles {
  std::vector<NamedFile> inputs, outputs;
  Existing existing = Existing::keep;  ///< what to do with existing outputs
};

/// Adds a file, unless `path` is empty.
void add_named(std::vector<NamedFile>& files, const std::string& where, const std::string& path);

/// The initial bodies: a snapshot and how to read it, or a generated scene.
struct SceneOptions {
  SceneRequest request;     ///< includes the number of bodies if declare() was used
  std::vector<int> counts;  ///< numbers of bodies if declare_list() was used

  void declare(CommandLine& line);
  /// Declares the same options, with a list of numbers of bodies.
  void declare_list(CommandLine& line, const std::string& counts_help);
  /// Refuses options without effect, and words that are not files.
  void check(const CommandLine& line) const;
  /// Refuses a number of bodies that the scene does not allow.
  void check_count(std::int64_t number) const;
  void check_count() const { check_count(request.count); }
  /// Sets `counts` to `otherwise` if none were given, and checks them.
  void take_counts(const std::vector<int>& otherwise);

 private:
  void add_scene(CommandLine& line, const std::string& counts_name, const std::string& counts_help,
                 const CommandLine::Reader& read_counts);
};

/// Kernels, their settings, and the accuracy of `auto`.
struct KernelOptions {
  KernelSelection selection;       ///< from --kernels and --kernel-file; otherwise all kernels
  KernelPtr kernel;                ///< from --kernel and --kernel-file; null: auto, or not given
  bool named = false;              ///< whether a kernel, or auto, was given
  std::vector<KernelPtr> files;    ///< from --kernel-file
  std::vector<Axis> axes;          ///< from --set and --block
  std::optional<double> accuracy;  ///< from --accuracy
  double accuracy_or_default() const { return accuracy.value_or(default_accuracy); }

  /// Declares --kernel, the first kernel of a run.
  void declare_first(CommandLine& line, const std::string& help);
  /// Declares --kernels and --accuracy. `otherwise` describes the kernels used without --kernels.
  void declare_list(CommandLine& line, const std::string& otherwise = "all that can run here");
  /// Declares --kernel-file. Must be declared before all options that name kernels, as options are read in this order.
  void declare_file(CommandLine& line, FileKernelUse use, const std::string& help);
  void declare_accuracy(CommandLine& line);
  /// Declare --set and --block with one value, or with a list of values.
  void declare_settings(CommandLine& line);
  void declare_setting_lists(CommandLine& line);

  /// Returns the kernel to start with. Settings without a kernel belong to the default kernel, which depends on the
  /// device; then returns all kernels. Refuses settings of `auto`.
  KernelSelection first(const KernelCatalog& kernels) const;
  /// Appends the command that selects the kernel of first() to `setup`. If it is the default kernel, which is not known
  /// yet, fills `settings` instead.
  void select_first(const KernelSelection& first, Commands& setup, Settings::Values& settings) const;
  /// Refuses settings if --kernels is only `auto`, and an accuracy without `auto`.
  void check_auto(const KernelCatalog& kernels) const;
  /// Refuses an accuracy. `option`: the option that names the kernel.
  void refuse_accuracy(const char* option) const;

 private:
  void add_settings(CommandLine& line, const std::string& value, const std::string& help);
  void add_axis(std::string_view option, std::string_view text);
  [[noreturn]] void refuse_settings_of_auto(const KernelCatalog& kernels, const char* option) const;
};

/// Integrator, law, and their constants.
struct PhysicsOptions {
  Commands setup;  ///< commands in the order of the options; append_law() appends the law
  std::optional<LawId> law;

  void declare(CommandLine& line);
  void declare_law(CommandLine& line, const std::string& more_help = {});
  /// Declares the accuracy of block time steps, and the digits of positions and velocities.
  void declare_eta_and_digits(CommandLine& line);

  void append_law();
  /// Refuses a constant of attract-repel without that law.
  void check_constants(const CommandLine& line, bool has_law) const;
  /// Does check_constants() and append_law(), for a verb with one law.
  void take_law(const CommandLine& line);
  /// Refuses --eta if neither the integrator of --integrator nor one of `others` uses it.
  void check_eta(const std::vector<std::string>& others = {}) const;
};

/// One or several CUDA devices.
struct DeviceOptions {
  std::optional<int> device;
  std::optional<DeviceList> devices;

  void declare(CommandLine& line);
  /// Declares --device and --devices.
  void declare_several(CommandLine& line);
  /// Refuses --device together with --devices.
  void check() const;
  /// Opens the devices.
  Backends backends(const KernelCatalog& kernels) const {
    return devices ? Backends{kernels, *devices} : Backends{kernels, device};
  }
};

/// The groups of a verb that computes forces.
struct SystemOptions {
  SceneOptions scene;
  KernelOptions kernels;
  PhysicsOptions physics;
  DeviceOptions device;
};

/// Destination of a measurement's results.
struct ResultOptions {
  TableFlags table;
  bool progress = false;  ///< show progress even if stderr is not a terminal
  ResultNames names;

  /// Declares all options of a measurement's output, lists of settings, and the device or devices.
  void declare(CommandLine& line, KernelOptions& kernels, DeviceOptions& device, bool several_devices);
  /// Returns the files that such a measurement reads and writes.
  RunFiles files(const SceneRequest& scene) const;
};

void add_byte_order(CommandLine& line, std::optional<ByteOrder>& order, const std::string& help);
/// Adds the options on how to read a snapshot.
void add_hints(CommandLine& line, SnapshotHints& hints);
void add_force(CommandLine& line, Existing& existing);
void add_table_flags(CommandLine& line, TableFlags& flags);
void add_progress(CommandLine& line, bool& progress);
void add_size(CommandLine& line, std::optional<WindowSize>& size, const std::string& help);
/// Refuses a picture that is too small, with or without panels. A display may need a larger one.
void refuse_small_size(const std::optional<WindowSize>& size, bool panels);
void add_theme(CommandLine& line, std::optional<render::Theme>& theme);
/// Refuses options for bodies, kernel and physics together with --resume, as the checkpoint determines them. `file`:
/// the argument FILE.
void refuse_what_a_checkpoint_decides(const CommandLine& line, const KernelOptions& kernels,
                                      const PhysicsOptions& physics, const std::string& file);
/// Refuses the table flags together with --json.
void refuse_table_flags_of_json(bool json, const TableFlags& table);

/// Returns the files of `orrery view` and of its script.
RunFiles files_of(const ViewOptions& options);

/// Checks the files of a run, without changing any. Throws UsageError if two outputs are the same file, or an output is
/// an input, under any names. Throws std::runtime_error if an input does not exist or an output cannot be written. If
/// an output is stdout, redirects all other printing to stderr.
void prepare_files(const RunFiles& files);

/// Throws UsageError if two outputs are the same file, or an output is an input. Part of prepare_files().
void refuse_files_that_meet(const RunFiles& files);

/// Compiles kernel files even if no GPU can run them, so that their errors are shown with line numbers. Throws
/// KernelFileError.
void compile_kernel_files(const Backends& backends);

/// Compiles a kernel file for both laws and for each of `variants`, its settings, before any of them runs. Prints their
/// number on stderr. Settings that the GPU cannot launch are not an error. Throws KernelFileError that names the
/// settings. Does nothing without a compiler.
void compile_settings(const Backends& backends, const std::vector<Variant>& variants);

}  // namespace orrery
