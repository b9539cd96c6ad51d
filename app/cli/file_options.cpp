#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>

#include "app/cli/option_parts.h"
#include "app/text/parse_value.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/snapshots/snapshot_format.h"

namespace orrery {
namespace {

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

void declare_inspect(CLI::App& app, OptionDraft& draft) {
  InspectOptions& inspect = draft.inspect;
  add_file(app, "FILE", "a file of bodies: " + snapshot_titles(), inspect.file);
  add_hints(app, inspect.hints, draft.hint_option);
  add(app, "--picture", "FILE.png", "also draws the bodies", [&](const std::string& text) {
    inspect.picture = parse_picture_name("--picture", file_name("--picture", text));
  });
  add_force(app, draft);
  add_table_flags(app, inspect.table);
  app.footer(
      "Examples:\n"
      "  orrery inspect galaxy.bin\n"
      "  orrery inspect snapshot_010.hdf5 --picture galaxy.png\n"
      "\nThe exit status is 1 if the file is damaged or cannot be used.");
}

void declare_replay(CLI::App& app, OptionDraft& draft) {
  add_file(app, "FILE", "a replay file, which a window writes: the script command save-replay", draft.replay.file);
  add_kernel_file(app, draft, FileKernelUse::plain, "kernel of your own that the file names; repeatable");
  add_progress(app, draft.replay.progress);
  add_device(app, draft);
  app.footer(
      "Example:\n"
      "  orrery replay run.replay\n"
      "\nThe exit status is 1 at the first state that differs.");
}

ReplayOptions finish_replay(const OptionDraft& draft) {
  ReplayOptions replay = draft.replay;
  if (replay.file.empty()) throw UsageError("'orrery replay' needs a file: orrery replay FILE");
  replay.device = draft.device;
  return replay;
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

InspectOptions finish_inspect(const OptionDraft& draft) {
  InspectOptions inspect = draft.inspect;
  if (inspect.file.empty()) throw UsageError("'orrery inspect' needs a file: orrery inspect FILE");
  inspect.existing = draft.existing();
  return inspect;
}

}  // namespace orrery
