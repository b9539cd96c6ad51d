// Meaning of a file's numbers: units and cosmology, and the attributes in which each code states them.
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

/// Exponents of the scale factor and of h = H0 / (100 km/s/Mpc). A number in a file becomes proper (physical) by
/// multiplication with (scale factor)^a h^h.
struct CosmologicalPowers {
  double a = 0, h = 0;
  friend bool operator==(const CosmologicalPowers&, const CosmologicalPowers&) = default;
};

/// Softening lengths of one particle type from a code's parameters, in the file's unit of length; 0: unknown.
struct CodeSoftening {
  /// In a cosmological run: min(scale factor * comoving, most_physical). most_physical = 0: no upper limit.
  double comoving = 0, most_physical = 0;
  double without_expansion = 0;  ///< softening in a run without expansion
};

/// Statements of a file's header about its numbers. Readers fill them in; only take_meaning() interprets them.
struct FileMeaning {
  double time = 0;                 ///< as in the file; may be a scale factor
  std::optional<bool> comoving{};  ///< the file's flag for a cosmological run; empty: no flag
  std::string comoving_name{};     ///< name of that flag, such as "Parameters/ComovingIntegrationOn"
  std::optional<double>
      scale_factor{};  ///< from an attribute that always holds the scale factor; empty: `time` may hold it
  std::optional<double> redshift{}, omega0{}, hubble{};
  double box_size = 0;                 ///< length of a periodic box; 0: none
  std::optional<Units> units{};        ///< units before the powers of a and h are applied; empty: `usual_units`
  std::optional<Units> usual_units{};  ///< units to assume if the file states none; empty: G = 1
  std::optional<double> gravity{};     ///< the code's G, converted to cm^3 / (g s^2) with the code's units
  /// Powers of GADGET (Springel 2005, "The cosmological simulation code GADGET-2", and its guide): proper x = a r / h
  /// and v = sqrt(a) u, where r and u are in the file.
  CosmologicalPowers length{1, -1}, mass{0, -1}, velocity{0.5, 0};
  bool zero_powers = false;   ///< all powers in the datasets are 0: a cosmological file has proper numbers already
  bool powers_known = false;  ///< the datasets state the powers: those of h apply even without cosmology
  bool without_h = false;     ///< no factor of h applies, whatever the powers above are
  std::array<CodeSoftening, 16> softening{};  ///< one entry per particle type
};

/// Sets the snapshot's units, time and box, and adds notes. A cosmological file gets units of proper (physical) values.
/// The file's flag decides whether it is cosmological; without a flag, scale factor, redshift, Omega0 and box do.
/// `hints` override units, h and this decision. Returns why the file cannot be used, such as "HubbleParam: ..."; empty
/// if it can.
std::string take_meaning(const FileMeaning& meaning, const SnapshotHints& hints, Snapshot& snapshot);

/// Returns the softening length of a particle type in the file's unit of length; 0 if unknown.
double softening_of_type(const FileMeaning& meaning, const SnapshotHints& hints, std::size_t type);

/// Attribute of a file of GADGET or a related code.
struct HeaderAttribute {
  bool exists = false;
  std::optional<double> number{};  ///< the first number in it; empty: no number, such as a text
};

/// Function that finds an attribute by the path of its group or dataset and by its name: ("Header", "Time").
using HeaderLookup = std::function<HeaderAttribute(const std::string& object, const char* attribute)>;

/// Reads what an HDF5 file of GADGET-2, -3 or -4, AREPO, GIZMO, SWIFT, EAGLE or OWLS states about its numbers. Adds a
/// note for each attribute that cannot be used.
FileMeaning meaning_of_header(const HeaderLookup& lookup, std::vector<std::string>& notes);

/// Copies the powers of scale factor and h from the datasets' attributes to `meaning`. Empty path: no such dataset.
void take_powers(const HeaderLookup& lookup, const std::string& positions, const std::string& masses,
                 const std::string& velocities, FileMeaning& meaning);

}  // namespace orrery
