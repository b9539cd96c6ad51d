#pragma once

#include <functional>
#include <string>

#include "app/cli/option_draft.h"

namespace orrery {

/// Reads the value of an option into an OptionDraft. Throws UsageError.
using OptionReader = std::function<void(const std::string& text)>;

// What the options of the subcommands are made of. Each function declares options of `app`, as declare_view() does.

/// One option that takes one value each time it is given; if `repeatable`, more than once.
void add(CLI::App& app, const std::string& names, const std::string& value, const std::string& help,
         const OptionReader& read, bool repeatable = false);
void add_file(CLI::App& app, const std::string& name, const std::string& help, std::string& file);
/// Takes no value.
void add_flag(CLI::App& app, const std::string& name, bool& value, const std::string& help);
/// FILE, --scene, -n and --seed. `counts` is what -n takes: "N", or "LIST".
void add_scene(CLI::App& app, OptionDraft& draft, const std::string& counts, const std::string& counts_help);
/// The integrator, the time step and the law with its constants.
void add_physics(CLI::App& app, OptionDraft& draft);
void add_device(CLI::App& app, OptionDraft& draft);
void add_force(CLI::App& app, OptionDraft& draft);
void add_table_flags(CLI::App& app, TableFlags& flags);
void add_progress(CLI::App& app, bool& progress);

}  // namespace orrery
