#include "compute/kernels/tree/domains.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "compute/kernels/tree/octree.h"

namespace orrery {
namespace {

/// Minimum mean number of bodies per domain; with fewer, all bodies are in one domain.
constexpr int worth_a_domain = 1024;

bool are_few(int count, int domains) {
  return count < worth_a_domain * domains;
}

/// Above this number of bodies, less memory is reserved per body, because memory limits the number of bodies.
constexpr int many = 1 << 28;
constexpr int most_numbered = 1 << 30;  // sums of numbers of bodies and of cells stay below 2^31

}  // namespace

int DomainLayout::trees_for(int count, int domains) {
  return are_few(count, domains) ? 1 : domains;
}

int DomainLayout::most_bodies(int count, int domains) {
  if (are_few(count, domains)) return count;
  const int eighths = count > many ? 9 : 12;  // maximum number of bodies, in eighths of the mean
  const std::int64_t in_eight = std::int64_t{eighths} * count / domains;
  return static_cast<int>(std::min<std::int64_t>((in_eight + 7) / 8, count));
}

int DomainLayout::most_cells(int count, int domains, int leaf) {
  return cells_before(most_bodies(count, domains), 1, cells_of_64(count, leaf)) + 1;  // + 1, because bounds are rounded
                                                                                      // down
}

int DomainLayout::most_of_all(int domains, int leaf) {
  const std::int64_t cells = Octree::most_cells - cells_before(0, domains, 0);
  return static_cast<int>(std::min<std::int64_t>(64 * cells / cells_of_64(most_numbered, leaf), most_numbered));
}

/// Reserves half a cell per body, as Octree::capacity_for() does. Above `many` bodies, reserves a sixth more than most
/// trees have. If all densities are equally frequent, leaves have leaf / 8 to `leaf` bodies, with a harmonic mean of
/// leaf ln 8 / 7. Every seven leaves add one cell above them, so there are 3.85 cells per `leaf` bodies. A tree that
/// needs more has some larger leaves.
int DomainLayout::cells_of_64(int count, int leaf) {
  constexpr int half = 32;
  constexpr double cells_per_leaf = 4.5;
  return count > many ? std::min(static_cast<int>(std::ceil(64 * cells_per_leaf / leaf)), half) : half;
}

FirstBodies DomainLayout::first_bodies() const {
  FirstBodies first;
  first.domains = trees_;
  for (int domain = 0; domain < trees_; ++domain) first.of[domain] = first_body(domain);
  return first;
}

int DomainLayout::room_after(int cells, int given, int most) {
  constexpr int children = 8;  // a tree that ran out of room leaves fewer than this many places empty
  if (cells == 0 || cells > given - children) return most;
  const std::int64_t room = std::int64_t{cells} + cells / 8 + Octree::capacity_for(0);
  return static_cast<int>(std::min<std::int64_t>(room, most));
}

int DomainLayout::cells_before(int bodies, int domains, int cells_of_64) {
  return domains * Octree::capacity_for(0) + static_cast<int>(std::int64_t{cells_of_64} * bodies / 64);
}

DomainLayout::DomainLayout(int count, std::span<const Part> parts, int leaf)
    : bounds_(parts.size() + 1, count), cells_of_64_{cells_of_64(count, leaf)} {
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

int ShipmentPlan::going(int from, int to) const {
  return going_[static_cast<std::size_t>(from * devices_ + to)];
}

int ShipmentPlan::before(int from, int to) const {
  int sum = 0;
  for (int device = 0; device < to; ++device) sum += device == from ? 0 : going(from, device);
  return sum;
}

int ShipmentPlan::shipments() const {
  int most = 1;
  for (int from = 0; from < devices_; ++from) most = std::max(most, before(from, devices_));
  return (most + room_ - 1) / room_;
}

ShipmentPlan::Interval ShipmentPlan::leaving(int shipment, int from, int to) const {
  const int first = shipment * room_, begin = before(from, to), end = begin + going(from, to);
  const int here = std::clamp(begin, first, first + room_);
  return {here - first, std::clamp(end, first, first + room_) - here};
}

ShipmentPlan::Interval ShipmentPlan::arriving(int shipment, int from, int to) const {
  int first = going(to, to);
  for (int device = 0; device < from; ++device) first += device == to ? 0 : going(device, to);
  for (int earlier = 0; earlier < shipment; ++earlier) first += leaving(earlier, from, to).count;
  return {first, leaving(shipment, from, to).count};
}

}  // namespace orrery
