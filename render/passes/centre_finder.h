#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <optional>

#include "render/appearance.h"
#include "render/gl/gl_objects.h"
#include "render/gl/program.h"
#include "render/gl/readback.h"

namespace orrery::render {

/// Centre of bodies at one time.
struct FoundCentre {
  double time = 0;                    ///< as passed to the request
  std::optional<glm::vec3> centre{};  ///< none: no body counts
  bool another = false;               ///< whether the cluster is not the previous one
};

/// Finds centres of mass on the GPU, without reading bodies back. Bodies without mass, or with a number that is not
/// usable, do not count. Equal bodies give equal bits after restart(). Needs a current context after load_gl().
///
/// The largest cluster is in the cube with the largest mass. Its edges are two thirds of the mean distance of the
/// bodies from their centre. A grid finds it, as a block of 2 x 2 x 2 cells. A cluster stays the largest until another
/// cube has more than 1.25 times its mass. Its centre is that of shrinking balls (Power et al. 2003, MNRAS 338, 14).
/// Each ball is around the centre of mass of the previous ball and has 0.71 times its radius. The first ball holds the
/// cube; the last one has at least a quarter of the first one's bodies, and 32. A known cluster is searched from twice
/// the radius of its last ball.
class CentreFinder {
 public:
  CentreFinder();

  bool in_flight() const noexcept { return readback_.in_flight(); }
  /// Starts to find the centre of the bodies, in their state after all GL commands until now. Needs !in_flight().
  /// Throws std::runtime_error if memory is short.
  void request(const DrawnBodies& bodies, double time);
  /// Does the same for the bodies of one part. `parts`: one byte per body, its part's number, padded to a multiple of
  /// 4.
  void request_part(const DrawnBodies& bodies, const Buffer& parts, int part, double time);
  /// Does the same for the largest cluster. Starts from the last centre, and searches all bodies in every
  /// search_interval-th request.
  void request_cluster(const DrawnBodies& bodies, double time);
  /// Returns the centre once it is known, and ends in_flight(); returns nothing before. `wait`: blocks until the GPU
  /// has found the centre. Needs in_flight().
  std::optional<FoundCentre> poll(bool wait);
  /// Forgets the cluster, and discards the request in flight.
  void restart();

  static constexpr int search_interval = 16;  ///< requests from one search of all bodies to the next

 private:
  enum class Sum { mass, scene, cluster };  // in the order of `taken` in centre.glsl#step

  void begin(const DrawnBodies& bodies);
  void sum(const DrawnBodies& bodies, Sum taken, const Buffer* parts = nullptr, int part = -1);
  void search(const DrawnBodies& bodies);
  void fill_cells(const DrawnBodies& bodies);
  void read_back(double time);

  Program sum_, step_, cells_of_, find_, choose_;
  Buffer search_, sums_, cells_;
  BufferReadback readback_;
  glm::vec3 last_{0.0f};  // the centre that was found last
  std::uint32_t switches_ = 0;
  int until_search_ = 0;  // requests until the next search of all bodies
  double time_ = 0;       // time of the request in flight
};

}  // namespace orrery::render
