#pragma once

#include "compute/core/bodies.h"
#include "compute/diagnostics/reference.h"
#include "compute/kernels/kernel.h"
#include "tests/test.h"

namespace orrery::test {

inline constexpr Law attract_repel{.id = LawId::attract_repel, .softening = 0.05f, .repulsion = 0.01f, .drag = 1e-4f};

/// The request for one evaluation; see Epilogue.
struct ForceRequest {
  Law law;
  bool store = true;
  float kick_dt = 0;  ///< 0: no kick
  const std::atomic<bool>* cancelled = nullptr;
  std::vector<int> targets = {};       ///< empty: every body
  std::uint64_t* evaluated = nullptr;  ///< where a tree adds its interactions; null: not counted
};

/// The result of an evaluation. Accelerations are NaN where nothing was stored.
struct ForceResult {
  std::vector<Vec4> accelerations;
  std::vector<Vec4> velocities;
};

/// Runs a kernel of the backend under test on copies of the bodies in that backend's memory. Behind the end of each
/// array lie guards of NaN: they spoil the result of a kernel that reads them, and the test fails if one is written.
ForceResult evaluate(ForceKernel& kernel, const Bodies& bodies, const ForceRequest& request);

/// The accelerations by a kernel with these settings, and nothing else.
std::vector<Vec4> accelerations(const KernelInfo& info, const Settings& settings, const Bodies& bodies, const Law& law);

/// The error of a kernel with these settings, on a sample of `size` bodies.
ForceError sampled_error(const KernelInfo& info, const Settings& settings, const Bodies& bodies, const Law& law,
                         int size = 500);

/// The tolerance that a kernel must hold at these settings. A tree holds its own at its initial settings; smaller
/// groups are less exact, and with a larger theta or monopoles its result must only be no nonsense.
Tolerance tolerance_at(const KernelInfo& info, const Settings& settings);

/// The initial settings with each value of a tunable; the initial settings alone if the kernel has no such tunable.
std::vector<Settings> settings_with_each(const KernelInfo& info, const char* tunable);

/// Fails the test unless `accelerations` agree with the fp64 direct sum within `tolerance`; NaN never agrees.
void expect_agreement(const std::vector<Vec4>& accelerations, const Bodies& bodies, const Law& law,
                      const Tolerance& tolerance);

/// Fails the test unless a kernel finds the bits of `alone`, for several numbers of bodies, with a kick.
void expect_same_bits(ForceKernel& kernel, ForceKernel& alone);

}  // namespace orrery::test
