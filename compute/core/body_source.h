#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "compute/core/bodies.h"
#include "compute/core/vec.h"

namespace orrery {

struct JointRows;

/// Bounds of the numbers of bodies.
struct BodyBounds {
  bool finite = true;  ///< whether all numbers are; if not, the other members are of no use
  float least_mass = std::numeric_limits<float>::max(), greatest_mass = std::numeric_limits<float>::lowest();
  float farthest = 0, fastest = 0;  ///< the largest component of a position or velocity, as a magnitude

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

/// The bodies of a system, read one by one where they are: in this process, or with ranks, of whose bodies a piece at a
/// time is here. Whoever reads them in their order gets each piece once. For one thread.
class BodySource {
 public:
  virtual ~BodySource() = default;
  BodySource(const BodySource&) = delete;
  BodySource& operator=(const BodySource&) = delete;

  std::size_t count() const { return count_; }
  Digits digits() const { return digits_; }
  /// These return a body below count(), as in Bodies; valid until another body is read. They throw std::runtime_error
  /// if a rank that has it is lost.
  const Vec4& position(std::size_t body) { return at(body).positions[body - piece_.first]; }
  const Vec4& velocity(std::size_t body) { return at(body).velocities[body - piece_.first]; }
  /// Call only under Digits::compensated.
  const Vec4& position_low(std::size_t body) { return at(body).positions_low[body - piece_.first]; }
  const Vec4& velocity_low(std::size_t body) { return at(body).velocities_low[body - piece_.first]; }

  /// Returns the bounds as the ranks that hold the bodies find them, so that no body has to come here. None: the caller
  /// has to read the bodies. Throws std::runtime_error if a rank is lost.
  virtual std::optional<BodyBounds> bounds() { return std::nullopt; }

  /// Lets the ranks that hold the bodies write them, body i to row i, each some of the rows. Returns whether they have;
  /// false: some rank cannot, or there are none. Throws std::runtime_error if a rank fails or is lost. In both cases,
  /// any of the rows may be written.
  virtual bool write_jointly(const JointRows& /*rows*/) { return false; }

 protected:
  /// Bodies from `first` on.
  struct Piece {
    std::size_t first = 0;
    std::span<const Vec4> positions, velocities, positions_low, velocities_low;
  };
  BodySource(std::size_t count, Digits digits) : count_{count}, digits_{digits} {}

  static Piece piece_of(const Bodies& bodies, std::size_t first) {
    return {first, bodies.positions, bodies.velocities, bodies.positions_low, bodies.velocities_low};
  }
  /// A piece that has this body, valid until the next call.
  virtual Piece piece_with(std::size_t body) = 0;

 private:
  const Piece& at(std::size_t body) {
    if (body - piece_.first >= piece_.positions.size()) {  // also if body < first
      piece_ = {};                                         // if the next one fails, there is none
      piece_ = piece_with(body);
    }
    return piece_;
  }

  const std::size_t count_;
  const Digits digits_;
  Piece piece_;
};

/// Bodies in the memory of this process: all are one piece.
class HeldBodies final : public BodySource {
 public:
  /// `bodies` must outlive this.
  explicit HeldBodies(const Bodies& bodies) : BodySource{bodies.positions.size(), bodies.digits()}, bodies_{bodies} {}
  explicit HeldBodies(std::unique_ptr<const Bodies> bodies) : HeldBodies{*bodies} { own_ = std::move(bodies); }

 protected:
  Piece piece_with(std::size_t) override { return piece_of(bodies_, 0); }

 private:
  const Bodies& bodies_;
  std::unique_ptr<const Bodies> own_;  // may be null
};

/// The piece of a source that has `body`: bodies from `first` to before `last`.
struct PieceRange {
  static constexpr std::size_t most = std::size_t{1} << 20;  ///< bodies: 32 MiB

  PieceRange(std::size_t body, std::size_t count)
      : first{body / most * most}, last{first + most < count ? first + most : count} {}
  std::size_t size() const { return last - first; }

  std::size_t first, last;
};

}  // namespace orrery
