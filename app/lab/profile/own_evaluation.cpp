#include "app/lab/profile/own_evaluation.h"

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compute/kernels/arithmetic_facet.h"
#include "compute/kernels/tree_facet.h"

namespace orrery {
namespace {

class CpuEvaluation final : public OwnEvaluation {
 public:
  /// Of this process alone, also if it has ranks: the limit is that of its threads.
  CpuEvaluation(const Variant& variant, const Bodies& bodies, const Law& law)
      : kernel_{variant.kernel->make(variant.settings, nullptr)},
        bodies_{bodies.positions},
        accelerations_(bodies.positions.size()),
        masses_{mass_range(bodies_)},
        law_{law} {
    kernel_->prepare(static_cast<int>(bodies_.size()));
  }

  void start(int times) override {
    for (int time = 0; time < times; ++time) evaluate();
  }
  void wait() override {}
  void run_marked(cuda::RangeMarks& /*marks*/) override {
    throw std::logic_error("a CPU kernel has no hardware counters of a GPU");
  }
  double interactions() override {
    if (!kernel_->tree()) return ForceKernel::interactions(static_cast<int>(bodies_.size()));
    evaluated_ = 0;
    evaluate();
    return static_cast<double>(evaluated_);
  }
  double vector_instructions() override {
    if (kernel_->tree()) {
      evaluate();
      return kernel_->tree()->report().value().vector_instructions;
    }
    const auto* const facet = dynamic_cast<const ArithmeticFacet*>(kernel_.get());
    if (!facet) return std::numeric_limits<double>::quiet_NaN();
    return interactions() * facet->arithmetic().float_lanes(law_.id);
  }
  std::string chosen() const override { return kernel_->chosen(static_cast<int>(bodies_.size()), masses_); }

 private:
  void evaluate() {
    ForceArgs args{.bodies = bodies_.data(),
                   .count = static_cast<int>(bodies_.size()),
                   .masses = masses_,
                   .law = law_,
                   .epilogue = {.accelerations = accelerations_.data()}};
    if (kernel_->tree()) args.evaluated = &evaluated_;
    kernel_->evaluate(args);
  }

  std::unique_ptr<ForceKernel> kernel_;
  std::vector<Vec4> bodies_, accelerations_;
  MassRange masses_;
  Law law_;
  std::uint64_t evaluated_ = 0;
};

}  // namespace

std::unique_ptr<OwnEvaluation> make_own_evaluation([[maybe_unused]] const Backends& backends, const Variant& variant,
                                                   const Bodies& bodies, const Law& law) {
#if ORRERY_HAVE_CUDA
  if (variant.kernel->backend == Backend::cuda) return make_cuda_evaluation(backends, variant, bodies, law);
#endif
  return std::make_unique<CpuEvaluation>(variant, bodies, law);
}

bool sums_forces(std::string_view part) {
  return part == "evaluation" || part == "walk" || part == "force";
}

}  // namespace orrery
