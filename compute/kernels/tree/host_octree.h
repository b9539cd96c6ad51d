#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "compute/core/message.h"
#include "compute/core/vec.h"
#include "compute/kernels/tree/multipole.h"
#include "compute/kernels/tree/tree_cube.h"
#include "compute/kernels/tree_facet.h"

namespace orrery {

/// An axis-parallel box.
struct Box {
  Vec3 low, high;

  void add(const Box& other) {
    low = {std::min(low.x, other.low.x), std::min(low.y, other.low.y), std::min(low.z, other.low.z)};
    high = {std::max(high.x, other.high.x), std::max(high.y, other.high.y), std::max(high.z, other.high.z)};
  }
  /// Returns the longest side.
  float widest() const { return std::max({high.x - low.x, high.y - low.y, high.z - low.z}); }
  Vec3 center() const { return {(low.x + high.x) / 2, (low.y + high.y) / 2, (low.z + high.z) / 2}; }
  /// Returns the offset from the center to a corner.
  Vec3 half() const { return {(high.x - low.x) / 2, (high.y - low.y) / 2, (high.z - low.z) / 2}; }
};

/// A body's Morton key and original index.
struct KeyedBody {
  std::uint64_t key;
  std::uint32_t body;
};

/// Stable radix sort by key. Later calls reuse its arrays.
class KeySort {
 public:
  /// Sorts with `threads` threads. Once `cancelled` (may be null) is set, returns early with the bodies in any order.
  void sort(std::vector<KeyedBody>& bodies, int threads, const std::atomic<bool>* cancelled);

 private:
  std::vector<KeyedBody> other_;
  std::vector<std::uint32_t> places_;  ///< place of the next body, by slice of the bodies and digit
};

/// Result of the first pass over the bodies: bounding box, largest mass, and number of bodies.
struct Bounds {
  static constexpr float infinity = std::numeric_limits<float>::infinity();

  Box box{{infinity, infinity, infinity}, {-infinity, -infinity, -infinity}};
  float mass = 0;  ///< largest mass of a body
  std::int64_t count = 0;

  /// Adds bodies. Ignores coordinates that are NaN.
  void add(std::span<const Vec4> bodies);
  void add(const Bounds& other);
};

/// Coordinates of bodies as integers in [0, 2^21], so that double adds up 2^31 of them exactly.
class CubeGrid {
 public:
  /// `all`: bounds of all bodies; there must be at least one.
  explicit CubeGrid(const Bounds& all);

  /// Second pass over the bodies: returns the sums of their coordinates.
  Vec3d sums(std::span<const Vec4> bodies) const;
  /// Third pass: returns the sums of these bodies' distances from the mean, along each axis. `sums`: over all bodies.
  Vec3d distances(std::span<const Vec4> bodies, const Vec3d& sums) const;
  /// Returns the root cube, given sums over all bodies. It contains all bodies within 16 times the mean distance from
  /// the mean. By Markov's inequality, at most one body in 16 is farther out. A cube that included these would leave
  /// the other bodies too few bits of the keys.
  TreeCube cube(const Vec3d& sums, const Vec3d& distances) const;

 private:
  double place(float at, float low) const;
  Vec3d mean(const Vec3d& sums) const;

  Bounds all_;
  double places_per_length_ = 0;
};

/// Converts the index of a body or cell to an array index.
inline std::size_t place_of(int number) {
  return static_cast<std::size_t>(number);
}

/// Consecutive bodies in the order of their keys.
struct BodyRange {
  int begin, end;
  int count() const { return end - begin; }
};

/// Bodies that walk the tree together, and the smallest cell that contains them and further bodies; -1: none.
struct BodyGroup : BodyRange {
  int cell = -1;
};

/// A cell. Cells are stored level by level; the children of a cell are consecutive.
struct OctreeCell {
  BodyRange bodies;
  int parent = -1;                    ///< index of a cell; -1: this is the root
  int first_child = 0, children = 0;  ///< index of the first child; no children: a leaf
  int level = 0;                      ///< level below the root; cells with a single child are left out
  bool is_leaf() const { return children == 0; }
};

/// Values of a cell that a walk reads to decide whether to open it.
enum WalkValue {
  center_x,    ///< centre of mass
  center_y,    ///< centre of mass
  center_z,    ///< centre of mass
  opening_sq,  ///< square of the distance from which the cell may count as a whole
  reach,       ///< see HostOctree::Shape::far
  cell_mass,
  spread,   ///< rms distance of the bodies from their centre of mass; see high::spread_of() for high moments
  size_sq,  ///< opening_sq at an opening angle of 1, but always > 0; 0 for a leaf
  walk_values
};

using CellValues = std::array<float, walk_values>;

/// Moments of a cell up to the second order.
struct SecondRow {
  Vec4 center;  ///< centre of mass; the mass in w
  Quadrupole<float> q;
  float unused = 0;  ///< pads the row to a multiple of four floats
};

/// High-order moments of a cell. The dipole is zero, so its entries hold the centre of mass instead.
using HighRow = high::Moments;

/// A cell whose bodies are all on one rank, while its parent's are not.
struct TreePiece {
  std::uint64_t first_key, last_key;
  Moments moments;
  Box box;
  float radius;
  CellValues values;
  SecondRow second;
  HighRow high;  ///< for FarField::high only
};

/// Number of floats that SIMD code may read, beginning at any body or cell.
inline constexpr int read_ahead = 16;

/// Octree over bodies in host memory. Its bodies and cells are in the units of units(). Rebuilding reuses all arrays.
class HostOctree {
 public:
  struct Shape {
    int leaf = 0;  ///< maximum number of bodies in a leaf; a finest cell may have more
    int threads = 1;
    float theta = 0;  ///< opening angle in (0, 1]
    /// With quadrupoles, a cell's `reach` is (M sigma^3)^(2/5), otherwise (M sigma^2)^(1/2). This is the error of its
    /// pull times a power of the distance, raised to the power that makes it a squared distance. See Octree::tolerance.
    FarField far = FarField::quadrupole;
  };

  /// Returns the root cube of `count` >= 1 bodies. It need not contain all of them.
  static TreeCube cube_of(const Vec4* bodies, int count);

  // Phases of a build, in this order. Each returns early once `cancelled` (may be null) is set.
  /// Computes the keys. The bodies must be finite, with masses > 0; at least one is required, unless build() gets a
  /// domain.
  void make_keys(const TreeCube& cube, const Vec4* bodies, int count, int threads, const std::atomic<bool>* cancelled);
  void sort(int threads, const std::atomic<bool>* cancelled) { sort_.sort(keys_, threads, cancelled); }
  /// Sorts bodies with equal keys by their ids. Without this call, they keep their order.
  void sort_equal_keys(std::span<const int> ids);
  /// Builds the cells. `bodies`: all bodies, of all ranks, whose keys are in `domain`.
  void build(const Vec4* bodies, const Shape& shape, const std::atomic<bool>* cancelled, const KeyRange& domain = {});
  void find_moments(const Shape& shape, const std::atomic<bool>* cancelled);

  std::span<const KeyedBody> keys() const { return keys_; }

  // If other ranks have bodies, too, these functions make this the tree of all bodies. It lacks only cells of other
  // ranks that no walk opens.
  /// Returns the largest cells that are entirely on this rank. They are the first entries of cells().
  std::vector<TreePiece> pieces() const;
  /// Adds the cells above the pieces of all ranks. `pieces` are in key order; those of this rank begin at index `own`.
  void join(std::span<const TreePiece> pieces, int own, const Shape& shape);
  /// Writes the pieces, the descendants of opened cells, and the bodies of opened leaves. `opened`: nonzero for opened
  /// cells, by index. Without `moments`, moments are left out.
  void put_opened(const std::vector<char>& opened, bool moments, MessageWriter& message) const;
  /// Reads a message that put_opened() wrote on another rank. `pieces`: that rank's pieces, among those of all ranks.
  void take_opened(BodyRange pieces, const Shape& shape, MessageReader& message);
  /// Removes the cells and bodies that take_opened() added.
  void close_others();
  /// Returns whether the cell has bodies of several ranks.
  bool is_shared(int cell) const {
    return top_.joined && cell >= top_.begin && cell < top_.end && top_.part(cell).count() > 1;
  }
  /// Returns the bounds of the shared cells' indices: all are in [top_begin(), top_end()).
  int top_begin() const { return top_.begin; }
  int top_end() const { return top_.end; }
  int piece_count() const { return top_.pieces; }
  bool is_joined() const { return top_.joined; }

  TreeUnits units() const { return TreeUnits{cube_}; }
  /// Returns the bodies in key order; original() returns the original index of one.
  const std::vector<Vec4>& bodies() const { return bodies_; }
  int original(int body) const { return static_cast<int>(keys_[static_cast<std::size_t>(body)].body); }
  Box box_of(BodyRange range) const;
  const Box& box(std::size_t cell) const { return boxes_[cell]; }
  /// Returns an upper bound for the distance of the cell's bodies from the center of its box.
  float radius(std::size_t cell) const { return radii_[cell]; }
  /// Returns x, y, z or m (axis 0 to 3) of the bodies in key order, followed by read_ahead more values.
  const float* column(int axis) const { return columns_[static_cast<std::size_t>(axis)].data(); }

  const std::vector<OctreeCell>& cells() const { return cells_; }
  int root() const { return top_.joined ? top_.begin : 0; }
  /// Returns one value of all cells, followed by read_ahead more values.
  const float* values(WalkValue which) const { return values_.data() + which * values_stride(); }
  std::size_t values_stride() const { return values_stride_; }  ///< distance from one value to the next
  const std::vector<SecondRow>& second_rows() const { return second_rows_; }
  const std::vector<HighRow>& high_rows() const { return high_rows_; }  ///< for FarField::high only
  int depth() const { return deepest_; }
  /// Returns ranges of at most `most` bodies each that together cover all bodies. A range is a cell, or neighbouring
  /// children of one cell.
  std::vector<BodyGroup> groups(int most) const;
  /// Returns the requested cells of this rank, by level.
  PickedCells cubes(const CellRequest& request) const;
  /// Returns the cube of a cell, in the units of the bodies. It contains all its bodies, also those outside the root
  /// cube.
  TreeCell cube(std::size_t cell) const;

 private:
  /// Cells above the pieces of all ranks, with indices in [begin, end).
  struct Top {
    int pieces = 0;  ///< number of pieces of this rank
    bool joined = false;
    int begin = 0, end = 0;
    int own = 0;                     ///< first piece of this rank, among the pieces of all ranks
    std::vector<BodyRange> parts{};  ///< range of pieces of each cell
    std::vector<int> cells{};        ///< cell of each piece
    std::size_t bodies = 0;          ///< number of bodies of this rank
    const BodyRange& part(int cell) const { return parts[static_cast<std::size_t>(cell - begin)]; }
  };

  void add_pieces(const KeyRange& domain, std::uint64_t first_key, int level, BodyRange bodies);
  void split(std::size_t cell, int leaf);
  /// Returns whether the cell belongs to this rank or is shared with others.
  bool is_own(int cell) const;
  CellValues values_of(std::size_t cell) const;
  void set_values(std::size_t cell, const CellValues& values);
  void set_piece(int piece, const TreePiece& from, const Shape& shape);
  void resize_moments(const Shape& shape);
  void resize_rows(const Shape& shape);
  void find_moments_of(std::size_t cell, const Shape& shape);
  void find_high_moments_of(std::size_t cell);
  float radius_of(std::size_t cell) const;

  TreeCube cube_;
  std::vector<KeyedBody> keys_;
  KeySort sort_;
  std::vector<Vec4> bodies_;
  std::array<std::vector<float>, 4> columns_;
  std::vector<OctreeCell> cells_;
  std::vector<std::size_t> generations_;  ///< index of the first cell of each generation, and one past the last cell
  std::vector<Moments> moments_;
  std::vector<Box> boxes_;
  std::vector<float> radii_;
  std::vector<float> values_;  ///< walk_values columns with a stride of values_stride_
  std::size_t values_stride_ = 0;
  Top top_;
  std::vector<SecondRow> second_rows_;
  std::vector<HighRow> high_rows_;
  int deepest_ = 0;
};

}  // namespace orrery
