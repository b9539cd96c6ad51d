#include "compute/snapshots/snapshot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <numeric>
#include <optional>

#include "compute/core/row_file.h"
#include "compute/core/text.h"
#include "compute/core/vec.h"
#include "compute/snapshots/snapshot_input.h"

namespace orrery {

const char* species_name(Species species) {
  constexpr std::array<const char*, species_count> names{"gas", "dark", "disc", "bulge", "star", "boundary"};
  return names[static_cast<std::size_t>(species)];
}

namespace {

constexpr std::array<double Vec3d::*, 3> axes{&Vec3d::x, &Vec3d::y, &Vec3d::z};
constexpr std::array<float Vec4::*, 3> float_axes{&Vec4::x, &Vec4::y, &Vec4::z};
constexpr std::size_t most_sampled = 65536;   // number of bodies sampled for a median
constexpr std::size_t most_paired = 2048;     // up to this number of bodies, all pairs are compared
constexpr double float_rounding = 0x1p-24;    // relative rounding error of a float
constexpr std::size_t most_neighbours = 256;  // neighbours along an axis that each body is compared with
constexpr double moved_share = 0.01;  // a pair counts as moved if its separation changes by more than this share

Vec3d wide_of(const Vec4& v) {
  return {v.x, v.y, v.z};
}

double largest(const Vec3d& v) {
  return std::max({std::abs(v.x), std::abs(v.y), std::abs(v.z)});
}

Vec3d minus(const Vec3d& a, const Vec3d& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}

/// Rounds a mass to float, but never to 0, which marks a test particle: unusable() reports the result as too small.
float single_mass(double mass) {
  const float single = single_precision(mass);
  return mass > 0 && single == 0 ? std::numeric_limits<float>::denorm_min() : single;
}

/// Fills an empty array of doubles from the floats.
void widen(const std::vector<Vec4>& from, std::vector<Vec3d>& to) {
  if (!to.empty()) return;
  to.resize(from.size());
  std::ranges::transform(from, to.begin(), wide_of);
}

void set_component(std::vector<Vec4>& rounded, std::vector<Vec3d>& exact, std::size_t body, std::size_t axis,
                   double value) {
  const float single = single_precision(value);
  rounded[body].*float_axes[axis] = single;
  if (exact.empty() && static_cast<double>(single) == value) return;
  widen(rounded, exact);
  exact.resize(rounded.size());
  exact[body].*axes[axis] = value;
}

/// View of positions or velocities in double precision: the doubles if there are any, otherwise the floats.
class Rows {
 public:
  Rows(const std::vector<Vec4>& rounded, const std::vector<Vec3d>& exact) : rounded_{rounded}, exact_{exact} {}
  std::size_t size() const { return rounded_.size(); }
  Vec3d operator[](std::size_t body) const { return exact_.empty() ? wide_of(rounded_[body]) : exact_[body]; }

  /// Returns at most `most` of the vectors, evenly spaced.
  std::vector<Vec3d> thinned(std::size_t most) const {
    std::vector<Vec3d> some(std::min(size(), most));
    for (std::size_t i = 0; i < some.size(); ++i) some[i] = (*this)[i * size() / some.size()];
    return some;
  }

 private:
  const std::vector<Vec4>& rounded_;
  const std::vector<Vec3d>& exact_;
};

double mass_of(const Snapshot& snapshot, std::size_t body) {
  return snapshot.wide.masses.empty() ? snapshot.bodies.positions[body].w : snapshot.wide.masses[body];
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Location and extent of most bodies.
struct Spread {
  Vec3d centre{};     ///< median along each axis, or a given point
  double radius = 0;  ///< median distance from `centre`; if it is 0, the largest distance
};
Spread spread_around(const Vec3d& centre, const std::vector<Vec3d>& rows) {
  Spread spread{.centre = centre};
  std::vector<double> values(rows.size());
  std::ranges::transform(rows, values.begin(), [&](const Vec3d& row) { return largest(minus(row, centre)); });
  spread.radius = median(values);
  if (!(spread.radius > 0)) spread.radius = std::ranges::max(values);
  return spread;
}
Spread spread_of(const std::vector<Vec3d>& rows) {
  Spread spread;
  std::vector<double> values(rows.size());
  for (const auto axis : axes) {
    std::ranges::transform(rows, values.begin(), [axis](const Vec3d& row) { return row.*axis; });
    spread.centre.*axis = median(values);
  }
  return spread_around(spread.centre, rows);
}

/// Returns the smallest distance above 0 between two rows, by the largest component; infinity if there is none.
double closest_pair(const std::vector<Vec3d>& rows) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t k = i + 1; k < rows.size(); ++k) {
      const double distance = largest(minus(rows[i], rows[k]));
      if (distance > 0) least = std::min(least, distance);
    }
  }
  return least;
}

Vec3d multiple_of(double step, const Vec3d& v) {
  const auto nearest = [step](double value) { return std::round(value / step) * step + 0.0; };  // never -0
  return {nearest(v.x), nearest(v.y), nearest(v.z)};
}

/// Returns a point near the centre. Its coordinates are multiples of a power of two near the radius, so that
/// subtracting it from nearby points is exact.
Vec3d handy_centre(const Spread& spread) {
  return multiple_of(std::exp2(std::floor(std::log2(spread.radius))), spread.centre);
}

constexpr double far_away = 4;            // in units of Spread::radius
constexpr double lost_separation = 1e-4;  // share of a separation that rounding may change

/// Returns the centre to subtract from positions; empty if floats resolve the bodies without it.
std::optional<Vec3d> centre_of(const Rows& rows) {
  if (rows.size() < 2) return std::nullopt;
  const Spread spread = spread_of(rows.thinned(most_sampled));
  const double distance = largest(spread.centre);
  if (!(spread.radius > 0) || !(distance > far_away * spread.radius)) return std::nullopt;
  const double separation = rows.size() <= most_paired ? closest_pair(rows.thinned(most_paired))
                                                       : spread.radius / std::cbrt(static_cast<double>(rows.size()));
  if (!(distance * float_rounding > lost_separation * separation)) return std::nullopt;
  return handy_centre(spread);
}

/// Returns the velocity of the centre of mass, to be subtracted from all velocities; empty if floats resolve them
/// without it. `moved`: positions are relative to a centre. The returned velocity has few bits, so that differences are
/// exact.
std::optional<Vec3d> common_velocity(const Snapshot& snapshot, bool moved) {
  const Rows rows{snapshot.bodies.velocities, snapshot.wide.velocities};
  if (rows.size() < 2) return std::nullopt;
  Vec3d mean;
  double total = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double mass = mass_of(snapshot, i);
    const Vec3d v = rows[i];
    total += mass;
    mean = {mean.x + mass * v.x, mean.y + mass * v.y, mean.z + mass * v.z};
  }
  if (!(total > 0)) return std::nullopt;
  const Spread spread = spread_around({mean.x / total, mean.y / total, mean.z / total}, rows.thinned(most_sampled));
  const double speed = largest(spread.centre);
  if (!(spread.radius > 0) || !(speed > far_away * spread.radius)) return std::nullopt;
  if (!moved && !(speed * float_rounding > lost_separation * spread.radius)) return std::nullopt;
  return multiple_of(std::exp2(std::floor(std::log2(speed)) - 40), spread.centre);
}

void subtract(const Vec3d& centre, std::vector<Vec4>& rounded, std::vector<Vec3d>& exact) {
  widen(rounded, exact);
  for (Vec3d& row : exact) row = minus(row, centre);
}

void round_to(std::vector<Vec4>& rounded, const std::vector<Vec3d>& exact) {
  for (std::size_t i = 0; i < exact.size(); ++i) {
    for (std::size_t k = 0; k < axes.size(); ++k) rounded[i].*float_axes[k] = single_precision(exact[i].*axes[k]);
  }
}

void move_origin(Snapshot& snapshot) {
  WideBodies& wide = snapshot.wide;
  if (!wide.in_double) return;
  Bodies& bodies = snapshot.bodies;
  snapshot.frame.time = snapshot.time;
  if (const auto centre = centre_of({bodies.positions, wide.positions})) {
    snapshot.frame.position = *centre;
    subtract(*centre, bodies.positions, wide.positions);
  }
  if (const auto velocity = common_velocity(snapshot, snapshot.frame.is_moved())) {
    snapshot.frame.velocity = *velocity;
    subtract(*velocity, bodies.velocities, wide.velocities);
  }
  if (snapshot.frame.is_moved()) {
    snapshot.notes.push_back(frame_text(snapshot.frame) +
                             ", so that single precision tells the bodies apart; coordinates, speeds, momenta and "
                             "kinetic energies are relative to it");
  }
}

/// Number of close pairs whose separation changes by more than a hundredth when coordinates are rounded to float.
struct MovedPairs {
  std::size_t number = 0;
  double closest = std::numeric_limits<double>::infinity();  ///< smallest separation of these pairs, in double
};
/// Counts moved pairs among bodies that are neighbours along the widest axis.
MovedPairs pairs_moved_by_rounding(const Snapshot& snapshot) {
  const std::vector<Vec3d>& exact = snapshot.wide.positions;
  const std::vector<Vec4>& single = snapshot.bodies.positions;
  MovedPairs found;
  double Vec3d::*along = axes[0];
  double widest = -1, error = 0;
  for (const auto axis : axes) {
    const auto [low, high] = std::ranges::minmax(exact, {}, axis);
    if (high.*axis - low.*axis > widest) widest = high.*axis - low.*axis, along = axis;
  }
  for (std::size_t i = 0; i < exact.size(); ++i) error = std::max(error, largest(minus(wide_of(single[i]), exact[i])));
  if (!(error > 0)) return found;
  const double near = 2 * error / moved_share;  // pairs that are farther apart change by less than moved_share
  std::vector<std::size_t> order(exact.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return exact[i].*along; });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t end = std::min(order.size(), i + 1 + most_neighbours), a = order[i];
    for (std::size_t k = i + 1; k < end && exact[order[k]].*along - exact[a].*along <= near; ++k) {
      const std::size_t b = order[k];
      const Vec3d before = minus(exact[a], exact[b]), after = minus(wide_of(single[a]), wide_of(single[b]));
      const double separation = largest(before);
      if (!(separation > 0) || !(largest(minus(after, before)) > moved_share * separation)) continue;
      ++found.number;
      found.closest = std::min(found.closest, separation);
    }
  }
  return found;
}

/// Adds a note if single precision does not resolve close pairs, even relative to the subtracted centre.
void note_moved_pairs(Snapshot& snapshot) {
  if (snapshot.wide.positions.empty()) return;
  const MovedPairs moved = pairs_moved_by_rounding(snapshot);
  if (moved.number == 0) return;
  std::array<char, 32> closest;
  std::snprintf(closest.data(), closest.size(), "%.3g", moved.closest);
  snapshot.notes.push_back("single precision changes the distance of " + counted(moved.number, "close pair") +
                           " by more than 1 % (the closest are " + closest.data() +
                           " apart): a run needs --digits compensated");
}

/// Returns whether a number is beyond SnapshotLimits.
bool beyond_limits(const Snapshot& snapshot) {
  const Rows places{snapshot.bodies.positions, snapshot.wide.positions},
      speeds{snapshot.bodies.velocities, snapshot.wide.velocities};
  constexpr double most = SnapshotLimits::largest;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double mass = mass_of(snapshot, i);
    if (!(largest(places[i]) <= most && largest(speeds[i]) <= most)) return true;
    if (!(mass == 0 || (mass <= most && mass >= SnapshotLimits::smallest_mass))) return true;
  }
  return false;
}

/// Returns the named unit that suits a size in CGS, or else a power of ten.
double handy_unit(double size, NamedUnit (*named)(double)) {
  const double unit = named(size).size, ratio = size / unit;
  return ratio >= 0.1 && ratio < 1e5 ? unit : std::pow(10.0, std::round(std::log10(size)));
}

/// The largest part of a periodic axis that has no bodies.
struct Gap {
  double begin = 0, size = 0;  ///< the gap begins at a body, in [0, edge)
};
Gap largest_gap(std::vector<double>& places, double edge) {
  for (double& place : places) place -= std::floor(place / edge) * edge;
  std::ranges::sort(places);
  Gap gap{places.back(), places.front() + edge - places.back()};
  for (std::size_t i = 1; i < places.size(); ++i) {
    if (const double size = places[i] - places[i - 1]; size > gap.size) gap = {places[i - 1], size};
  }
  return gap;
}

/// Returns the extent of the coordinates without the outermost 1 % on each side, and without at least one per side if
/// there are 20 or more.
double width_of_most(std::vector<double> places) {
  constexpr std::size_t few = 20, share = 100;
  const std::size_t out = places.size() < few ? 0 : std::max<std::size_t>(1, places.size() / share);
  std::ranges::sort(places);
  return places[places.size() - 1 - out] - places[out];
}

enum class OnAxis { free, whole, joined };  // more than half occupied; less, in one piece; less, joined from two pieces
/// If more than half of a periodic axis is empty, moves bodies across its edge, so that systems cut by the edge become
/// whole.
OnAxis join_on_axis(Snapshot& snapshot, double Vec3d::*axis) {
  const double edge = snapshot.box.*axis;
  const Rows rows{snapshot.bodies.positions, snapshot.wide.positions};
  std::vector<double> places(rows.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = rows[i].*axis;
  const auto [low, high] = std::ranges::minmax(places);
  if (width_of_most(places) > 2 * edge) return OnAxis::whole;  // this edge length does not fit the bodies
  const Gap gap = largest_gap(places, edge);
  if (!(gap.size > edge / 2)) return OnAxis::free;
  if (high - low <= edge - gap.size + 1e-9 * edge) return OnAxis::whole;
  const double begin = gap.begin + gap.size;  // start of the occupied part of the axis
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = std::floor((rows[i].*axis - begin) / edge);
  std::vector<double> edges = places;
  const auto middle = edges.begin() + static_cast<std::ptrdiff_t>((edges.size() - 1) / 2);
  std::ranges::nth_element(edges, middle);
  const double back = *middle;
  widen(snapshot.bodies.positions, snapshot.wide.positions);
  for (std::size_t i = 0; i < places.size(); ++i) snapshot.wide.positions[i].*axis -= (places[i] - back) * edge;
  return OnAxis::joined;
}

/// Calls join_on_axis() for all axes and adds a note. Clears the box unless the bodies fill it. See settle().
void join_over_edges(Snapshot& snapshot) {
  if (snapshot.box == Vec3d{}) return;
  bool fills = false;
  std::string joined;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (!(snapshot.box.*axes[k] > 0) || snapshot.bodies.positions.empty()) continue;
    const OnAxis found = join_on_axis(snapshot, axes[k]);
    fills |= found == OnAxis::free;
    if (found == OnAxis::joined) joined.append(joined.empty() ? "" : ", ") += static_cast<char>('x' + k);
  }
  std::string note = "periodic box: Orrery's space has no edges";
  if (!joined.empty()) note += "; its edge cut the bodies along " + joined + ", and they were joined";
  if (fills) note += "; the bodies fill more than half of the box";
  snapshot.notes.push_back(std::move(note));
  if (!fills) snapshot.box = {};
}

/// Returns a text such as "70000, 0, -12.5".
std::string vector_text(const Vec3d& v) {
  std::array<char, 96> text;
  std::snprintf(text.data(), text.size(), "%.12g, %.12g, %.12g", v.x, v.y, v.z);
  return text.data();
}

}  // namespace

std::string frame_text(const Frame& frame) {
  std::string text = "origin moved to " + vector_text(frame.position);
  if (frame.velocity != Vec3d{}) text += ", moving with " + vector_text(frame.velocity);
  return text;
}

void set_position(Snapshot& snapshot, std::size_t body, std::size_t axis, double value) {
  set_component(snapshot.bodies.positions, snapshot.wide.positions, body, axis, value);
}

void set_velocity(Snapshot& snapshot, std::size_t body, std::size_t axis, double value) {
  set_component(snapshot.bodies.velocities, snapshot.wide.velocities, body, axis, value);
}

void set_mass(Snapshot& snapshot, std::size_t body, double value) {
  std::vector<Vec4>& rounded = snapshot.bodies.positions;
  std::vector<double>& exact = snapshot.wide.masses;
  const float single = single_mass(value);
  rounded[body].w = single;
  if (exact.empty() && static_cast<double>(single) == value) return;
  for (std::size_t i = exact.size(); i < rounded.size(); ++i) exact.push_back(rounded[i].w);
  exact[body] = value;
}

void append_body(Snapshot& snapshot, const Vec3d& position, double mass, const Vec3d& velocity) {
  const std::size_t body = snapshot.bodies.positions.size();
  const auto grow = [](auto& exact) {
    if (!exact.empty()) exact.emplace_back();
  };
  snapshot.bodies.positions.emplace_back();
  snapshot.bodies.velocities.emplace_back();
  grow(snapshot.wide.positions), grow(snapshot.wide.velocities), grow(snapshot.wide.masses);
  for (std::size_t k = 0; k < axes.size(); ++k) {
    set_position(snapshot, body, k, position.*axes[k]);
    set_velocity(snapshot, body, k, velocity.*axes[k]);
  }
  set_mass(snapshot, body, mass);
}

void append_bodies(Snapshot& to, const Snapshot& from) {
  const auto masses_of = [](const Snapshot& snapshot) {
    std::vector<double> masses = snapshot.wide.masses;
    for (std::size_t i = masses.size(); i < snapshot.bodies.positions.size(); ++i) {
      masses.push_back(snapshot.bodies.positions[i].w);
    }
    return masses;
  };
  const auto append = [](auto& all, const auto& more) { all.insert(all.end(), more.begin(), more.end()); };
  const auto append_rows = [&](const std::vector<Vec4>& rounded, std::vector<Vec3d>& exact,
                               const std::vector<Vec4>& more, const std::vector<Vec3d>& more_exact) {
    if (exact.empty() && more_exact.empty()) return;
    widen(rounded, exact);
    std::vector<Vec3d> wide = more_exact;
    widen(more, wide);
    append(exact, wide);
  };
  Bodies& bodies = to.bodies;
  WideBodies& wide = to.wide;
  append_rows(bodies.positions, wide.positions, from.bodies.positions, from.wide.positions);
  append_rows(bodies.velocities, wide.velocities, from.bodies.velocities, from.wide.velocities);
  if (!wide.masses.empty() || !from.wide.masses.empty()) {
    wide.masses = masses_of(to);
    append(wide.masses, masses_of(from));
  }
  append(bodies.positions, from.bodies.positions);
  append(bodies.velocities, from.bodies.velocities);
  wide.in_double |= from.wide.in_double;
}

void round_all(Snapshot& snapshot) {
  round_to(snapshot.bodies.positions, snapshot.wide.positions);
  round_to(snapshot.bodies.velocities, snapshot.wide.velocities);
  const std::vector<double>& masses = snapshot.wide.masses;
  for (std::size_t i = 0; i < masses.size(); ++i) snapshot.bodies.positions[i].w = single_mass(masses[i]);
}

bool convert_to_handy_units(Snapshot& snapshot) {
  if (!snapshot.units) return false;
  WideBodies& wide = snapshot.wide;
  Bodies& bodies = snapshot.bodies;
  double mass = 0;
  for (std::size_t i = 0; i < bodies.positions.size(); ++i) {
    mass += wide.masses.empty() ? bodies.positions[i].w : wide.masses[i];
  }
  const Rows rows{bodies.positions, wide.positions};
  const Spread spread = spread_of(rows.thinned(most_sampled));
  const Units from = *snapshot.units;
  const double length = spread.radius > 0 ? spread.radius : 1;
  const Units to = gravity_units(handy_unit(length * from.length_cm, length_unit_for),
                                 handy_unit(mass * from.mass_g, mass_unit_for));
  if (!to.usable()) return false;
  widen(bodies.positions, wide.positions);
  widen(bodies.velocities, wide.velocities);
  if (wide.masses.empty()) {
    for (const Vec4& position : bodies.positions) wide.masses.push_back(position.w);
  }
  convert_units(snapshot, to);
  round_all(snapshot);
  snapshot.notes.push_back("numbers in " + units_text(from) + " exceed the limits of single precision: converted to " +
                           units_text(to));
  return true;
}

void take_low_words(Snapshot& snapshot) {
  WideBodies& wide = snapshot.wide;
  Bodies& bodies = snapshot.bodies;
  const bool any = !wide.positions.empty() || !wide.velocities.empty();
  if (any) bodies = with_digits(std::move(bodies), Digits::compensated);
  for (std::size_t i = 0; i < wide.positions.size(); ++i) {
    split(wide.positions[i], bodies.positions[i], bodies.positions_low[i]);
  }
  for (std::size_t i = 0; i < wide.velocities.size(); ++i) {
    split(wide.velocities[i], bodies.velocities[i], bodies.velocities_low[i]);
  }
  wide = {};
}

std::string settle(Snapshot& snapshot) {
  join_over_edges(snapshot);
  if (beyond_limits(snapshot)) convert_to_handy_units(snapshot);
  move_origin(snapshot);
  round_all(snapshot);
  note_moved_pairs(snapshot);
  for (std::size_t i = 0; i < snapshot.bodies.positions.size(); ++i) {
    const std::string cause = unusable(snapshot.bodies.positions[i], snapshot.bodies.velocities[i]);
    if (!cause.empty()) return "body " + std::to_string(i) + " (counted from 0): " + cause;
  }
  return {};
}

namespace {

/// View of bodies in other units. It has no low parts: those of the original do not fit scaled floats.
class ConvertedBodies final : public BodySource {
 public:
  ConvertedBodies(BodySource& of, const UnitScale& scale)
      : BodySource{of.count(), Digits::single}, of_{of}, scale_{scale} {}

  std::optional<BodyBounds> bounds() override {
    std::optional<BodyBounds> bounds = of_.bounds();
    if (!bounds) return bounds;
    const Vec4 least = scale_.of_position({bounds->farthest, 0, 0, bounds->least_mass});
    bounds->farthest = least.x;
    bounds->least_mass = least.w;
    bounds->greatest_mass = scale_.of_position({0, 0, 0, bounds->greatest_mass}).w;
    bounds->fastest = scale_.of_velocity({bounds->fastest, 0, 0, 0}).x;
    return bounds;
  }
  bool write_jointly(const JointRows& rows) override {
    if (rows.scale) return false;  // two conversions would round twice
    JointRows scaled = rows;
    scaled.scale = scale_;
    return of_.write_jointly(scaled);
  }

 protected:
  Piece piece_with(std::size_t body) override {
    constexpr std::size_t most = 4096;
    const std::size_t first = body / most * most, last = std::min(first + most, count());
    piece_.positions.clear();
    piece_.velocities.clear();
    for (std::size_t i = first; i < last; ++i) {
      piece_.positions.push_back(scale_.of_position(of_.position(i)));
      piece_.velocities.push_back(scale_.of_velocity(of_.velocity(i)));
    }
    return piece_of(piece_, first);
  }

 private:
  BodySource& of_;
  const UnitScale scale_;
  Bodies piece_;
};

}  // namespace

Vec3d SnapshotView::position(std::size_t body) const {
  const bool low = bodies->digits() == Digits::compensated;
  const Vec3d origin = frame.origin_at(time);
  const Vec3d p = joined<double>(bodies->position(body), low ? bodies->position_low(body) : Vec4{});
  return {origin.x + p.x, origin.y + p.y, origin.z + p.z};
}

Vec3d SnapshotView::velocity(std::size_t body) const {
  const bool low = bodies->digits() == Digits::compensated;
  const Vec3d v = joined<double>(bodies->velocity(body), low ? bodies->velocity_low(body) : Vec4{});
  return {frame.velocity.x + v.x, frame.velocity.y + v.y, frame.velocity.z + v.z};
}

SnapshotView view_of(const Snapshot& snapshot) {
  return {.bodies = std::make_unique<HeldBodies>(snapshot.bodies),
          .properties = snapshot.properties,
          .time = snapshot.time,
          .softening = snapshot.softening,
          .units = snapshot.units,
          .units_assumed = snapshot.units_assumed,
          .frame = snapshot.frame};
}

ConvertedSnapshot::ConvertedSnapshot(const SnapshotView& of, const UnitScale& scale, const Units& to)
    : properties_{of.properties},
      view_{.bodies = std::make_unique<ConvertedBodies>(*of.bodies, scale),
            .properties = properties_,
            .time = of.time * scale.time,
            .softening = static_cast<float>(of.softening * scale.length),
            .units = to,
            .units_assumed = of.units_assumed,
            .frame = scale.of_frame(of.frame)} {
  scale.apply_to(properties_);
}

}  // namespace orrery
