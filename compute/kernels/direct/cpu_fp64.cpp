#include <cstddef>
#include <vector>

#include "compute/kernels/kernel.h"
#include "compute/kernels/parts/scalar_rows.h"
#include "compute/kernels/parts/tunables.h"

namespace orrery {
namespace {

constexpr Tunable fp64_tunables[] = {threads_tunable};

struct WideBody {
  double x, y, z, w;  // position; w: mass
};

class CpuFp64 final : public ForceKernel, public ArithmeticFacet {
 public:
  explicit CpuFp64(const Settings& settings) : threads_{thread_count(settings)} {}

  void do_evaluate(const ForceArgs& args) override {
    widen(args);
    visit_pair_law<double>(args.law, [&](const auto& law) {
      for_each_chunk(args.target_count(), /*chunk=*/4, threads_, args.cancelled, [&](int first, int last) {
        for (int place = first; place < last && !cancelled(args); ++place) {
          const int i = args.targets ? args.targets.body(place) : place;
          const WideBody& me = bodies_[static_cast<std::size_t>(i)];
          Vec3d acceleration;
          for (const WideBody& body : bodies_) add_pull(acceleration, law, me.x, me.y, me.z, body);
          args.epilogue.finish(i, args.bodies[i].w, acceleration);
        }
      });
    });
  }
  InteractionArithmetic arithmetic() const override {
    InteractionArithmetic in_double = scalar_arithmetic;
    in_double.bits = 64;
    return in_double;
  }
  std::string chosen(int /*count*/, const MassRange& /*masses*/) const override {
    return "threads " + std::to_string(threads_);
  }

 private:
  void widen(const ForceArgs& args) {
    bodies_.resize(static_cast<std::size_t>(args.count));
    for (int i = 0; i < args.count; ++i) {
      const Vec3d at = joined<double>(args.bodies[i], args.bodies_low ? args.bodies_low[i] : Vec4{});
      bodies_[static_cast<std::size_t>(i)] = {at.x, at.y, at.z, args.bodies[i].w};
    }
  }

  int threads_;
  std::vector<WideBody> bodies_;
};

}  // namespace

ORRERY_KERNEL(
    cpu_fp64, .id = "cpu-fp64", .title = "CPU fp64",
    .notes = "The plain double loop in double precision, over threads; it reads the low words of a compensated state.",
    .source = "N. Wilt, The CUDA Handbook (2013), 14.2",
    .lesson =
        "Double precision removes the error of a long sum. What remains under `digits float` is the rounding of the "
        "positions and velocities themselves at every step; `digits compensated` removes that too.",
    .backend = Backend::cpu, .tunables = fp64_tunables, .tolerance = {.median = 1e-7, .max = 1e-5},
    .takes_targets = true, .reads_low_words = true, .create = create_kernel<CpuFp64>);

}  // namespace orrery
