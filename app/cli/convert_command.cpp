#include "app/cli/convert_command.h"

#include <string>
#include <utility>

#include "app/text/console.h"
#include "app/text/format_count.h"
#include "app/text/printable.h"
#include "compute/core/names.h"
#include "compute/snapshots/units.h"

namespace orrery {

int run_convert(const ConvertOptions& options) {
  ReadSnapshot read = read_any_snapshot(options.in, options.hints);
  Snapshot& snapshot = read.snapshot;
  const int count = snapshot.bodies.count();
  std::vector<std::string> remarks = std::move(snapshot.notes);
  if (snapshot.units_assumed) {
    remarks.push_back("units are not in " + options.in + ": taken as " + units_text(*snapshot.units) +
                      ", as its readers do; --units names others");
    snapshot.units_assumed = false;
  }
  WrittenSnapshot written =
      write_snapshot(options.out, std::move(snapshot), {options.order, options.existing, options.format});
  if (!written.remark.empty()) remarks.push_back(std::move(written.remark));
  console::print("wrote {}: {}, {}\n", joined(written.files, [](const auto& file) { return printable(file.string()); }),
                 options.format->title, counted_bodies(count));
  for (const std::string& remark : remarks) console::print("{}\n", printable(remark));
  return 0;
}

}  // namespace orrery
