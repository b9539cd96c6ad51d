#include <cuda_profiler_api.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "app/features/profile/measure_profile.h"
#include "compute/core/error.h"
#include "compute/cuda/arrays.h"
#include "compute/cuda/device.h"

namespace orrery {
namespace {

/// Passes the marks of phases to the profiler. Each phase runs alone on the stream.
class MarkedPhases final : public PhaseMarks {
 public:
  MarkedPhases(cuda::RangeMarks& marks, const cuda::Stream& stream) : marks_{marks}, stream_{stream} {}
  void begin(const char* phase) override {
    stream_.synchronize();
    marks_.begin(phase);
  }
  void end() override {
    stream_.synchronize();
    marks_.end();
  }

 private:
  cuda::RangeMarks& marks_;
  const cuda::Stream& stream_;
};

class CudaEvaluation final : public OwnEvaluation {
 public:
  CudaEvaluation(const Backends& backends, const Variant& variant, const Bodies& bodies, const Law& law)
      : device_{*backends.device()},
        kernel_{backends.make_kernel(*variant.kernel, variant.settings)},
        count_{bodies.count()},
        masses_{mass_range(bodies.positions)},
        law_{law},
        stream_{device_},
        bodies_{device_, bodies.positions.size()},
        accelerations_{device_, bodies.positions.size()},
        evaluated_{device_, 1} {
    cuda::upload<Vec4>(bodies.positions, bodies_.data(), stream_.get());
    stream_.synchronize();
    kernel_->prepare(count_);
  }
  CudaEvaluation(const CudaEvaluation&) = delete;
  CudaEvaluation& operator=(const CudaEvaluation&) = delete;
  /// Blocks until kernels on the stream have ended, because they write to this object's memory.
  ~CudaEvaluation() override { ORRERY_CUDA_WARN(cudaStreamSynchronize(stream_.get())); }

  void start(int times) override {
    device_.activate();
    for (int time = 0; time < times; ++time) evaluate({});
  }
  void wait() override { stream_.synchronize(); }

  void run_marked(cuda::RangeMarks& marks) override {
    device_.activate();
    MarkedPhases phases{marks, stream_};
    if (kernel_->tree()) {
      evaluate({.phases = &phases});
    } else {
      phases.begin("evaluation");
      evaluate({});
      phases.end();
    }
    stream_.synchronize();
  }

  double interactions() override {
    if (!kernel_->tree()) return ForceKernel::interactions(count_);
    device_.activate();
    const std::uint64_t none = 0;
    cuda::upload(std::span{&none, 1}, evaluated_.data(), stream_.get());
    evaluate({.counts = true});
    std::uint64_t evaluated = 0;
    cuda::download(evaluated_.data(), std::span{&evaluated, 1}, stream_.get());
    stream_.synchronize();
    return static_cast<double>(evaluated);
  }

  double vector_instructions() override { return std::numeric_limits<double>::quiet_NaN(); }
  std::string chosen() const override { return kernel_->chosen(count_, masses_); }

 private:
  struct Extras {
    PhaseMarks* phases = nullptr;
    bool counts = false;
  };

  void evaluate(const Extras& extras) {
    ForceArgs args{.bodies = bodies_.data(),
                   .count = count_,
                   .masses = masses_,
                   .law = law_,
                   .epilogue = {.accelerations = accelerations_.data()},
                   .stream = stream_.get()};
    if (extras.counts) args.evaluated = evaluated_.data();
    args.phase_marks = extras.phases;
    kernel_->evaluate(args);
  }

  const cuda::Device& device_;
  std::unique_ptr<ForceKernel> kernel_;
  int count_;
  MassRange masses_;
  Law law_;
  cuda::Stream stream_;
  cuda::DeviceArray<Vec4> bodies_, accelerations_;
  cuda::DeviceArray<std::uint64_t> evaluated_;
};

class ExternalMarks final : public cuda::RangeMarks {
 public:
  void begin(const char* name) override {
    open_ = sums_forces(name);
    if (open_) ORRERY_CUDA_CHECK(cudaProfilerStart());
  }
  void end() override {
    if (std::exchange(open_, false)) ORRERY_CUDA_CHECK(cudaProfilerStop());
  }

 private:
  bool open_ = false;
};

}  // namespace

std::unique_ptr<OwnEvaluation> make_cuda_evaluation(const Backends& backends, const Variant& variant,
                                                    const Bodies& bodies, const Law& law) {
  return std::make_unique<CudaEvaluation>(backends, variant, bodies, law);
}

std::unique_ptr<cuda::RangeMarks> external_marks() {
  return std::make_unique<ExternalMarks>();
}

}  // namespace orrery
