#include <algorithm>

#include "compute/core/threads.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/parts/scalar_rows.h"
#include "compute/kernels/parts/tunables.h"

namespace orrery {
namespace {

constexpr Values<1, 4, 16, 64> chunk_values;
constexpr Tunable tunables[] = {threads_tunable,
                                {.name = "chunk",
                                 .notes = "Bodies that a thread takes at a time.",
                                 .values = chunk_values.names(),
                                 .initial = "1",
                                 .numbers = Range<double>{1, 1 << 16},
                                 .whole = true}};

class CpuOpenmp final : public ForceKernel, public ArithmeticFacet {
 public:
  explicit CpuOpenmp(const Settings& settings) : threads_{thread_count(settings)}, chunk_{settings.integer("chunk")} {}

  void do_evaluate(const ForceArgs& args) override {
    // An OpenMP worksharing loop cannot end early, and skipping ten million chunks takes long. So each loop covers at
    // most chunks_per_loop chunks, which take far longer than the barrier after the loop.
    constexpr int chunks_per_loop = 1 << 15;
    const int targets = args.target_count();
    const int chunks = targets / chunk_ + (targets % chunk_ != 0);
    const Subnormals subnormals = subnormals_here();
    for (int begin = 0; begin < chunks && !cancelled(args); begin += chunks_per_loop) {
      const int end = begin + std::min(chunks_per_loop, chunks - begin);
#pragma omp parallel num_threads(std::min(threads_, end - begin))
      {
        const WithSubnormals as_the_caller{subnormals};
#pragma omp for schedule(dynamic)
        for (int c = begin; c < end; ++c) {
          const int first = c * chunk_;
          evaluate_scalar_rows(args, first, first + std::min(chunk_, targets - first));
        }
      }
    }
  }
  InteractionArithmetic arithmetic() const override {
    return scalar_arithmetic;
  }
  std::string chosen(int /*count*/, const MassRange& /*masses*/) const override {
    return "threads " + std::to_string(threads_);
  }

 private:
  int threads_;
  int chunk_;
};

}  // namespace

ORRERY_KERNEL(
    cpu_openmp, .id = "cpu-openmp", .title = "CPU OpenMP",
    .notes = "The serial kernel's rows, handed out to threads, `chunk` bodies at a time, as they get free.",
    .source = "Vliora & Liaskonis 2025, section 4, OpenMP with a dynamic schedule",
    .lesson =
        "Rows are independent, so threads share nothing but the read-only bodies and the speed-up is the number of "
        "cores. Chunks handed out as threads get free cost little and level out cores of unequal speed.",
    .backend = Backend::cpu, .tunables = tunables, .tolerance = {.median = 3e-6, .max = 1e-3}, .takes_targets = true,
    .create = create_kernel<CpuOpenmp>);

}  // namespace orrery
