#include "compute/kernels/parallel_rows.h"
#include "compute/kernels/scalar_rows.h"

namespace orrery {
namespace {

constexpr const char* chunk_values[] = {"1", "4", "16", "64"};
constexpr Tunable tunables[] = {
    threads_tunable,
    {.name = "chunk", .notes = "Bodies that a thread takes at a time.", .values = chunk_values, .initial = "1"}};

class CpuOpenmp final : public ForceKernel {
 public:
  explicit CpuOpenmp(const Settings& settings) : threads_{thread_count(settings)}, chunk_{settings.integer("chunk")} {}

  void evaluate(const ForceArgs& args) override {
    for_each_chunk(args.count, chunk_, threads_, args.cancelled,
                   [&](int first, int last) { evaluate_scalar_rows(args, first, last); });
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
    .source = "UTH homework, section 4, OpenMP with a dynamic schedule (row 13)",
    .lesson =
        "Rows are independent, so threads share nothing but the read-only bodies and the speed-up is the number of "
        "cores. Chunks handed out as threads get free cost little and level out cores of unequal speed.",
    .backend = Backend::cpu, .tunables = tunables, .tolerance = {.median = 3e-6, .max = 1e-3},
    .create = create_kernel<CpuOpenmp>);

}  // namespace orrery
