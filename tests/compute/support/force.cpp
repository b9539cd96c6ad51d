#include "tests/compute/support/force.h"

#include "tests/compute/support/backend.h"
#include "tests/compute/support/random_ball.h"
#include "tests/test.h"

#if ORRERY_HAVE_CUDA
#include "compute/cuda/arrays.h"
#endif

namespace orrery::test {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr Vec4 poison{nan, nan, nan, nan};
constexpr std::size_t guard_count = 64;

/// The arrays of one call, guards included, in host memory.
struct Arrays {
  std::vector<Vec4> positions, velocities, accelerations;
  std::vector<int> targets;  ///< without guards
};

void call(ForceKernel& kernel, ForceArgs args, Arrays& arrays) {
  args.bodies = arrays.positions.data();
  if (args.epilogue.accelerations) args.epilogue.accelerations = arrays.accelerations.data();
  if (args.epilogue.velocities) args.epilogue.velocities = arrays.velocities.data();
  if (args.targets) args.targets.indices = arrays.targets.data();
  kernel.evaluate(args);
}

#if ORRERY_HAVE_CUDA
template <class T>
cuda::DeviceArray<T> to_device(const std::vector<T>& host) {
  cuda::DeviceArray<T> device{*backends().device(), host.size()};
  cuda::upload(std::span{host}, device.data(), nullptr);
  return device;
}

void call_on_device(ForceKernel& kernel, ForceArgs args, Arrays& arrays) {
  const auto positions = to_device(arrays.positions);
  const auto velocities = to_device(arrays.velocities);
  const auto accelerations = to_device(arrays.accelerations);
  const auto targets = to_device(arrays.targets);
  const auto evaluated = to_device(std::vector<std::uint64_t>{0});
  std::uint64_t* const host_evaluated = args.evaluated;
  args.bodies = positions.data();
  if (args.epilogue.accelerations) args.epilogue.accelerations = accelerations.data();
  if (args.epilogue.velocities) args.epilogue.velocities = velocities.data();
  if (args.targets) args.targets.indices = targets.data();
  if (args.evaluated) args.evaluated = evaluated.data();
  kernel.evaluate(args);
  if (host_evaluated) cuda::download(evaluated.data(), std::span{host_evaluated, 1}, nullptr);
  cuda::download(positions.data(), std::span{arrays.positions}, nullptr);
  cuda::download(velocities.data(), std::span{arrays.velocities}, nullptr);
  cuda::download(accelerations.data(), std::span{arrays.accelerations}, nullptr);
  ORRERY_CUDA_CHECK(cudaStreamSynchronize(nullptr));
}
#endif

std::vector<Vec4> guarded(const std::vector<Vec4>& values) {
  std::vector<Vec4> copy = values;
  copy.resize(values.size() + guard_count, poison);
  return copy;
}

/// Cuts off the guards; a test failure if they are not what they were, bit by bit.
std::vector<Vec4> unguarded(std::vector<Vec4> values, const char* name) {
  const std::vector<Vec4> untouched(guard_count, poison);
  const std::size_t count = values.size() - guard_count;
  EXPECT_EQ(std::memcmp(values.data() + count, untouched.data(), guard_count * sizeof(Vec4)), 0)
      << name << ": written beyond the end";
  values.resize(count);
  return values;
}

/// The direct sums of all bodies. Those of the latest calls are kept: tests ask for the same ones at many settings.
const std::vector<Vec3d>& reference_of_all(const std::vector<Vec4>& positions, const Law& law) {
  struct Kept {
    std::vector<Vec4> positions;
    Law law;
    std::vector<Vec3d> sums;
  };
  static std::deque<Kept> latest;
  for (const Kept& kept : latest) {
    if (kept.law == law && kept.positions == positions) return kept.sums;
  }
  if (latest.size() == 8) latest.pop_front();
  const int count = static_cast<int>(positions.size());
  const std::vector<int> everyone = sample_targets(count, count);
  latest.push_back({positions, law, reference_accelerations(positions, everyone, law)});
  return latest.back().sums;
}

}  // namespace

ForceResult evaluate(ForceKernel& kernel, const Bodies& bodies, const ForceRequest& request) {
  Arrays arrays{.positions = guarded(bodies.positions),
                .velocities = guarded(bodies.velocities),
                .accelerations = std::vector<Vec4>(bodies.positions.size() + guard_count, poison),
                .targets = request.targets};
  Vec4 wanted;  // marks the arrays that the kernel is to get
  const ForceArgs args{.bodies = nullptr,
                       .count = bodies.count(),
                       .targets = {.indices = request.targets.empty() ? nullptr : request.targets.data(),
                                   .count = static_cast<int>(request.targets.size())},
                       .masses = mass_range(bodies.positions),
                       .law = request.law,
                       .epilogue = {.accelerations = request.store ? &wanted : nullptr,
                                    .velocities = request.kick_dt != 0 ? &wanted : nullptr,
                                    .kick_dt = request.kick_dt,
                                    .drag = request.law.effective_drag()},
                       .stream = nullptr,
                       .evaluated = request.evaluated,
                       .cancelled = request.cancelled};
#if ORRERY_HAVE_CUDA
  if (backend == Backend::cuda) {
    call_on_device(kernel, args, arrays);
  } else {
    call(kernel, args, arrays);
  }
#else
  call(kernel, args, arrays);
#endif
  EXPECT_EQ(unguarded(arrays.positions, "positions"), bodies.positions) << "a force kernel moves nobody";
  return {.accelerations = unguarded(arrays.accelerations, "accelerations"),
          .velocities = unguarded(arrays.velocities, "velocities")};
}

std::vector<Vec4> accelerations(const KernelInfo& info, const Settings& settings, const Bodies& bodies,
                                const Law& law) {
  return evaluate(*backends().make_kernel(info, settings), bodies, {.law = law}).accelerations;
}

ForceError sampled_error(const KernelInfo& info, const Settings& settings, const Bodies& bodies, const Law& law,
                         int size) {
  const std::vector<int> targets = sample_targets(bodies.count(), size);
  return force_error(accelerations(info, settings, bodies, law), targets,
                     reference_accelerations(bodies.positions, targets, law));
}

Tolerance tolerance_at(const KernelInfo& info, const Settings& settings) {
  if (!info.is_tree) return info.tolerance;
  const Settings initial{info};
  const auto theta = [](const Settings& of) { return std::stod(of.text("theta")); };
  const auto tolerance = [](const Settings& of) {
    const std::string text = of.text_or_none("tolerance");
    return text == "off" ? 1 : text.empty() ? 0 : std::stod(text);
  };
  if (settings == initial) return info.tolerance;
  const bool as_accurate = theta(settings) <= theta(initial) && tolerance(settings) <= tolerance(initial) &&
                           settings.text_or_none("order") == initial.text_or_none("order");
  return as_accurate ? Tolerance{.median = 2 * info.tolerance.median, .max = 2 * info.tolerance.max}
                     : Tolerance{.median = 2e-2, .max = 2};
}

std::vector<Settings> settings_with_each(const KernelInfo& info, const char* name) {
  const Tunable* const tunable = info.tunable(name);
  if (!tunable) return {Settings{info}};
  std::vector<Settings> all;
  for (const char* value : tunable->values) all.push_back(Settings{info, {{name, value}}});
  return all;
}

void expect_agreement(const std::vector<Vec4>& accelerations, const Bodies& bodies, const Law& law,
                      const Tolerance& tolerance) {
  const std::vector<int> targets = sample_targets(bodies.count(), bodies.count());
  const ForceError error = force_error(accelerations, targets, reference_of_all(bodies.positions, law));
  EXPECT_LE(error.median, tolerance.median);
  EXPECT_LE(error.max, tolerance.max);
}

void expect_same_bits(ForceKernel& kernel, ForceKernel& alone) {
  for (const int count : {1, 2, 255, 4097, 20'011}) {
    const Bodies bodies = random_ball(count);
    const ForceRequest request{.law = {}, .kick_dt = 0.01f};
    const ForceResult expected = evaluate(alone, bodies, request), found = evaluate(kernel, bodies, request);
    EXPECT_EQ(found.accelerations, expected.accelerations) << count;
    EXPECT_EQ(found.velocities, expected.velocities) << count;
  }
}

}  // namespace orrery::test
