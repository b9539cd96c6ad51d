#include "compute/kernels/tree/domain_layout.h"

#include <algorithm>
#include <cstdint>

#include "compute/kernels/tree/octree.h"

namespace orrery {
namespace {

/// Of a domain, on average; with fewer, they are not divided.
constexpr int worth_a_domain = 1024;

bool are_few(int count, int domains) {
  return count < worth_a_domain * domains;
}

}  // namespace

int DomainLayout::trees_for(int count, int domains) {
  return are_few(count, domains) ? 1 : domains;
}

int DomainLayout::most_bodies(int count, int domains) {
  if (are_few(count, domains)) return count;
  const std::int64_t in_two = std::int64_t{3} * count / domains;  // domains of one and a half times the mean
  return static_cast<int>(std::min<std::int64_t>((in_two + 1) / 2, count));
}

int DomainLayout::most_cells(int count, int domains) {
  return Octree::capacity_for(most_bodies(count, domains)) + 1;  // 1: bounds are rounded down
}

int DomainLayout::room_after(int cells, int given, int most) {
  constexpr int children = 8;  // a tree without room leaves fewer places than these empty
  if (cells == 0 || cells > given - children) return most;
  const std::int64_t room = std::int64_t{cells} + cells / 8 + Octree::capacity_for(0);
  return static_cast<int>(std::min<std::int64_t>(room, most));
}

int DomainLayout::cells_before(int bodies, int domains) {
  return domains * Octree::capacity_for(0) + bodies / 2;
}

DomainLayout::DomainLayout(int count, std::span<const Part> parts) : bounds_(parts.size() + 1, count) {
  const auto domains = static_cast<int>(parts.size());
  bounds_.front() = 0;
  trees_ = trees_for(count, domains);
  if (trees_ == 1) return;
  const int most = most_bodies(count, domains);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    bounds_[i] = std::clamp(parts[i].first(count), bounds_[i - 1] + 1, bounds_[i - 1] + most);
  }
  for (std::size_t i = parts.size() - 1; i > 0; --i) {
    bounds_[i] = std::clamp(bounds_[i], bounds_[i + 1] - most, bounds_[i + 1] - 1);
  }
}

}  // namespace orrery
