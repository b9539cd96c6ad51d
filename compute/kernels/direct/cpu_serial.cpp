#include "compute/kernels/kernel.h"
#include "compute/kernels/parts/scalar_rows.h"

// This kernel is the baseline of every speed-up, so it uses the flags of the whole build: -O3 in Release for the
// default processor (x86-64 with SSE2, no fused multiply-add), without -ffast-math. Each pair therefore takes an exact
// square root and an exact division. Sums keep source order, which prevents vectorization over bodies.

namespace orrery {
namespace {

class CpuSerial final : public ForceKernel, public ArithmeticFacet {
 public:
  void do_evaluate(const ForceArgs& args) override { evaluate_scalar_rows(args, 0, args.target_count()); }
  InteractionArithmetic arithmetic() const override { return scalar_arithmetic; }
};

}  // namespace

ORRERY_KERNEL(
    cpu_serial, .id = "cpu-serial", .title = "CPU serial",
    .notes = "One thread, one pair at a time: the plain double loop that everything else is measured against.",
    .source = "N. Wilt, The CUDA Handbook (2013), 14.2, listings 14.1 and 14.2; Vliora & Liaskonis 2025, section 3",
    .lesson =
        "Every other kernel answers the question how much of this time was waste. The compiler may not reorder the "
        "sums, so one core runs far below what its vector units could do.",
    .backend = Backend::cpu, .tunables = {}, .tolerance = {.median = 3e-6, .max = 1e-3}, .takes_targets = true,
    .create = create_kernel<CpuSerial>);

}  // namespace orrery
