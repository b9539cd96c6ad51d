#include "app/cli/option_adders.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <limits>

#include "app/text/parse_value.h"
#include "compute/core/error.h"
#include "compute/snapshots/snapshot_format.h"

namespace orrery {

void add(CLI::App& app, const std::string& names, const std::string& value, const std::string& help, const Reader& read,
         bool repeatable) {
  const std::string shown = names.substr(0, names.find(','));
  const auto read_all = [shown, read, repeatable](const std::vector<std::string>& texts) {
    if (texts.size() > 1 && !repeatable) throw UsageError(fmt::format("{} is given {} times", shown, texts.size()));
    for (const std::string& text : texts) read(text);
  };
  const bool positional = names.front() != '-';
  CLI::Option* option = app.add_option_function<std::vector<std::string>>(names, read_all, help);
  option->allow_extra_args(false)->option_text(positional ? " " : value);
}

std::string file_name(const std::string& option, const std::string& text) {
  if (text.empty()) throw UsageError(option + " needs the name of a file");
  return text;
}

void add_file(CLI::App& app, const std::string& name, const std::string& help, std::string& file) {
  add(app, name, "FILE", help, [&file, name](const std::string& text) { file = file_name(name, text); });
}

/// A flag takes no value: without this CLI11 reads --flag=3 as the flag given three times.
void add_flag(CLI::App& app, const std::string& name, bool& value, const std::string& help) {
  app.add_flag(name, value, help)->disable_flag_override();
}

void add_force(CLI::App& app, OptionDraft& draft) {
  add_flag(app, "--force", draft.force,
           "overwrites existing files (default: keeps them and adds a number to the new name)");
}

void add_table_flags(CLI::App& app, TableFlags& flags) {
  add_flag(app, "--wide", flags.wide, "prints every column of tables in full width");
  add_flag(app, "--markdown", flags.markdown, "prints tables in Markdown");
}

void add_byte_order(CLI::App& app, std::optional<ByteOrder>& order, const std::string& help) {
  add(app, "--byte-order", "ORDER", help, [&order](const std::string& text) {
    constexpr std::array<std::string_view, 2> orders{"big", "little"};
    order = parse_choice("--byte-order", text, orders) == 0 ? ByteOrder::big : ByteOrder::little;
  });
}

void add_hints(CLI::App& app, SnapshotHints& hints, std::string& last) {
  add(app, "--units", "L,M[,V]", "units of the file's lengths, masses and velocities: kpc,1e10Msun,km/s (the file's)",
      [&](const std::string& text) {
        hints.units = parse_units("--units", text);
        last = "--units";
      });
  add(app, "--columns", "NAMES", "columns of a text table, such as x,y,z,vx,vy,vz,m; '-' skips one",
      [&](const std::string& text) {
        hints.columns = parse_columns("--columns", text);
        last = "--columns";
      });
  add(app, "--state", "I", "which state of a trajectory, from 0 (the last)", [&](const std::string& text) {
    hints.state = parse_integer("--state", text, 0, std::numeric_limits<int>::max());
    last = "--state";
  });
}

}  // namespace orrery
