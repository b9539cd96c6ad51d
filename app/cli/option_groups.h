// Options that several verbs have in common. A verb has the groups that it uses as members: it declares them among its
// own options, and checks them after all options have been read. Each check throws UsageError.
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
#include "compute/devices/device_list.h"
#include "compute/kernels/runtime/file_kernel.h"
#include "compute/scenes/scene.h"
#include "compute/sim/backends.h"
#include "compute/snapshots/snapshot_format.h"
#include "render/appearance.h"

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

/// The bodies: those of a FILE and how to read it, or a generated scene.
struct SceneOptions {
  SceneRequest request;     ///< with the one number of bodies of declare()
  std::vector<int> counts;  ///< of declare_list()

  void declare(CommandLine& line);
  /// Does the same with a list of numbers of bodies.
  void declare_list(CommandLine& line, const std::string& counts_help);
  /// Refuses options that change nothing, and a word that is no file.
  void check(const CommandLine& line) const;
  /// Refuses a number of bodies that the scene cannot have.
  void check_count(std::int64_t number) const;
  void check_count() const { check_count(request.count); }
  /// Fills `counts` with these if none were given, and checks them.
  void take_counts(const std::vector<int>& otherwise);

 private:
  void add_scene(CommandLine& line, const std::string& counts_name, const std::string& counts_help,
                 const CommandLine::Reader& read_counts);
};

/// The kernels, their settings, and the accuracy of `auto`.
struct KernelOptions {
  KernelSelection selection;       ///< of --kernels and --kernel-file; otherwise all kernels
  KernelPtr kernel;                ///< of --kernel and --kernel-file; null: auto, or none is named
  bool named = false;              ///< a kernel, or auto, was given
  std::vector<KernelPtr> files;    ///< of --kernel-file
  std::vector<Axis> axes;          ///< of --set and --block
  std::optional<double> accuracy;  ///< of --accuracy
  double accuracy_or_default() const { return accuracy.value_or(default_accuracy); }

  /// --kernel, the one to start with.
  void declare_first(CommandLine& line, const std::string& help);
  /// --kernels and --accuracy. `otherwise`: the kernels without the option.
  void declare_list(CommandLine& line, const std::string& otherwise = "all that can run here");
  /// --kernel-file. Declare it before all options that name kernels: these are read after it.
  void declare_file(CommandLine& line, FileKernelUse use, const std::string& help);
  void declare_accuracy(CommandLine& line);
  /// --set and --block with one value, or with a list of values.
  void declare_settings(CommandLine& line);
  void declare_setting_lists(CommandLine& line);

  /// The kernel to start with. If settings are given without a kernel, they are those of the default one, which depends
  /// on the device: it may be any. Refuses settings of `auto`.
  KernelSelection first(const KernelCatalog& kernels) const;
  /// Appends to `setup` what selects the kernel of first(); of the default kernel, which is not known yet, fills
  /// `settings`.
  void select_first(const KernelSelection& first, Commands& setup, Settings::Values& settings) const;
  /// Refuses settings of an `auto` alone in --kernels, and an accuracy without it.
  void check_auto(const KernelCatalog& kernels) const;
  /// Refuses an accuracy. `option`: the one that names the kernel.
  void refuse_accuracy(const char* option) const;

 private:
  void add_settings(CommandLine& line, const std::string& value, const std::string& help);
  void add_axis(std::string_view option, std::string_view text);
  [[noreturn]] void refuse_settings_of_auto(const KernelCatalog& kernels, const char* option) const;
};

/// Integrator, law and their constants.
struct PhysicsOptions {
  Commands setup;  ///< in the order of the options; the law is appended by append_law()
  std::optional<LawId> law;

  void declare(CommandLine& line);
  void declare_law(CommandLine& line, const std::string& more_help = {});
  /// The accuracy of block time steps, and the digits of positions and velocities.
  void declare_eta_and_digits(CommandLine& line);

  void append_law();
  /// Refuses a constant of attract-repel without its law.
  void check_constants(const CommandLine& line, bool has_law) const;
  /// Both for a verb with one law.
  void take_law(const CommandLine& line);
  /// Refuses --eta if no integrator uses it: neither that of --integrator nor one of `others`.
  void check_eta(const std::vector<std::string>& others = {}) const;
};

/// The CUDA device, or several.
struct DeviceOptions {
  std::optional<int> device;
  std::optional<DeviceList> devices;

  void declare(CommandLine& line);
  /// Does the same, and adds --devices.
  void declare_several(CommandLine& line);
  /// Refuses both.
  void check() const;
  /// Opens them.
  Backends backends(const KernelCatalog& kernels) const {
    return devices ? Backends{kernels, *devices} : Backends{kernels, device};
  }
};

/// Where the results of a measurement go.
struct ResultOptions {
  TableFlags table;
  bool progress = false;  ///< even if stderr is no terminal
  ResultNames names;

  /// All of them, with lists of settings and the device or several.
  void declare(CommandLine& line, KernelOptions& kernels, DeviceOptions& device, bool several_devices);
  /// The files that such a measurement reads and writes.
  RunFiles files(const SceneRequest& scene) const;
};

void add_byte_order(CommandLine& line, std::optional<ByteOrder>& order, const std::string& help);
/// Says how a file of bodies is to be read.
void add_hints(CommandLine& line, SnapshotHints& hints);
void add_force(CommandLine& line, Existing& existing);
void add_table_flags(CommandLine& line, TableFlags& flags);
void add_progress(CommandLine& line, bool& progress);
void add_size(CommandLine& line, std::optional<WindowSize>& size, const std::string& help);
/// Refuses a picture that is too small, with panels or without. A display may need more.
void refuse_small_size(const std::optional<WindowSize>& size, bool panels);
void add_theme(CommandLine& line, std::optional<render::Theme>& theme);
/// Refuses an option that cannot go with --resume: bodies, kernel and physics are the checkpoint's. `file`: the FILE.
void refuse_what_a_checkpoint_decides(const CommandLine& line, const KernelOptions& kernels,
                                      const PhysicsOptions& physics, const std::string& file);
/// Refuses the flags of tables with --json.
void refuse_table_flags_of_json(bool json, const TableFlags& table);

/// The files of `orrery view` and its script.
RunFiles files_of(const ViewOptions& options);

/// Throws UsageError if two outputs are the same file, or an output is an input, by whatever names; std::runtime_error
/// if an input does not exist or an output cannot be written. Changes no file. If an output is stdout, nothing else is
/// printed there from now on.
void prepare_files(const RunFiles& files);

/// The first half of prepare_files(): throws UsageError if two outputs are the same file, or an output is an input.
void refuse_files_that_meet(const RunFiles& files);

/// Compiles kernel files even if no GPU can run them, so that their errors are shown at their lines.
/// Throws KernelFileError.
void compile_kernel_files(const Backends& backends);

/// Compiles a kernel file for both laws and for each of `variants`, which are its settings, before one of them runs.
/// Prints how many there are to the standard error. Settings that the GPU cannot launch are no failure. Throws
/// KernelFileError that names the settings. Does nothing where there is no compiler.
void compile_settings(const Backends& backends, const std::vector<Variant>& variants);

}  // namespace orrery
