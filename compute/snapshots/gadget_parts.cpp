#include "compute/snapshots/gadget_parts.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "compute/core/format_count.h"
#include "compute/core/parse_number.h"
#include "compute/snapshots/snapshot_input.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

/// The number of a part stands alone between dots, or behind the last one.
class PartNames {
 public:
  explicit PartNames(const fs::path& file) : folder_{file.parent_path()} {
    const std::string name = file.filename().string();
    for (std::size_t end = name.size(); end != std::string::npos && end > 0; end = name.rfind('.', end - 1)) {
      const std::size_t dot = name.rfind('.', end - 1);
      if (dot == std::string::npos) return;
      const auto number = parsed_number<std::int64_t>(std::string_view{name}.substr(dot + 1, end - dot - 1));
      if (!number) continue;
      number_ = *number;
      before_ = name.substr(0, dot + 1);
      behind_ = name.substr(end);
      return;
    }
  }
  std::int64_t number() const { return number_; }  ///< of the given file; -1: its name has none
  fs::path name(std::int64_t number) const { return folder_ / (before_ + std::to_string(number) + behind_); }

 private:
  fs::path folder_;
  std::string before_, behind_;
  std::int64_t number_ = -1;
};

/// A value for each body, in both or in neither.
template <class T>
void append_values(std::vector<T>& to, std::size_t before, const std::vector<T>& from, std::size_t added, T missing) {
  if (to.empty() && from.empty()) return;
  to.resize(before, missing);
  to.insert(to.end(), from.begin(), from.end());
  to.resize(before + added, missing);
}

void add_new(std::vector<std::string>& to, const std::vector<std::string>& from) {
  for (const std::string& line : from) {
    if (std::ranges::find(to, line) == to.end()) to.push_back(line);
  }
}

/// Appends the bodies of a further part.
void append_part(Snapshot& to, const Snapshot& part) {
  const std::size_t before = to.bodies.positions.size(), added = part.bodies.positions.size();
  if (added == 0) return;
  append_bodies(to, part);
  to.box = part.box;
  BodyProperties& has = to.properties;
  const BodyProperties& more = part.properties;
  const bool ids = (before == 0 || !has.ids.empty()) && !more.ids.empty();
  if (ids) {
    has.ids.insert(has.ids.end(), more.ids.begin(), more.ids.end());
  } else {
    has.ids = {};
  }
  append_values(has.species, before, more.species, added, Species::dark);
  for (const auto column : {&BodyProperties::softening, &BodyProperties::temperature, &BodyProperties::metals,
                            &BodyProperties::formation_time}) {
    append_values(has.*column, before, more.*column, added, 0.0f);
  }
  add_new(to.notes, part.notes);
  add_new(to.unread, part.unread);
}

std::uint64_t sum_of(const std::array<std::uint64_t, species_count>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

}  // namespace

Snapshot read_gadget_parts(SnapshotInput& input, const std::function<GadgetPart(SnapshotInput&)>& read) {
  GadgetPart own = read(input);
  const GadgetHeader header = own.header;
  if (header.files <= 1) return std::move(own.snapshot);

  const PartNames names{input.path()};
  const std::string which = "one of " + std::to_string(header.files) + " files of its snapshot, ";
  if (names.number() < 0 || names.number() >= header.files) {
    input.fail(which + "but its name has no number from 0 to " + std::to_string(header.files - 1) +
               " between dots: name the files snap.0, snap.1 and so on, with the same ending");
  }
  for (std::int64_t part = 0; part < header.files; ++part) {
    if (!fs::exists(names.name(part))) input.fail(which + "but '" + names.name(part).string() + "' is missing");
  }
  const std::uint64_t promised = sum_of(header.totals);
  input.require_room_for(promised);

  Snapshot all{.bodies = {},
               .time = own.snapshot.time,
               .units = own.snapshot.units,
               .units_assumed = own.snapshot.units_assumed};
  all.bodies.positions.reserve(promised);
  all.bodies.velocities.reserve(promised);
  for (std::int64_t part = 0; part < header.files; ++part) {
    if (part == names.number()) {
      append_part(all, std::exchange(own.snapshot, {}));
      continue;
    }
    SnapshotInput file{names.name(part), input.hints()};
    const GadgetPart more = read(file);
    if (more.header.files != header.files || more.header.meaning.time != header.meaning.time ||
        more.header.totals != header.totals) {
      file.fail("another snapshot than '" + input.path().string() +
                "': their numbers of files, times or total counts differ");
    }
    append_part(all, more.snapshot);
  }
  if (all.bodies.positions.empty()) input.fail("no bodies in any file of its snapshot");
  if (promised > 0 && all.bodies.positions.size() != promised) {
    input.fail(which + "which have " + counted(all.bodies.positions.size(), "body record") +
               " together, but its header has " + format_count(promised) + " in all");
  }
  all.notes.push_back("read from the " + std::to_string(header.files) + " files of its snapshot");
  return all;
}

}  // namespace orrery
