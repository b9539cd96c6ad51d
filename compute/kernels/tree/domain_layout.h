#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "compute/core/vec.h"
#include "compute/kernels/division.h"

namespace orrery {

/// First body of each domain.
struct FirstBodies {
  int of[most_devices] = {};  ///< index of the first body, in key order
  int domains = 0;

  ORRERY_HD int domain_of(int body) const {
    int domain = 0;
    while (domain + 1 < domains && body >= of[domain + 1]) ++domain;
    return domain;
  }
};

/// Layout of all devices' trees in arrays that every device allocates alike. A domain is one device's range of
/// key-sorted bodies plus capacity for the cells of their tree. With few bodies, domain 0 holds all of them; otherwise,
/// no domain is empty.
class DomainLayout {
 public:
  DomainLayout() = default;
  /// Divides `count` bodies as nearly like `parts` as most_bodies() allows. `leaf`: see Octree.
  DomainLayout(int count, std::span<const Part> parts, int leaf);

  friend bool operator==(const DomainLayout&, const DomainLayout&) = default;

  /// Number of non-empty domains.
  int trees() const { return trees_; }
  int first_body(int domain) const { return bounds_[index(domain)]; }
  int bodies(int domain) const { return bounds_[index(domain) + 1] - bounds_[index(domain)]; }
  /// Returns the first body of each non-empty domain.
  FirstBodies first_bodies() const;
  /// Returns the root of the domain's tree; end_cell() returns the end of its capacity.
  int first_cell(int domain) const { return cells_before(first_body(domain), domain, cells_of_64_); }
  int end_cell(int domain) const { return cells_before(bounds_[index(domain) + 1], domain + 1, cells_of_64_); }

  /// Number of non-empty domains, of `domains`.
  static int trees_for(int count, int domains);
  /// Upper bound for the bodies of one domain, for any parts.
  static int most_bodies(int count, int domains);
  static int most_cells(int count, int domains, int leaf);
  /// Capacity for the cells of all domains.
  static int all_cells(int count, int domains, int leaf) {
    return cells_before(count, domains, cells_of_64(count, leaf));
  }
  /// Largest number of bodies whose trees' cells still have int indices.
  static int most_of_all(int domains, int leaf);
  /// Capacity for the next tree, in cells, at most `most`. Based on the latest tree, which used `cells` (0: unknown) of
  /// `given`. Returns `most` if the latest tree did not fit.
  static int room_after(int cells, int given, int most);

 private:
  static std::size_t index(int domain) { return static_cast<std::size_t>(domain); }
  /// Capacity for cells per 64 bodies, for `count` bodies in all.
  static int cells_of_64(int count, int leaf);
  static int cells_before(int bodies, int domains, int cells_of_64);

  std::vector<int> bounds_;  // first body of each domain, then the number of bodies
  int trees_ = 0;
  int cells_of_64_ = 0;
};

}  // namespace orrery
