#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace orrery {

/// Plan of how bodies go from device to device in shipments. Bodies that leave a device are ordered by destination. A
/// shipment is the next `room` of them, on all devices.
class ShipmentPlan {
 public:
  ShipmentPlan() = default;
  /// `going`: number of bodies from each device to each, those that stay included; must outlive this.
  ShipmentPlan(int devices, int room, std::span<const int> going) : devices_{devices}, room_{room}, going_{going} {}

  /// Range of consecutive bodies.
  struct Interval {
    int first, count;
  };

  /// Returns the number of shipments, at least one.
  int shipments() const {
    int most = 1;
    for (int from = 0; from < devices_; ++from) most = std::max(most, before(from, devices_));
    return (most + room_ - 1) / room_;
  }
  /// Returns which bodies of a shipment leave `from` for `to`, counted from the begin of the shipment.
  Interval leaving(int shipment, int from, int to) const {
    const int first = shipment * room_, begin = before(from, to), end = begin + going(from, to);
    const int here = std::clamp(begin, first, first + room_);
    return {here - first, std::clamp(end, first, first + room_) - here};
  }
  /// Returns their places on device `to`: after those that stay, ordered by origin.
  Interval arriving(int shipment, int from, int to) const {
    int first = going(to, to);
    for (int device = 0; device < from; ++device) first += device == to ? 0 : going(device, to);
    for (int earlier = 0; earlier < shipment; ++earlier) first += leaving(earlier, from, to).count;
    return {first, leaving(shipment, from, to).count};
  }

 private:
  int going(int from, int to) const { return going_[static_cast<std::size_t>(from * devices_ + to)]; }
  /// Returns the number of bodies that leave a device for the devices before `to`.
  int before(int from, int to) const {
    int sum = 0;
    for (int device = 0; device < to; ++device) sum += device == from ? 0 : going(from, device);
    return sum;
  }

  int devices_ = 0, room_ = 1;
  std::span<const int> going_;
};

}  // namespace orrery
