#include "compute/snapshots/file_meaning.h"

#include <algorithm>
#include <cmath>

#include "compute/core/range.h"
#include "compute/snapshots/snapshot.h"

namespace orrery {
namespace {

constexpr double least_scale_factor = 1e-6, most_scale_factor = 1e3;
constexpr double same_time = 1e-5, same_gravity = 0.01;  // relative differences

bool is_scale_factor(double value) {
  return value >= least_scale_factor && value <= most_scale_factor;
}

/// Whether a file is cosmological, and why.
struct Decision {
  bool cosmological = false;
  std::string reason{};
};

/// Whether `a` and the redshift z agree that a (1 + z) = 1. A redshift of 0 agrees with a = 1 alone; others may be
/// rounded.
bool agree(double a, double redshift) {
  const double tolerance = redshift == 0 ? same_time : 0.01;
  return is_scale_factor(a) && redshift > -1 && std::abs(a * (1 + redshift) - 1) <= tolerance;
}

/// Decides without a flag: the time is a scale factor if it matches the redshift. At a = 1, a run without expansion may
/// match as well. The box then decides, because runs in vacuum have none.
Decision decide_by_numbers(const FileMeaning& meaning) {
  const double time = meaning.scale_factor.value_or(meaning.time), redshift = meaning.redshift.value_or(0);
  const std::string name = meaning.scale_factor ? "scale factor = " : "Time = ";
  const bool without_matter = meaning.omega0 && !(*meaning.omega0 > 0);
  if ((without_matter || !meaning.omega0) && !(redshift > 0)) return {};
  const std::string values = name + shortest_text(time) + " and Redshift = " + shortest_text(redshift);
  if (without_matter) {
    if (!agree(time, redshift)) return {};
    return {false, "Omega0 = " + shortest_text(*meaning.omega0) + ", although " + values + " match"};
  }
  if (!agree(time, redshift)) return {false, values + " do not match"};
  const bool first = std::abs(time - 1) <= same_time;
  if (first && !meaning.scale_factor && !(meaning.box_size > 0))
    return {false, values + " do not decide it without a box"};
  return {true, values};
}

Decision decide(const FileMeaning& meaning, const SnapshotHints& hints) {
  if (hints.cosmological) return {*hints.cosmological, "--cosmological"};
  if (meaning.comoving) return {*meaning.comoving, meaning.comoving_name + " = " + (*meaning.comoving ? "1" : "0")};
  return decide_by_numbers(meaning);
}

/// The scale factor of a cosmological file; 0 if there is none that can be used.
double scale_factor_of(const FileMeaning& meaning) {
  if (meaning.scale_factor) return is_scale_factor(*meaning.scale_factor) ? *meaning.scale_factor : 0;
  const double by_redshift = meaning.redshift && *meaning.redshift > -1 ? 1 / (1 + *meaning.redshift) : 0;
  if (is_scale_factor(meaning.time) &&
      (meaning.time <= 1 + same_time || agree(meaning.time, meaning.redshift.value_or(0))))
    return meaning.time;
  return is_scale_factor(by_redshift) ? by_redshift : 0;
}

/// The meaning without the powers that do not hold.
FileMeaning with_powers_that_hold(FileMeaning meaning, const Decision& decision, const SnapshotHints& hints) {
  const bool proper = meaning.zero_powers && decision.cosmological && !hints.cosmological;
  if (proper) meaning.length = meaning.mass = meaning.velocity = {0, 0};
  if (meaning.without_h) meaning.length.h = meaning.mass.h = meaning.velocity.h = 0;
  return meaning;
}

/// Names of the text "0.5", "0.5 / 0.7", "1 / 0.7"; empty if nothing is multiplied.
std::string factor_text(const CosmologicalPowers& powers, double a, double h) {
  const auto power = [](double base, double exponent) {
    return shortest_text(base) + (exponent == 1 ? "" : "^" + shortest_text(exponent));
  };
  std::string text = powers.a == 0 || a == 1 ? "" : power(a, powers.a);
  if (powers.h == 0 || h == 1) return text;
  if (powers.h > 0) return text + (text.empty() ? "" : " * ") + power(h, powers.h);
  return (text.empty() ? "1" : text) + " / " + power(h, -powers.h);
}

Vec3d scaled(const Vec3d& v, double factor) {
  return {v.x * factor, v.y * factor, v.z * factor};
}

/// The units of the proper numbers of a file with these.
void multiply(Units& units, const FileMeaning& meaning, double a, double h) {
  const auto factor = [&](const CosmologicalPowers& powers) { return std::pow(a, powers.a) * std::pow(h, powers.h); };
  units.length_cm *= factor(meaning.length);
  units.mass_g *= factor(meaning.mass);
  units.velocity_cm_s *= factor(meaning.velocity);
}

std::string changes_text(const FileMeaning& meaning, double a, double h) {
  std::string text;
  const auto add = [&](const char* what, const CosmologicalPowers& powers) {
    const std::string factor = factor_text(powers, a, h);
    if (!factor.empty()) text.append(text.empty() ? "" : ", ").append(what + (" times " + factor));
  };
  add("lengths", meaning.length);
  add("masses", meaning.mass);
  add("velocities", meaning.velocity);
  return text;
}

/// The units of the file's numbers as they are; empty: G = 1.
std::optional<Units> own_units(const FileMeaning& meaning, const SnapshotHints& hints) {
  std::optional<Units> units = meaning.units ? meaning.units : meaning.usual_units;
  if (!hints.units) return units;
  const double usual = meaning.usual_units ? meaning.usual_units->velocity_cm_s
                                           : gravity_units(hints.units->length_cm, hints.units->mass_g).velocity_cm_s;
  units = hints.units;
  if (!(units->velocity_cm_s > 0)) units->velocity_cm_s = usual;
  return units;
}

/// A code with another G than the physical one for its units: the unit of velocity for which the physical one gives
/// the same orbits.
void take_gravity(const FileMeaning& meaning, Snapshot& snapshot) {
  if (!meaning.gravity) return;
  const double ratio = *meaning.gravity / gravitational_constant;
  if (!(ratio > 0) || !std::isfinite(ratio) || std::abs(ratio - 1) <= same_gravity) return;
  snapshot.units->velocity_cm_s /= std::sqrt(ratio);
  snapshot.notes.push_back("the file's constant of gravity is " + shortest_text(static_cast<float>(ratio)) +
                           " times the physical one in its units: the unit of velocity was changed to keep the orbits "
                           "of the file; --units overrides this");
}

}  // namespace

std::string take_meaning(const FileMeaning& given, const SnapshotHints& hints, Snapshot& snapshot) {
  const Decision decision = decide(given, hints);
  const FileMeaning meaning = with_powers_that_hold(given, decision, hints);
  const bool has_h = meaning.length.h != 0 || meaning.mass.h != 0 || meaning.velocity.h != 0;
  snapshot.time = meaning.time;
  snapshot.units = own_units(meaning, hints);
  snapshot.units_assumed = snapshot.units && !hints.units && !meaning.units;
  if (!hints.units && snapshot.units) take_gravity(meaning, snapshot);
  if (meaning.box_size > 0) snapshot.box = {meaning.box_size, meaning.box_size, meaning.box_size};
  if (hints.hubble && !has_h) snapshot.notes.emplace_back("--hubble changes nothing: no number of the file has h");

  double h = 1;
  if (hints.hubble) {
    h = *hints.hubble;
  } else if (has_h && (decision.cosmological || meaning.powers_known)) {
    h = meaning.hubble.value_or(1);
    if (!meaning.hubble) snapshot.notes.emplace_back("no h in the file: read with h = 1; --hubble names another");
    if (!hubble_range.contains(h))
      return "HubbleParam: " + shortest_text(h) + " is not a usable h; set it with --hubble";
  }
  if (!decision.cosmological) {
    if (!meaning.comoving && !hints.cosmological && meaning.omega0 && !(*meaning.omega0 > 0) &&
        !decision.reason.empty()) {
      snapshot.notes.push_back("not cosmological (" + decision.reason + "); --cosmological overrides this");
    }
    if (meaning.omega0.value_or(0) > 0 && !decision.reason.empty()) {
      snapshot.notes.push_back("not cosmological (" + decision.reason +
                               "), although Omega0 = " + shortest_text(*meaning.omega0) +
                               (hints.cosmological ? "" : "; --cosmological overrides this"));
    }
    if (has_h && h == 1 && !hints.hubble && meaning.hubble && hubble_range.contains(*meaning.hubble) &&
        *meaning.hubble != 1) {
      snapshot.notes.push_back(
          "HubbleParam = " + shortest_text(*meaning.hubble) +
          ", but the file is not cosmological: lengths and masses are not divided by it; --hubble " +
          shortest_text(*meaning.hubble) + " divides them");
    }
    if (h == 1 || !has_h) return {};
  }
  const double a = decision.cosmological ? scale_factor_of(meaning) : 1;
  if (a == 0) {
    return "cosmological (" + decision.reason + "), but neither Time = " + shortest_text(meaning.time) +
           " nor Redshift gives a scale factor; --cosmological no reads it without one";
  }
  if (!snapshot.units) {
    return "cosmological (" + decision.reason +
           "), but its units are not known: name them with --units, or read its "
           "numbers as they are with --cosmological no";
  }
  multiply(*snapshot.units, meaning, a, h);
  if (decision.cosmological && meaning.length.a != 1) {  // the size of a box is a comoving one
    snapshot.box = scaled(snapshot.box, std::pow(a, 1 - meaning.length.a));
  }
  if (!snapshot.units->usable()) return "units: not usable after multiplication by scale factor and h";
  const std::string changes = changes_text(meaning, a, h);
  if (!decision.cosmological) {
    snapshot.notes.push_back("h = " + shortest_text(h) + ": " + changes);
    return {};
  }
  snapshot.time = 0;
  snapshot.properties.formation_scale_factors = true;
  snapshot.notes.push_back("cosmological (" + decision.reason +
                           "): proper coordinates and peculiar velocities at scale factor " + shortest_text(a) +
                           (changes.empty() ? "" : " (" + changes + ')') +
                           ", without the expansion; the time is set to 0");
  if (given.zero_powers && changes.empty()) {
    snapshot.notes.emplace_back("the powers of scale factor and h in the datasets are all 0: no number is multiplied");
  }
  return {};
}

double softening_of_type(const FileMeaning& given, const SnapshotHints& hints, std::size_t type) {
  const CodeSoftening& softening = given.softening[type];
  const Decision decision = decide(given, hints);
  const double a = decision.cosmological ? scale_factor_of(given) : 0;
  if (!(a > 0)) return softening.without_expansion;
  const double proper =
      softening.most_physical > 0 ? std::min(softening.comoving * a, softening.most_physical) : softening.comoving * a;
  return proper / std::pow(a, with_powers_that_hold(given, decision, hints).length.a);
}

}  // namespace orrery
