#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "compute/core/vec.h"
#include "compute/kernels/division.h"

namespace orrery {

/// Where each domain begins.
struct FirstBodies {
  int of[most_devices] = {};  ///< the number of its first body among all, in the order of their keys
  int domains = 0;

  ORRERY_HD int domain_of(int body) const {
    int domain = 0;
    while (domain + 1 < domains && body >= of[domain + 1]) ++domain;
    return domain;
  }
};

/// Where the trees of several devices lie in arrays of bodies and cells that all of them have. Each device has a
/// domain: bodies that follow each other in the order of their keys, and room for the cells of their tree. If there are
/// few bodies, the first domain has all of them, and the others are empty; otherwise, none is empty.
class DomainLayout {
 public:
  DomainLayout() = default;
  /// Of `count` bodies, divided as nearly like `parts` as most_bodies() allows. `leaf`: see Octree.
  DomainLayout(int count, std::span<const Part> parts, int leaf);

  friend bool operator==(const DomainLayout&, const DomainLayout&) = default;

  /// That have bodies.
  int trees() const { return trees_; }
  int first_body(int domain) const { return bounds_[index(domain)]; }
  int bodies(int domain) const { return bounds_[index(domain) + 1] - bounds_[index(domain)]; }
  /// Of all domains that have bodies.
  FirstBodies first_bodies() const;
  /// Its root, and the first cell behind its room.
  int first_cell(int domain) const { return cells_before(first_body(domain), domain, cells_of_64_); }
  int end_cell(int domain) const { return cells_before(bounds_[index(domain) + 1], domain + 1, cells_of_64_); }

  /// That have bodies, of so many domains.
  static int trees_for(int count, int domains);
  /// Of a domain, whatever the parts.
  static int most_bodies(int count, int domains);
  static int most_cells(int count, int domains, int leaf);
  /// The room for cells of all domains.
  static int all_cells(int count, int domains, int leaf) {
    return cells_before(count, domains, cells_of_64(count, leaf));
  }
  /// So many bodies, and the cells of their trees, can be numbered.
  static int most_of_all(int domains, int leaf);
  /// Of room for at most `most` cells, what suits a tree after one with so many `cells` (0: not known) in room for
  /// `given`. All of it if that one had not enough.
  static int room_after(int cells, int given, int most);

 private:
  static std::size_t index(int domain) { return static_cast<std::size_t>(domain); }
  /// The room for cells, of 64 bodies among so many.
  static int cells_of_64(int count, int leaf);
  static int cells_before(int bodies, int domains, int cells_of_64);

  std::vector<int> bounds_;  // the first body of each domain, and of the one behind the last
  int trees_ = 0;
  int cells_of_64_ = 0;
};

}  // namespace orrery
