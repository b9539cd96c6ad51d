#include "compute/snapshots/gadget_parts.h"

#include <algorithm>
#include <filesystem>
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
      digits_ = end - dot - 1;
      has_zeros_ = digits_ > 1 && name[dot + 1] == '0';
      before_ = name.substr(0, dot + 1);
      behind_ = name.substr(end);
      return;
    }
  }
  std::int64_t number() const { return number_; }  ///< of the given file; -1: its name has none
  /// "snap.7.hdf5", or "snap.007.hdf5" in a set whose numbers have as many digits.
  fs::path name(std::int64_t number) const {
    const std::string digits = std::to_string(number);
    const auto with = [&](const std::string& text) { return folder_ / (before_ + text + behind_); };
    const fs::path plain = with(digits);
    if (digits.size() >= digits_ || (!has_zeros_ && fs::exists(plain))) return plain;
    const fs::path padded = with(std::string(digits_ - digits.size(), '0') + digits);
    return has_zeros_ || fs::exists(padded) ? padded : plain;
  }

 private:
  fs::path folder_;
  std::string before_, behind_;
  std::int64_t number_ = -1;
  std::size_t digits_ = 0;  // of the given file's number
  bool has_zeros_ = false;  // in front of it
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

/// What `part` says of all files of its snapshot.
Snapshot without_bodies(const Snapshot& part) {
  Snapshot all{.bodies = {}, .time = part.time, .units = part.units, .units_assumed = part.units_assumed};
  all.properties.formation_scale_factors = part.properties.formation_scale_factors;
  return all;
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

/// Notes that other files of the snapshot exist, if the header of a file that is read alone says so.
void note_other_files(const GadgetHeader& header, const std::string& missing, Snapshot& snapshot) {
  const std::uint64_t here = header.bodies() + header.skipped, promised = header.promised();
  snapshot.part = header.files > 1 || (promised > 0 && promised != here);
  const std::string share = counted(here, "body record") + (promised > here ? " of " + format_count(promised) : "");
  if (header.files > 1) {
    snapshot.notes.insert(snapshot.notes.begin(), "one of " + std::to_string(header.files) +
                                                      " files of its snapshot, read alone (" + share + "): " + missing);
  } else if (promised > 0 && promised != here) {
    snapshot.notes.insert(snapshot.notes.begin(), "its header has " + counted(promised, "body record") +
                                                      " in all, but the file has " + format_count(here) +
                                                      ": it may be one of several files");
  }
}

/// Why the other files of a snapshot cannot be read; empty if all are there.
std::string missing_file(const PartNames& names, const GadgetHeader& header) {
  if (names.number() < 0 || names.number() >= header.files) {
    return "its name has no number from 0 to " + std::to_string(header.files - 1) +
           " between dots, which is needed to find the others";
  }
  for (std::int64_t part = 0; part < header.files; ++part) {
    if (!fs::exists(names.name(part))) return "'" + names.name(part).string() + "' is missing";
  }
  return {};
}

bool are_of_one_snapshot(const GadgetHeader& a, const GadgetHeader& b) {
  return a.files == b.files && a.meaning.time == b.meaning.time && a.totals == b.totals;
}

}  // namespace

Snapshot read_gadget_parts(SnapshotInput& input, const std::function<GadgetPart(SnapshotInput&)>& read) {
  GadgetPart own = read(input);
  GadgetHeader header = own.header;
  if (header.files < 0 || header.files > GadgetHeader::most_files) {
    own.snapshot.notes.push_back(
        "the number of files in its header (NumFilesPerSnapshot) is not valid: read as the only file");
    header.files = 1;
  }
  const PartNames names{input.path()};
  const std::string missing = header.files > 1 ? missing_file(names, header) : "";
  if (header.files <= 1 || !missing.empty()) {
    if (own.snapshot.bodies.positions.empty())
      input.fail("no bodies, and the other files of its snapshot are not read: " + missing);
    note_other_files(header, missing, own.snapshot);
    return std::move(own.snapshot);
  }
  const std::uint64_t promised = header.promised();
  input.require_room_for(promised);

  Snapshot all = without_bodies(own.snapshot);
  all.bodies.positions.reserve(promised);
  all.bodies.velocities.reserve(promised);
  std::uint64_t rows = 0;  // with those that are no bodies
  for (std::int64_t part = 0; part < header.files; ++part) {
    if (part == names.number()) {
      rows += own.snapshot.bodies.positions.size() + header.skipped;
      append_part(all, std::exchange(own.snapshot, {}));
      continue;
    }
    SnapshotInput file{names.name(part), input.hints()};
    const GadgetPart more = read(file);
    if (!are_of_one_snapshot(more.header, header)) {
      file.fail("another snapshot than '" + input.path().string() +
                "': their numbers of files, times or total counts differ");
    }
    rows += more.snapshot.bodies.positions.size() + more.header.skipped;
    input.require_room_for(all.bodies.positions.size() + more.snapshot.bodies.positions.size());
    append_part(all, more.snapshot);
  }
  if (all.bodies.positions.empty()) input.fail("no bodies in any file of its snapshot");
  if (promised > 0 && rows != promised) {
    input.fail("one of " + std::to_string(header.files) + " files of its snapshot, which have " +
               counted(rows, "body record") + " together, but its header has " + format_count(promised) + " in all");
  }
  all.notes.push_back("read from the " + std::to_string(header.files) + " files of its snapshot");
  return all;
}

}  // namespace orrery
