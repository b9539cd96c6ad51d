#pragma once

#include "compute/core/law.h"
#include "compute/core/threads.h"
#include "compute/kernels/dispatch.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/parts/body_arrays.h"
#include "compute/kernels/parts/device_float.h"
#include "compute/kernels/parts/jerk_pair.h"

// Settings that several kernels share.
namespace orrery {

// Settings of CPU kernels:
inline constexpr Values<1, 2, 4, 8, 16, 32, 64, 128> thread_values;
inline constexpr auto threads_or_auto = thread_values.names_after("auto");

inline constexpr Tunable threads_tunable{
    .name = "threads",
    .notes = "Threads; auto takes every hardware thread that this process may run on.",
    .values = threads_or_auto,
    .initial = "auto",
    .largest = usable_threads,
    .numbers = Range<double>{1, 1024},
    .whole = true};

/// Variant of threads_tunable for kernels in which the number of threads changes the order of the additions, and so the
/// last bits of the forces.
inline constexpr Tunable deciding_threads_tunable = [] {
  Tunable tunable = threads_tunable;
  tunable.notes =
      "Threads; auto takes every hardware thread that this process may run on. Another number changes the order of "
      "the additions, and with it the last digits.";
  tunable.decides_digits = true;
  return tunable;
}();

// Settings of kernels that compute jerks:
inline constexpr Values<JerkPrecision::mixed, JerkPrecision::fp64> jerk_precision_values{"mixed", "fp64"};
inline constexpr Tunable jerk_precision_tunable{
    .name = "precision",
    .notes =
        "mixed: differences of positions from double-floats, the rest of a pair in float, sums in double; fp64: "
        "everything in double.",
    .values = jerk_precision_values.names(),
    .initial = "mixed"};
/// KernelInfo::candidates of the kernels that compute jerks.
inline constexpr const char* jerk_candidates[] = {"", "precision=fp64"};

// Settings of CUDA kernels:
// CUDA direct sums are templates over each setting that would cost time in the inner loop if known only at run time.
// All instances have the same signature. Nested calls of Values::dispatch() (kernels/dispatch.h), one per setting,
// compile all combinations and return a pointer to the requested one.
inline constexpr Values<LawId::gravity, LawId::attract_repel> law_values{"gravity", "attract-repel"};
inline constexpr Values<Rsqrt::fast, Rsqrt::exact> rsqrt_values{"fast", "exact"};
inline constexpr Values<false, true> switch_values{"off", "on"};

/// Values of the settings `rsqrt` and `ftz`.
struct Arithmetic {
  Rsqrt rsqrt;
  bool flushes;
};

inline Arithmetic arithmetic(const Settings& settings) {
  return {rsqrt_values.find(settings.text("rsqrt")), switch_values.find(settings.text("ftz"))};
}

/// Returns use(law, real). `law` is a constant of type LawId, `real` a value of the inner loop's DeviceFloat type.
template <class Use>
auto dispatch_arithmetic(LawId law, Arithmetic arithmetic, const Use& use) {
  return law_values.dispatch(law, [&](auto chosen_law) {
    return rsqrt_values.dispatch(arithmetic.rsqrt, [&](auto rsqrt) {
      return switch_values.dispatch(arithmetic.flushes, [&](auto flushes) {
        return use(chosen_law, DeviceFloat<decltype(rsqrt)::value, decltype(flushes)::value>{});
      });
    });
  });
}

constexpr Tunable block_tunable(const char* notes, const char* initial = "256") {
  return {.name = "block", .notes = notes, .values = block_values.names(), .initial = initial};
}

inline constexpr const char* one_body_per_thread = "Threads in a block, one body each.";
inline constexpr const char* one_tile_per_block = "Threads in a block, and bodies in a shared-memory tile.";
inline constexpr Values<1, 2, 4> bodies_per_thread_values;

constexpr Tunable bodies_per_thread_tunable(const char* initial) {
  return {.name = "bodies-per-thread",
          .notes = "Bodies that a thread holds in registers, so that one read of another body serves them all.",
          .values = bodies_per_thread_values.names(),
          .initial = initial};
}

inline constexpr Values<false, true> epilogue_values{"fused", "stored"};  // true: stores first

inline constexpr Tunable epilogue_tunable{
    .name = "epilogue",
    .notes =
        "fused: the force kernel kicks the velocities itself; stored: it stores accelerations, a second pass kicks.",
    .values = epilogue_values.names(),
    .initial = "fused"};

inline bool stores_first(const Settings& settings) {
  return epilogue_values.find(settings.text("epilogue"));
}

inline constexpr Values<1, 2, 4, 8, 16, 24, 32> unroll_values;

constexpr Tunable unroll_tunable(const char* initial) {
  return {.name = "unroll",
          .notes = "Bodies in one pass of the inner loop; what is left over goes one by one.",
          .values = unroll_values.names(),
          .initial = initial};
}

inline constexpr Tunable rsqrt_tunable{
    .name = "rsqrt",
    .notes = "fast: the GPU's approximate 1/sqrt, 2 ulp; exact: 1.0f / sqrtf(x), both rounded correctly.",
    .values = rsqrt_values.names(),
    .initial = "fast"};

inline constexpr Tunable ftz_tunable{
    .name = "ftz",
    .notes = "on: the arithmetic of a pair flushes denormal numbers to zero; off: it keeps them.",
    .values = switch_values.names(),
    .initial = "on"};

/// Returns the argument `instance` of BlockKernel for a kernel whose instances differ by law and arithmetic. `use` is
/// as in dispatch_arithmetic().
template <class Use>
auto dispatch_by_arithmetic(const Settings& settings, Use use) {
  return [chosen = arithmetic(settings), use](LawId law) { return dispatch_arithmetic(law, chosen, use); };
}

/// Returns the argument `instance` of BlockKernel for instances that differ by law and `bodies-per-thread`. use(law, n)
/// gets both as constants.
template <class Use>
auto dispatch_by_bodies(const Settings& settings, Use use) {
  return [bodies = settings.integer("bodies-per-thread"), use](LawId law) {
    return law_values.dispatch(law, [&](auto chosen) {
      return bodies_per_thread_values.dispatch(bodies, [&](auto count) { return use(chosen, count); });
    });
  };
}

inline constexpr Values<Layout::float4, Layout::float3, Layout::soa, Layout::aos6> layout_values{"float4", "float3",
                                                                                                 "soa", "aos6"};
inline constexpr Tunable layout_tunable{
    .name = "layout",
    .notes =
        "How the bodies lie in memory; all but float4 are made by a pass over the bodies, which is part of the time.",
    .values = layout_values.names(),
    .initial = "float4"};

}  // namespace orrery
