#include "app/overlays/body_tracks.h"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

/// The cubic through both places with both velocities, at `share` of the way from the first to the second.
glm::vec3 between(const render::BodyState& from, const render::BodyState& to, double duration, double share) {
  const auto s = static_cast<float>(share), t = static_cast<float>(duration);
  const float rest = 1 - s;
  return glm::vec3{from.position} * (rest * rest * (1 + 2 * s)) + glm::vec3{from.velocity} * (t * s * rest * rest) +
         glm::vec3{to.position} * (s * s * (1 + 2 * rest)) - glm::vec3{to.velocity} * (t * s * s * rest);
}

}  // namespace

void BodyTracks::add(const render::BodySample& sample, double interval) {
  if (sample.time < time_ || interval != interval_) clear();
  if (tracks_.empty()) {
    interval_ = interval;
    next_point_ = sample.time;
  }
  if (!(sample.time > time_) && !tracks_.empty()) {  // perhaps with other bodies
    std::map<int, Track> kept;
    for (const render::BodyState& body : sample.bodies) {
      const auto known = tracks_.find(body.index);
      kept[body.index] =
          known != tracks_.end() ? known->second : Track{.state = body, .acceleration = {}, .points = {}};
    }
    tracks_ = std::move(kept);
    return;
  }
  add_points(sample);
  time_ = sample.time;
}

void BodyTracks::add_points(const render::BodySample& sample) {
  const double duration = sample.time - time_;
  std::vector<double> shares;  // of the new points between the last reading and this one
  next_point_ = std::max(next_point_, sample.time - most_points * interval_);
  // An interval may be too short to change the time.
  for (int more = most_points; more >= 0 && next_point_ <= sample.time; --more, next_point_ += interval_) {
    shares.push_back(duration > 0 ? (next_point_ - time_) / duration : 1);
  }
  std::map<int, Track> next;
  for (const render::BodyState& body : sample.bodies) {
    const auto known = tracks_.find(body.index);
    Track track{.state = body, .acceleration = {}, .points = {}};
    if (known != tracks_.end()) {
      const render::BodyState& before = known->second.state;
      track.acceleration = (glm::vec3{body.velocity} - glm::vec3{before.velocity}) / static_cast<float>(duration);
      track.points = std::move(known->second.points);
      for (const double share : shares) track.points.push_back(between(before, body, duration, share));
      const auto over = std::max<std::ptrdiff_t>(std::ssize(track.points) - most_points, 0);
      track.points.erase(track.points.begin(), track.points.begin() + over);
    } else if (!shares.empty() && shares.back() == 1) {
      track.points.emplace_back(body.position);
    }
    next[body.index] = std::move(track);
  }
  tracks_ = std::move(next);
}

glm::vec3 place_after(const BodyTracks::Track& track, double later) {
  return glm::vec3{track.state.position} + static_cast<float>(later) * glm::vec3{track.state.velocity};
}

std::vector<int> sample_of(int count, bool every, std::optional<int> picked) {
  constexpr int most = 1023;
  std::vector<int> indices;
  const int stride = (count + most - 1) / most;
  for (int i = 0; every && i < count; i += stride) indices.push_back(i);
  if (picked && !(every && *picked % stride == 0)) indices.push_back(*picked);
  return indices;
}

}  // namespace orrery
