#pragma once

#include <array>
#include <cstdint>
#include <glm/glm.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/features/compare/compare.h"
#include "app/features/compare/paired_run.h"
#include "app/ui_state/status.h"
#include "app/window/lane.h"
#include "render/gl/gl_objects.h"
#include "render/gl/readback.h"

namespace orrery {
/// Splits the area that panels do not cover into two equal halves, which show the bodies at the same scale. Each
/// returned part reaches to the window's edge, so it includes the panels on its side.
std::array<StagePart, 2> split_stage(const render::Canvas& window, glm::vec3 covered);

/// The second run, B, of a comparison. The lane of the window is run A. Both begin with the same bodies and stop at
/// equal simulated times. B runs while A waits, so neither slows the other's steps. Needs the GL context current.
class SecondLane {
 public:
  static constexpr std::size_t most_samples = 512;
  static constexpr int most_energy_bodies = 1 << 15;  ///< energies are not measured for more bodies

  /// Prepares a second lane; begin() makes it in `lane`. The arguments are as for Lane, and must outlive this object.
  SecondLane(Rescue& rescue, const Backends& backends, const Sharing& sharing, bool lockstep,
             std::unique_ptr<Lane>& lane)
      : rescue_{rescue}, backends_{backends}, sharing_{sharing}, lockstep_{lockstep}, lane_{lane} {}

  bool active() const { return lane_ != nullptr; }
  /// Makes B from the bodies of `first`, whose step in flight is cancelled. After a throw, there is no comparison.
  void begin(Lane& first, const CompareWith& with);
  void end(Lane& first);
  /// Returns lane B. This and all functions below need active().
  Lane& lane() { return *lane_; }

  /// Begins the comparison again if `first` has another kernel, physics or other bodies than at the start. Call once
  /// per frame before steps. Throws what begin() throws.
  void follow(Lane& first);
  /// Returns whether B must run steps to reach the simulated time of A.
  bool behind(Lane& first) const { return due(first.status()) > 0; }
  /// Starts the steps of B that are due. Call while both lanes are idle. `now_s` and `view` are as for Lane::examine().
  void advance(Lane& first, std::int64_t frame, double now_s, const ViewStatus& view);
  /// Returns whether A may continue: both lanes are idle, and at the same simulated time.
  bool in_step(Lane& first) const;
  /// Requests both energies with the steps before the next sample, if energies are due for it. Call before A continues.
  void ask_for_energies(Lane& first);
  /// Takes B's results. If both lanes are at the same simulated time, requests a sample. Call once per frame.
  void take(Lane& first);
  /// Returns one line that says why B cannot continue; empty if it can.
  std::string problem() const;

  /// Returns the bodies of both runs, first those of A (value 0), then those of B (value 1). Valid until the next call.
  render::DrawnBodies both(const Lane& first);
  /// Fills in CompareStatus except its layout, `split` and `left`. Adds B's drawing time to A's in `view`.
  void describe(ViewStatus& view, Lane& first, double wall_s);
  /// Returns the view status of B, which the overlays use.
  ViewStatus& view() { return view_; }

 private:
  struct Pending {  // a sample whose positions are being copied from the GPU
    DivergenceSample sample{};
    std::array<std::optional<std::vector<Vec4>>, 2> positions{};  // none: the copy has not arrived yet
  };

  /// Makes lane B. Reuses `old` if it has the same scene, whose bodies take time to make. `old` may be null.
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
    Trial trial{};  // A at the start
    std::int64_t history = 0;
    std::int64_t step = 0;
    double time = 0;  // simulated time
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
  std::int64_t sampled_at_ = 0;  // steps of A at the latest sample
  std::int64_t seen_ = 0;        // samples after the first; one in stride_ of them is kept
  std::int64_t stride_ = 1;
  std::array<double, 2> first_energy_{};  // NaN: energies are not measured
  std::vector<DivergenceSample> samples_;
  Growth growth_;
  ViewStatus view_;
  render::Buffer both_, values_;
};

}  // namespace orrery
