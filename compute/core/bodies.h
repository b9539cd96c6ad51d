// Bodies of a system: arrays in host memory, sources that read bodies one by one, and device memory for drawing.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compute/core/vec.h"

struct CUstream_st;

namespace orrery {

/// Precision in which a running system keeps positions and velocities.
enum class Digits {
  single,       ///< one float per coordinate
  compensated,  ///< a high and a low part per coordinate, see DoubleFloat: 48 bits instead of 24
};

/// The state of a system in host memory, in units of G = 1. Both arrays have one entry per body, in the order in which
/// the bodies are drawn, selected and saved.
struct Bodies {
  std::vector<Vec4> positions;   ///< x, y, z and the mass in w (>= 0; 0: test particle)
  std::vector<Vec4> velocities;  ///< vx, vy, vz; w is unused and zero
  /// Low parts of the coordinates, see DoubleFloat; w is unused and zero. Both are empty under Digits::single.
  std::vector<Vec4> positions_low{}, velocities_low{};

  int count() const noexcept { return static_cast<int>(positions.size()); }
  Digits digits() const noexcept { return positions_low.empty() ? Digits::single : Digits::compensated; }
  friend bool operator==(const Bodies&, const Bodies&) = default;
};

/// Returns the number of entries in an array of low parts for `count` bodies.
inline std::size_t low_words_of(int count, Digits digits) {
  return digits == Digits::single ? 0 : static_cast<std::size_t>(count);
}

/// Returns the same state with these digits: drops low parts, or adds them as zeros.
inline Bodies with_digits(Bodies bodies, Digits digits) {
  if (digits == bodies.digits()) return bodies;
  const std::size_t size = low_words_of(bodies.count(), digits);
  bodies.positions_low.resize(size);
  bodies.velocities_low.resize(size);
  return bodies;
}

/// Range of the masses of a system, all >= 0. Steps do not change masses.
struct MassRange {
  float least = 0, greatest = 0;
  bool equal() const noexcept { return least == greatest; }
  friend bool operator==(const MassRange&, const MassRange&) = default;
};

/// Returns the range of the masses, which are in w; {0, 0} if there are no bodies.
inline MassRange mass_range(std::span<const Vec4> positions) {
  if (positions.empty()) return {};
  const auto [least, greatest] = std::ranges::minmax(positions, {}, &Vec4::w);
  return {least.w, greatest.w};
}

/// State of one body at the start of its individual time step.
struct alignas(16) HermiteBody {
  PreciseBody body;
  Pull pull;
  double longest_step = 0;  ///< longest time step that is accurate enough, see compute/integrators/hermite.h
};

/// State that a Hermite integrator keeps between steps, in addition to Bodies.
struct HermiteState {
  std::vector<HermiteBody> bodies{};  ///< empty: the integrator starts from Bodies
  bool pulls_current = false;         ///< pull and longest_step of all bodies are valid for the current kernel and law
};

struct JointRows;

/// Bodies in double precision, one array per quantity, so that the compiler can sum over them with SIMD.
struct PreciseColumns {
  std::vector<double> x, y, z, mass;

  /// Joins the parts of the coordinates. `low`: low parts; empty: there are none.
  explicit PreciseColumns(std::span<const Vec4> bodies, std::span<const Vec4> low) {
    for (auto* column : {&x, &y, &z, &mass}) column->reserve(bodies.size());
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      const Vec3d at = joined<double>(bodies[i], low.empty() ? Vec4{} : low[i]);
      x.push_back(at.x);
      y.push_back(at.y);
      z.push_back(at.z);
      mass.push_back(bodies[i].w);
    }
  }
};

/// Bounds of the masses, positions and velocities of bodies.
struct BodyBounds {
  bool finite = true;  ///< whether all numbers are finite; if not, the other members are meaningless
  float least_mass = std::numeric_limits<float>::max(), greatest_mass = std::numeric_limits<float>::lowest();
  float farthest = 0, fastest = 0;  ///< largest magnitude of a component of a position, and of a velocity

  void add(const Vec4& position, const Vec4& velocity) {
    const auto largest = [&](float& of_all, const Vec4& v) {
      for (const float component : {v.x, v.y, v.z}) {
        finite = finite && std::isfinite(component);
        of_all = std::max(of_all, std::abs(component));
      }
    };
    largest(farthest, position);
    largest(fastest, velocity);
    finite = finite && std::isfinite(position.w) && std::isfinite(velocity.w);
    least_mass = std::min(least_mass, position.w);
    greatest_mass = std::max(greatest_mass, position.w);
  }
  void add(const BodyBounds& others) {
    finite = finite && others.finite;
    least_mass = std::min(least_mass, others.least_mass);
    greatest_mass = std::max(greatest_mass, others.greatest_mass);
    farthest = std::max(farthest, others.farthest);
    fastest = std::max(fastest, others.fastest);
  }
};

/// Reads the bodies of a system one by one, whether they are in this process or distributed over ranks. Bodies of ranks
/// arrive in pieces: read them in order, so that each piece is sent only once. Not thread-safe.
class BodySource {
 public:
  virtual ~BodySource() = default;
  BodySource(const BodySource&) = delete;
  BodySource& operator=(const BodySource&) = delete;

  std::size_t count() const { return count_; }
  Digits digits() const { return digits_; }
  /// The next functions return entries of Bodies for `body` < count(). They are valid until another body is read. They
  /// throw std::runtime_error if the rank that holds the body is lost.
  const Vec4& position(std::size_t body) { return at(body).positions[body - piece_.first]; }
  const Vec4& velocity(std::size_t body) { return at(body).velocities[body - piece_.first]; }
  /// Requires Digits::compensated, as velocity_low() does.
  const Vec4& position_low(std::size_t body) { return at(body).positions_low[body - piece_.first]; }
  const Vec4& velocity_low(std::size_t body) { return at(body).velocities_low[body - piece_.first]; }

  /// Returns the bounds of all bodies if the ranks that hold them can compute these without sending bodies; otherwise
  /// nothing, and the caller must read the bodies. Throws std::runtime_error if a rank is lost.
  virtual std::optional<BodyBounds> bounds() { return std::nullopt; }

  /// Lets each rank write the bodies that it holds, body i to row i. Returns true if all rows were written. Returns
  /// false if there are no ranks or one of them cannot write. Throws std::runtime_error if a rank fails or is lost.
  /// After false or an exception, some rows may have been written.
  virtual bool write_jointly(const JointRows& /*rows*/) { return false; }

 protected:
  /// Consecutive bodies, starting with number `first`.
  struct Piece {
    std::size_t first = 0;
    std::span<const Vec4> positions, velocities, positions_low, velocities_low;
  };
  BodySource(std::size_t count, Digits digits) : count_{count}, digits_{digits} {}

  static Piece piece_of(const Bodies& bodies, std::size_t first) {
    return {first, bodies.positions, bodies.velocities, bodies.positions_low, bodies.velocities_low};
  }
  /// Returns a piece that contains `body`. It is valid until the next call.
  virtual Piece piece_with(std::size_t body) = 0;

 private:
  const Piece& at(std::size_t body) {
    if (body - piece_.first >= piece_.positions.size()) {  // also true if body < first, as the difference wraps
      piece_ = {};                                         // no piece is left if the next one fails
      piece_ = piece_with(body);
    }
    return piece_;
  }

  const std::size_t count_;
  const Digits digits_;
  Piece piece_;
};

/// Bodies in the memory of this process, as one piece.
class HeldBodies final : public BodySource {
 public:
  /// Reads `bodies`, which must outlive this.
  explicit HeldBodies(const Bodies& bodies) : BodySource{bodies.positions.size(), bodies.digits()}, bodies_{bodies} {}
  explicit HeldBodies(std::unique_ptr<const Bodies> bodies) : HeldBodies{*bodies} { own_ = std::move(bodies); }

 protected:
  Piece piece_with(std::size_t) override { return piece_of(bodies_, 0); }

 private:
  const Bodies& bodies_;
  std::unique_ptr<const Bodies> own_;  // may be null
};

/// Half-open range [first, last) of the piece that contains `body`, if all pieces but the last have `most` bodies.
struct PieceRange {
  static constexpr std::size_t most = std::size_t{1} << 20;  ///< bodies per piece: 32 MiB

  PieceRange(std::size_t body, std::size_t count)
      : first{body / most * most}, last{first + most < count ? first + most : count} {}
  std::size_t size() const { return last - first; }

  std::size_t first, last;
};

struct DeviceBodies {
  Vec4* positions = nullptr;   ///< device memory, x, y, z, m
  Vec4* velocities = nullptr;  ///< device memory, vx, vy, vz, 0
  /// Low parts of both, see DoubleFloat, in the engine's memory; null if there are none.
  Vec4* positions_low = nullptr;
  Vec4* velocities_low = nullptr;
};

/// Device memory for the drawn arrays. The simulation maps it before each batch of steps, unmaps it afterwards, and
/// does not access it at other times: it may be an OpenGL buffer. Without OpenGL, mapping does nothing.
class DeviceStorage {
 public:
  virtual ~DeviceStorage() = default;
  /// Allocates memory for exactly `count` bodies. If the count changes, the contents are lost, even if this throws
  /// because memory is short. Do not call while mapped.
  virtual void resize(int count) = 0;
  /// Returns the drawn arrays, without low parts.
  virtual DeviceBodies map(CUstream_st* stream) = 0;
  virtual void unmap(CUstream_st* stream) = 0;
};

}  // namespace orrery
