#include "app/cli/convert_command.h"

#include <string>
#include <utility>

#include "app/text/console.h"
#include "compute/core/names.h"
#include "compute/core/text.h"
#include "compute/snapshots/units.h"

namespace orrery {

namespace {

/// What OUT does not hold of IN, and why; empty if it holds everything.
std::string not_kept(const ConvertOptions& options, const std::vector<std::string>& unread,
                     const std::vector<std::string>& lost) {
  std::string text;
  if (!unread.empty()) text += joined(unread) + " (which Orrery does not read)";
  if (!lost.empty()) {
    text.append(text.empty() ? "" : "; ").append(joined(lost) + " (which " + options.format->title + " cannot hold)");
  }
  return text;
}

}  // namespace

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
