#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "app/cli/option_groups.h"
#include "app/cli/verb.h"
#include "app/text/console.h"
#include "app/text/parse_value.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/core/text.h"
#include "compute/snapshots/snapshot_format.h"
#include "compute/snapshots/units.h"

namespace orrery {
namespace {

/// Lists the data of IN that OUT lacks, and why; empty if OUT has all data.
std::string not_kept(const SnapshotFormat& format, const std::vector<std::string>& unread,
                     const std::vector<std::string>& lost) {
  std::string text;
  if (!unread.empty()) text += joined(unread) + " (which Orrery does not read)";
  if (!lost.empty()) {
    text.append(text.empty() ? "" : "; ").append(joined(lost) + " (which " + format.title + " cannot hold)");
  }
  return text;
}

/// Returns "tipsy (.tipsy), text (.txt .csv .tab .dat)": all formats with their extensions.
std::string formats_with_endings() {
  return joined(snapshot_formats(), [](const SnapshotFormat* format) {
    std::string endings;
    for (const std::string_view ending : format->endings) {
      if (!ending.empty()) endings.append(endings.empty() ? "" : " ").append(ending);
    }
    return fmt::format("{} ({})", format->id, endings);
  });
}

/// `orrery convert`: converts a snapshot to another format.
struct ConvertVerb final : Verb {
  void declare(CommandLine& line) override {
    line.add_file("IN", "the file to read; its content determines the format: " + snapshot_titles(), in);
    line.add_file("OUT", "the file to write; its ending determines the format: " + formats_with_endings(), out);
    line.take_one_word_each({"IN", "OUT"});
    line.add("--to", "FORMAT", "format of OUT, whatever its ending: " + joined_ids(snapshot_formats()),
             [this](const std::string& text) { format = find_named(snapshot_formats(), text, "format"); });
    add_hints(line, hints);
    add_byte_order(line, order, "byte order of OUT: big or little (TIPSY: big; others: little)");
    add_force(line, existing);
    line.add_footer(
        "Examples:\n"
        "  orrery convert galaxy.bin galaxy.hdf5 --units kpc,1e10Msun\n"
        "  orrery convert table.txt bodies.ply --columns x,y,z,vx,vy,vz,m\n"
        "\nTime, ids, species and units are kept as far as the format holds them; a line lists what is lost.");
  }

  void finish(const CommandLine& /*line*/) override {
    if (in.empty() || out.empty()) throw UsageError("'orrery convert' needs two files: orrery convert IN OUT");
    if (!format) format = format_named_by(out);
    if (format) return;
    throw UsageError(fmt::format("'{}' names no format by its ending; formats: {}; or choose one with --to", out,
                                 formats_with_endings()));
  }

  int run(const Program& /*program*/) const override {
    prepare_files({.inputs = {{"IN", in}}, .outputs = {{"OUT", out}}, .existing = existing});
    ReadSnapshot read = read_any_snapshot(in, hints);
    Snapshot& snapshot = read.snapshot;
    const int count = snapshot.bodies.count();
    const bool has_ids = !snapshot.properties.ids.empty();
    const std::vector<std::string> unread = std::move(snapshot.unread);
    std::vector<std::string> remarks = std::move(snapshot.notes);
    if (snapshot.units_assumed) {
      remarks.push_back("units are not in " + in + ": taken as " + units_text(*snapshot.units) +
                        ", as its readers do; --units names others");
    }
    if (!snapshot.units_file.empty()) {
      remarks.push_back("units are those of " + snapshot.units_file + ": " + units_text(*snapshot.units));
    }
    const WrittenSnapshot written = write_snapshot(out, std::move(snapshot), {order, existing, format});
    if (!written.converted.empty()) remarks.push_back(written.converted);
    console::print("wrote {}: {}, {}\n", joined(written.files, [](const auto& file) { return file.string(); }),
                   format->title, counted_bodies(count));
    for (const std::string& remark : remarks) console::print("{}\n", remark);
    if (const std::string fields = not_kept(*format, unread, written.lost); !fields.empty()) {
      console::print_error("note: not kept: {}\n", fields);
    }
    if (written.reordered) {
      console::print_error("note: the order of the bodies changes, because {} groups them by species: {}\n",
                           format->title,
                           has_ids ? "their ids are kept" : "ids are written, which are their places before");
    }
    return 0;
  }

  std::string in, out;
  SnapshotHints hints;                     // how to read `in`
  const SnapshotFormat* format = nullptr;  // format of `out`; not null after all options were read
  std::optional<ByteOrder> order;          // byte order of `out`; empty: its format's usual one
  Existing existing = Existing::keep;
};

}  // namespace

extern constinit const VerbInfo convert_verb{"convert", "converts a file of bodies to another format",
                                             create_verb<ConvertVerb>};

}  // namespace orrery
