#pragma once

#include <functional>
#include <optional>
#include <string>

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
/// For the window, which checks the file before its kernel runs.
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
/// As add_settings(), with lists of values.
void add_setting_lists(CLI::App& app, OptionDraft& draft);
void add_accuracy(CLI::App& app, OptionDraft& draft);
void add_device(CLI::App& app, OptionDraft& draft);
/// Several CUDA devices in place of one.
void add_devices(CLI::App& app, OptionDraft& draft);
void add_force(CLI::App& app, OptionDraft& draft);
void add_table_flags(CLI::App& app, TableFlags& flags);
void add_progress(CLI::App& app, bool& progress);
void add_measurement(CLI::App& app, OptionDraft& draft, TableFlags& table, bool& progress, ResultNames& files);
/// What bench and report measure.
/// --kernels and the accuracy of `auto`. `otherwise`: what is taken without it.
void add_measured_kernels(CLI::App& app, OptionDraft& draft, const std::string& otherwise = "all that can run here");
void add_repeats(CLI::App& app, OptionDraft& draft);
void add_size(CLI::App& app, OptionDraft& draft, const std::string& help);
void add_panel(CLI::App& app, OptionDraft& draft, const std::string& help);
void add_theme(CLI::App& app, ViewOptions& view);

}  // namespace orrery
