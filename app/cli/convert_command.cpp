// `orrery convert`: converts a file of bodies to another format.
#include <CLI/CLI.hpp>
#include <string>
#include <utility>

#include "app/cli/commands.h"
#include "app/cli/option_parts.h"
#include "app/text/console.h"
#include "app/text/parse_value.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/core/text.h"
#include "compute/snapshots/snapshot_format.h"
#include "compute/snapshots/units.h"

namespace orrery {

namespace {

/// The data of IN that OUT does not hold, and why; empty if it holds everything.
std::string not_kept(const ConvertOptions& options, const std::vector<std::string>& unread,
                     const std::vector<std::string>& lost) {
  std::string text;
  if (!unread.empty()) text += joined(unread) + " (which Orrery does not read)";
  if (!lost.empty()) {
    text.append(text.empty() ? "" : "; ").append(joined(lost) + " (which " + options.format->title + " cannot hold)");
  }
  return text;
}

/// "tipsy (.tipsy), text (.txt .csv .tab .dat)"
std::string formats_with_endings() {
  return joined(snapshot_formats(), [](const SnapshotFormat* format) {
    std::string endings;
    for (const std::string_view ending : format->endings) {
      if (!ending.empty()) endings.append(endings.empty() ? "" : " ").append(ending);
    }
    return fmt::format("{} ({})", format->id, endings);
  });
}

}  // namespace

void declare_convert(CLI::App& app, OptionDraft& draft) {
  ConvertOptions& convert = draft.convert;
  add_file(app, "IN", "the file to read; its content determines the format: " + snapshot_titles(), convert.in);
  add_file(app, "OUT", "the file to write; its ending determines the format: " + formats_with_endings(), convert.out);
  for (const char* const name : {"IN", "OUT"}) app.get_option(name)->expected(1);  // CLI11 allows one list of files
  add(app, "--to", "FORMAT", "format of OUT, whatever its ending: " + joined_ids(snapshot_formats()),
      [&](const std::string& text) { convert.format = find_named(snapshot_formats(), text, "format"); });
  add_hints(app, convert.hints, draft.hint_option);
  add_byte_order(app, convert.order, "byte order of OUT: big or little (TIPSY: big; others: little)");
  add_force(app, draft);
  app.footer(
      "Examples:\n"
      "  orrery convert galaxy.bin galaxy.hdf5 --units kpc,1e10Msun\n"
      "  orrery convert table.txt bodies.ply --columns x,y,z,vx,vy,vz,m\n"
      "\nTime, ids, species and units are kept as far as the format holds them; a line lists what is lost.");
}

ConvertOptions finish_convert(const OptionDraft& draft) {
  ConvertOptions convert = draft.convert;
  if (convert.in.empty() || convert.out.empty()) {
    throw UsageError("'orrery convert' needs two files: orrery convert IN OUT");
  }
  if (!convert.format) convert.format = format_named_by(convert.out);
  if (!convert.format) {
    throw UsageError(fmt::format("'{}' names no format by its ending; formats: {}; or choose one with --to",
                                 convert.out, formats_with_endings()));
  }
  convert.existing = draft.existing();
  return convert;
}

int run_convert(const ConvertOptions& options) {
  ReadSnapshot read = read_any_snapshot(options.in, options.hints);
  Snapshot& snapshot = read.snapshot;
  const int count = snapshot.bodies.count();
  const bool has_ids = !snapshot.properties.ids.empty();
  const std::vector<std::string> unread = std::move(snapshot.unread);
  std::vector<std::string> remarks = std::move(snapshot.notes);
  if (snapshot.units_assumed) {
    remarks.push_back("units are not in " + options.in + ": taken as " + units_text(*snapshot.units) +
                      ", as its readers do; --units names others");
  }
  if (!snapshot.units_file.empty()) {
    remarks.push_back("units are those of " + snapshot.units_file + ": " + units_text(*snapshot.units));
  }
  const WrittenSnapshot written =
      write_snapshot(options.out, std::move(snapshot), {options.order, options.existing, options.format});
  if (!written.converted.empty()) remarks.push_back(written.converted);
  console::print("wrote {}: {}, {}\n", joined(written.files, [](const auto& file) { return file.string(); }),
                 options.format->title, counted_bodies(count));
  for (const std::string& remark : remarks) console::print("{}\n", remark);
  if (const std::string fields = not_kept(options, unread, written.lost); !fields.empty()) {
    console::print_error("note: not kept: {}\n", fields);
  }
  if (written.reordered) {
    console::print_error("note: the order of the bodies changes, because {} groups them by species: {}\n",
                         options.format->title,
                         has_ids ? "their ids are kept" : "ids are written, which are their places before");
  }
  return 0;
}

}  // namespace orrery
