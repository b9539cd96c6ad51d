// Meaning of the numbers of a file: its units, its cosmology, and where each code states them.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compute/snapshots/snapshot.h"
#include "compute/snapshots/units.h"

namespace orrery {

struct Snapshot;

/// Powers of scale factor and h, where h = H0 / (100 km/s/Mpc): a number in a file is proper after multiplication by
/// (scale factor)^a h^h.
struct CosmologicalPowers {
  double a = 0, h = 0;
  friend bool operator==(const CosmologicalPowers&, const CosmologicalPowers&) = default;
};

/// Softening of a type of bodies in its code's parameters, in the file's unit of length; 0: not known.
struct CodeSoftening {
  /// In an expanding space, the softening is a * comoving, but at most most_physical.
  double comoving = 0, most_physical = 0;
  double without_expansion = 0;  ///< softening in a space that does not expand
};

/// Statements of a file's header about its numbers. Readers fill it; only take_meaning() interprets it.
struct FileMeaning {
  double time = 0;                 ///< as in the file
  std::optional<bool> comoving{};  ///< value of a flag in the file
  std::string comoving_name{};     ///< name of that flag, such as "Parameters/ComovingIntegrationOn"
  std::optional<double>
      scale_factor{};  ///< an attribute that its code always writes as the scale factor; without it, `time` may be one
  std::optional<double> redshift{}, omega0{}, hubble{};
  double box_size = 0;                 ///< length of a periodic box; 0: none
  std::optional<Units> units{};        ///< units of the file, before any powers; empty: `usual_units`
  std::optional<Units> usual_units{};  ///< units that readers of the format assume; empty: G = 1
  std::optional<double> gravity{};     ///< the code's constant of gravity, in cm^3 / (g s^2) by its own units
  /// The powers of GADGET (Springel 2005, "The cosmological simulation code GADGET-2", and its guide): x = a r / h,
  /// v = sqrt(a) u.
  CosmologicalPowers length{1, -1}, mass{0, -1}, velocity{0.5, 0};
  bool zero_powers = false;   ///< all that its datasets carry are 0: numbers of a cosmological file are proper already
  bool powers_known = false;  ///< the file states them: its powers of h then hold even without a scale factor
  bool without_h = false;     ///< numbers or units contain no h, whatever `length` and `mass` say
  std::array<CodeSoftening, 16> softening{};  ///< one entry per type
};

/// Gives the snapshot its units, its time and notes. A cosmological file gives proper units; its flag decides whether
/// it is one, or else scale factor, redshift, Omega0 and box together. `hints` overrule units, h and that decision.
/// Returns why the file cannot be used, such as "Redshift: ..."; empty if it can.
std::string take_meaning(const FileMeaning& meaning, const SnapshotHints& hints, Snapshot& snapshot);

/// Returns the softening of a type in the unit of the file's coordinates; 0 if it is not known.
double softening_of_type(const FileMeaning& meaning, const SnapshotHints& hints, std::size_t type);

/// An attribute of a file of GADGET's family.
struct HeaderAttribute {
  bool exists = false;
  std::optional<double> number{};  ///< its first one; empty: it holds none, such as a text
};

/// Looks an attribute up by the path of its group or dataset and its name: ("Header", "Time").
using HeaderLookup = std::function<HeaderAttribute(const std::string& object, const char* attribute)>;

/// Reads the statements of an HDF5 file of GADGET-2, -3 and -4, AREPO, GIZMO, SWIFT, EAGLE or OWLS about its numbers.
/// One table lists where each code writes what. Adds a note for each attribute that cannot be used.
FileMeaning meaning_of_header(const HeaderLookup& lookup, std::vector<std::string>& notes);

/// Takes the powers of scale factor and h that the datasets carry. A path is empty if the file has no such dataset.
void take_powers(const HeaderLookup& lookup, const std::string& positions, const std::string& masses,
                 const std::string& velocities, FileMeaning& meaning);

}  // namespace orrery
