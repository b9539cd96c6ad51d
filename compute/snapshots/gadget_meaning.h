#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compute/snapshots/file_meaning.h"

namespace orrery {

/// An attribute of a file of GADGET's family.
struct HeaderAttribute {
  bool exists = false;
  std::optional<double> number{};  ///< its first one; empty: it holds none, such as a text
};
/// Looks an attribute up by the path of its group or dataset and its name: ("Header", "Time").
using HeaderLookup = std::function<HeaderAttribute(const std::string& object, const char* attribute)>;

/// What a file in HDF5 of GADGET-2, -3 and -4, AREPO, GIZMO, SWIFT, EAGLE or OWLS says of its numbers: one table
/// lists where each code writes what. Adds a note for each attribute that it cannot use.
FileMeaning meaning_of_header(const HeaderLookup& lookup, std::vector<std::string>& notes);

/// Takes the powers of scale factor and h that the datasets carry. A path is empty if the file has no such dataset.
void take_powers(const HeaderLookup& lookup, const std::string& positions, const std::string& masses,
                 const std::string& velocities, FileMeaning& meaning);

}  // namespace orrery
