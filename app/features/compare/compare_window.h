#pragma once

#include <array>
#include <cstdint>
#include <glm/glm.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/features/compare/compare_status.h"
#include "app/features/compare/paired_run.h"
#include "app/ui_state/status.h"
#include "app/window/lane.h"
#include "render/gl/gl_objects.h"
#include "render/gl/readback.h"

namespace orrery {
/// Returns two halves, side by side, of what panels do not cover, at the same scale. Each includes what panels cover
/// beside it.
std::array<StagePart, 2> split_stage(const render::Canvas& window, glm::vec3 covered);

/// Lane B, which is compared with lane A, the one of the window. Both begin with the same bodies and advance to the
/// same times. B runs while A waits, so that neither changes the measured times of the other. Needs the GL context
/// current.
class SecondLane {
 public:
  static constexpr std::size_t most_samples = 512;
  static constexpr int most_energy_bodies = 1 << 15;  ///< of more bodies, energies are not measured

  /// Makes B in `lane`; the others are as for Lane. All must outlive this.
  SecondLane(Rescue& rescue, const Backends& backends, const Sharing& sharing, bool lockstep,
             std::unique_ptr<Lane>& lane)
      : rescue_{rescue}, backends_{backends}, sharing_{sharing}, lockstep_{lockstep}, lane_{lane} {}

  bool active() const { return lane_ != nullptr; }
  /// Starts the comparison from the current bodies of `first`, whose step in flight is cancelled. If it throws, there
  /// is no comparison.
  void begin(Lane& first, const CompareWith& with);
  void end(Lane& first);
  /// Needs active(), as everything below.
  Lane& lane() { return *lane_; }

  /// Call once per frame before steps. Begins again if `first` is another run by now, or has other bodies. Throws as
  /// begin().
  void follow(Lane& first);
  /// Whether B has steps to do until it is at the time of A.
  bool behind(Lane& first) const { return due(first.status()) > 0; }
  /// Starts them. Call only while both are idle. `now_s` and `view` as for Lane::examine().
  void advance(Lane& first, std::int64_t frame, double now_s, const ViewStatus& view);
  /// Whether A may continue: both are idle, and at the same time.
  bool in_step(Lane& first) const;
  /// Requests the energies with the steps before the next sample, now and then. Call before A continues.
  void ask_for_energies(Lane& first);
  /// Call once per frame. Takes in what B has computed, and measures the distances if both are at the same time.
  void take(Lane& first);
  /// Returns why B cannot continue, one line; empty if it can.
  std::string problem() const;

  /// The bodies of both, those of A first, with 0 and 1 as values. They stay until the next call.
  render::DrawnBodies both(const Lane& first);
  /// Fills in CompareStatus, except its layout and places, and adds the time of drawing B to that of A.
  void describe(ViewStatus& view, Lane& first, double wall_s);
  /// View status of B, which the overlays use.
  ViewStatus& view() { return view_; }

 private:
  struct Pending {  // a sample whose positions are being copied
    DivergenceSample sample{};
    std::array<std::optional<std::vector<Vec4>>, 2> positions{};  // that have arrived
  };

  /// `old`: one to use again if it has the same scene, whose bodies need time to be made; may be null.
  std::unique_ptr<Lane> make_lane(const Status& a, const CompareWith& with, std::unique_ptr<Lane> old) const;
  std::int64_t steps_of(const Status& a) const { return a.step - begin_.step; }
  std::int64_t due(const Status& a) const;
  bool wants_energies() const;
  void request(Lane& first);
  void poll(Lane& first);
  void take_distances(Lane& first, std::vector<float> distances);
  void add(const DivergenceSample& sample);
  void take_energies(DivergenceSample& sample, const Status& a) const;

  struct Begin {
    Trial trial{};  // of A
    std::int64_t history = 0;
    std::int64_t step = 0;
    double time = 0;  // simulated
  };

  Rescue& rescue_;
  const Backends& backends_;
  const Sharing& sharing_;
  const bool lockstep_;
  std::unique_ptr<Lane>& lane_;  // null: there is no comparison
  CompareWith with_;
  LockStep lock_step_;
  Begin begin_;
  double size_ = 0;
  std::array<render::BufferReadback, 2> positions_;
  std::optional<Pending> pending_;
  std::int64_t sampled_at_ = 0;  // steps of A
  std::int64_t seen_ = 0;        // samples after the first, of which one in stride_ is kept
  std::int64_t stride_ = 1;
  std::array<double, 2> first_energy_{};  // NaN: energies are not measured
  std::vector<DivergenceSample> samples_;
  Growth growth_;
  ViewStatus view_;
  render::Buffer both_, values_;
};

}  // namespace orrery
