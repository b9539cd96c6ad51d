#pragma once

#include <glm/glm.hpp>
#include <map>
#include <optional>
#include <vector>

#include "render/passes/body_readback.h"

namespace orrery {

/// What is known of some bodies over time: their latest state, and where they were at equal intervals.
class BodyTracks {
 public:
  static constexpr int most_points = 64;

  struct Track {
    render::BodyState state;                ///< at time()
    std::optional<glm::vec3> acceleration;  ///< the mean since the reading before; none: there is none
    std::vector<glm::vec3> points;          ///< at most most_points, oldest first: the last one at latest_point()
  };

  void clear() { tracks_.clear(); }
  /// Takes in a reading; bodies that it lacks are forgotten. Places between two readings follow from both positions and
  /// velocities, so that points are exactly `interval` > 0 of time apart. Earlier bodies than the last ones, or another
  /// interval, begin anew.
  void add(const render::BodySample& sample, double interval);

  /// By the bodies' indices.
  const std::map<int, Track>& tracks() const { return tracks_; }
  double time() const { return time_; }
  double interval() const { return interval_; }
  double latest_point() const { return next_point_ - interval_; }

 private:
  void add_points(const render::BodySample& sample);

  std::map<int, Track> tracks_;
  double time_ = 0, interval_ = 0;
  double next_point_ = 0;  // the time of the next point of every track
};

/// Where a track's body is `later` after its reading, for short times.
glm::vec3 place_after(const BodyTracks::Track& track, double later);

/// Every k-th of `count` bodies, at most 1,023, and the picked one; or the picked one alone.
std::vector<int> sample_of(int count, bool every, std::optional<int> picked);

}  // namespace orrery
