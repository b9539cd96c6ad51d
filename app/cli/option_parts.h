#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/option_draft.h"
#include "compute/kernels/runtime/file_kernel.h"

namespace orrery {

using Reader = std::function<void(const std::string& text)>;

/// Adds an option that takes one value each time it is given; if `repeatable`, more than once.
void add(CLI::App& app, const std::string& names, const std::string& value, const std::string& help, const Reader& read,
         bool repeatable = false);

/// `text`, which must not be empty.
std::string file_name(const std::string& option, const std::string& text);
void add_file(CLI::App& app, const std::string& name, const std::string& help, std::string& file);
void add_flag(CLI::App& app, const std::string& name, bool& value, const std::string& help);

/// Each adds what several subcommands have in common.
void add_byte_order(CLI::App& app, std::optional<ByteOrder>& order, const std::string& help);

/// --units, --columns and --state; `last` becomes the last of them that was given.
void add_hints(CLI::App& app, SnapshotHints& hints, std::string& last);
void add_scene(CLI::App& app, OptionDraft& draft, const std::string& counts, const std::string& counts_help);

/// --kernel-file of the window, which checks the file before its kernel runs.
void add_watched_kernel_file(CLI::App& app, OptionDraft& draft);

/// Declare it before all options that name kernels: these are read after it.
void add_kernel_file(CLI::App& app, OptionDraft& draft, FileKernelUse use, const std::string& help);
void add_kernel(CLI::App& app, OptionDraft& draft, const std::string& help);
void add_law(CLI::App& app, OptionDraft& draft, const std::string& help);

/// The accuracy of block time steps.
void add_eta(CLI::App& app, OptionDraft& draft);

/// The digits of positions and velocities.
void add_digits(CLI::App& app, OptionDraft& draft);

/// Integrator, law and their constants.
void add_physics(CLI::App& app, OptionDraft& draft);
void add_settings(CLI::App& app, OptionDraft& draft, const std::string& value, const std::string& help);

/// Adds the options of add_settings(), with lists of values.
void add_setting_lists(CLI::App& app, OptionDraft& draft);
void add_accuracy(CLI::App& app, OptionDraft& draft);
void add_device(CLI::App& app, OptionDraft& draft);

/// Several CUDA devices in place of one.
void add_devices(CLI::App& app, OptionDraft& draft);
void add_force(CLI::App& app, OptionDraft& draft);
void add_table_flags(CLI::App& app, TableFlags& flags);
void add_progress(CLI::App& app, bool& progress);
void add_measurement(CLI::App& app, OptionDraft& draft, TableFlags& table, bool& progress, ResultNames& files);

/// --kernels and the accuracy of `auto`. `otherwise`: what is taken without it.
void add_measured_kernels(CLI::App& app, OptionDraft& draft, const std::string& otherwise = "all that can run here");
void add_repeats(CLI::App& app, OptionDraft& draft);
/// Throws UsageError for a picture that is too small, with panels or without. A display may need more.
void refuse_small_size(const std::optional<WindowSize>& size, bool panels);
void add_size(CLI::App& app, OptionDraft& draft, const std::string& help);
void add_panel(CLI::App& app, OptionDraft& draft, const std::string& help);
void add_theme(CLI::App& app, ViewOptions& view);

/// The kernel to start with. If settings are given without a kernel, they are those of the default one, which depends
/// on the device: it may be any. Throws UsageError if they are given for `auto`.
KernelSelection first_kernel(const OptionDraft& draft);

/// Appends what selects the first kernel to `setup`; of the default kernel, which is not known yet, fills `settings`.
void set_first_kernel(Commands& setup, Settings::Values& settings, const KernelSelection& first,
                      const std::vector<Axis>& axes);

/// Each throws UsageError; `option` is the one that names the kernel.
[[noreturn]] void refuse_settings_of_auto(const OptionDraft& draft, const char* option);
void refuse_accuracy_of_a_kernel(const OptionDraft& draft, const char* option);

/// The accuracy of the kernels that `auto` stands for in --kernels. Throws UsageError if settings are given for `auto`
/// alone, or an accuracy without it.
double accuracy_of_auto(const OptionDraft& draft);

/// Appends the law that --law names, if any.
void add_law_command(OptionDraft& draft);

/// Throws UsageError if a constant of attract-repel was given, but not its law.
void refuse_constants_without_their_law(const OptionDraft& draft, bool has_law);

/// Throws UsageError if --eta was given, but no integrator uses it: neither that of --integrator nor one of `others`.
void refuse_eta_without_block_steps(const OptionDraft& draft, const std::vector<std::string>& others = {});

/// Throws UsageError for an option that cannot go with --resume: bodies, kernel and physics are the checkpoint's.
void refuse_what_a_checkpoint_decides(const OptionDraft& draft);

/// Checks and takes the options that bench and verify have in common.
template <class MeasureOptions>
void finish_measurement(OptionDraft& draft, MeasureOptions& options, const std::vector<int>& default_counts) {
  draft.put_devices(options);
  check_axes(draft.selection, draft.axes);
  options.scene = draft.scene;
  options.counts = draft.counts.empty() ? default_counts : draft.counts;
  options.kernels = draft.selection;
  options.axes = draft.axes;
  options.files.existing = draft.existing();
  options.setup = draft.physics;
  if (!options.scene.file.empty()) return;
  for (const int count : options.counts) (void)allowed_count(find_scene(options.scene.scene), count);
}

}  // namespace orrery
