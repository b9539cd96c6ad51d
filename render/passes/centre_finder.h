#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <optional>

#include "render/appearance.h"
#include "render/gl/gl_objects.h"
#include "render/gl/program.h"
#include "render/gl/readback.h"

namespace orrery::render {

/// Where bodies are at one time.
struct FoundCentre {
  double time = 0;                    ///< as the caller gave it
  std::optional<glm::vec3> centre{};  ///< none: no body counts
  bool another = false;               ///< a cluster that is not the one before
};

/// Finds centres of mass on the GPU: no body is read back. Bodies without mass, or with a number that is not usable, do
/// not count. Equal bodies give equal bits after restart(). Needs a current context, load_gl() done.
///
/// The largest cluster is the cube with most mass, of those whose edges are two thirds of the mean distance of the
/// bodies from their centre; a grid finds it, in blocks of 2 x 2 x 2 cells. A cluster stays the largest until another
/// cube has more than 1.25 times its mass. Its centre is that of shrinking balls (Power et al. 2003, MNRAS 338, 14):
/// each is around the centre of mass of the one before and has 0.71 times its radius. The first one holds the cube; the
/// last one has at least a quarter of its bodies, and 32. A cluster that is known is searched from twice the radius of
/// its last ball.
class CentreFinder {
 public:
  CentreFinder();

  bool in_flight() const noexcept { return readback_.in_flight(); }
  /// Finds the centre of the bodies as they are after all GL commands until now. Needs !in_flight(). Throws
  /// std::runtime_error if the memory is not enough.
  void request(const DrawnBodies& bodies, double time);
  /// The same for the bodies with this number in `parts`: a byte for each body, and bytes up to a multiple of 4.
  void request_part(const DrawnBodies& bodies, const Buffer& parts, int part, double time);
  /// The same for the largest cluster. Starts from the centre of the last request, and looks at all bodies now and
  /// then.
  void request_cluster(const DrawnBodies& bodies, double time);
  /// Returns the centre and ends in_flight() once the centre is known; nothing before. `wait`: blocks until the GPU has
  /// found it. Needs in_flight().
  std::optional<FoundCentre> poll(bool wait);
  /// Forgets the cluster, and drops the request in flight.
  void restart();

  static constexpr int search_interval = 16;  ///< requests from one look at all bodies to the next

 private:
  enum class Sum { mass, scene, cluster };  // in the order of centre.glsl#step

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
  int until_search_ = 0;  // requests
  double time_ = 0;       // time of the request in flight
};

}  // namespace orrery::render
