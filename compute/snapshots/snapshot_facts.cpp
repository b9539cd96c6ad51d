#include "compute/snapshots/snapshot_facts.h"

#include <array>
#include <charconv>
#include <cmath>

#include "compute/core/parse_number.h"
#include "compute/snapshots/snapshot.h"
#include "compute/snapshots/snapshot_view.h"

namespace orrery {
namespace {

std::string fact_line(const char* name, double value) {
  std::array<char, 32> digits;
  const auto [end, failed] =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::general);
  return name + std::string{" = "} + std::string{digits.data(), end};
}

}  // namespace

std::vector<std::string> facts_of(const SnapshotView& snapshot) {
  std::vector<std::string> facts{fact_line("time", snapshot.time)};
  if (const auto& units = snapshot.units) {
    facts.push_back(fact_line("length_cm", units->length_cm));
    facts.push_back(fact_line("mass_g", units->mass_g));
    facts.push_back(fact_line("velocity_cm_s", units->velocity_cm_s));
  }
  if (snapshot.properties.formation_scale_factors && !snapshot.properties.formation_time.empty()) {
    facts.push_back(fact_line("formation_scale_factors", 1));
  }
  return facts;
}

std::string SnapshotFacts::take(std::string_view line) {
  constexpr std::string_view between = " = ";
  constexpr std::size_t most_quoted = 80;
  const std::size_t at = line.find(between);
  if (at == std::string_view::npos) return {};
  const std::string_view name = line.substr(0, at);
  std::optional<double>* const place = name == "time"                      ? &time_
                                       : name == "length_cm"               ? &length_
                                       : name == "mass_g"                  ? &mass_
                                       : name == "velocity_cm_s"           ? &velocity_
                                       : name == "formation_scale_factors" ? &formation_scale_factors_
                                                                           : nullptr;
  if (!place) return {};
  *place = parsed_number<double>(line.substr(at + between.size()));
  if (place == &time_ && !time_) {  // "0.5 Myr" of another program
    notes_.push_back("comment '" + std::string{line.substr(0, most_quoted)} +
                     "' is not read: its value is no number alone");
    return {};
  }
  if (!*place || !std::isfinite(**place)) return std::string{name} + ": not a finite number";
  constexpr Units usable{1, 1, 1};
  Units units = usable;
  if (place == &length_) units.length_cm = **place;
  if (place == &mass_) units.mass_g = **place;
  if (place == &velocity_) units.velocity_cm_s = **place;
  return units.usable() ? "" : std::string{name} + ": not a usable unit";
}

void SnapshotFacts::give(Snapshot& snapshot) const {
  if (time_) snapshot.time = *time_;
  snapshot.notes.insert(snapshot.notes.end(), notes_.begin(), notes_.end());
  snapshot.properties.formation_scale_factors = formation_scale_factors_.value_or(0) != 0;
  if (!length_ || !mass_) return;
  snapshot.units = gravity_units(*length_, *mass_);
  if (velocity_) snapshot.units->velocity_cm_s = *velocity_;
}

}  // namespace orrery
