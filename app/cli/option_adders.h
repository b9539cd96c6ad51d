#pragma once

#include <functional>
#include <optional>
#include <string>

#include "app/cli/option_draft.h"

namespace orrery {

using Reader = std::function<void(const std::string& text)>;

/// Adds an option that takes one value each time it is given; if `repeatable`, more than once.
void add(CLI::App& app, const std::string& names, const std::string& value, const std::string& help, const Reader& read,
         bool repeatable = false);
/// Returns `text`. Throws UsageError if it is empty.
std::string file_name(const std::string& option, const std::string& text);
void add_file(CLI::App& app, const std::string& name, const std::string& help, std::string& file);
void add_flag(CLI::App& app, const std::string& name, bool& value, const std::string& help);
void add_force(CLI::App& app, OptionDraft& draft);
void add_table_flags(CLI::App& app, TableFlags& flags);
void add_byte_order(CLI::App& app, std::optional<ByteOrder>& order, const std::string& help);
/// --units, --columns and --state; `last` becomes the last of them that was given.
void add_hints(CLI::App& app, SnapshotHints& hints, std::string& last);

}  // namespace orrery
