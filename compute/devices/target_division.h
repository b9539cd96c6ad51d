#pragma once

#include <span>
#include <vector>

#include "compute/cuda/arrays.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Divides the evaluations of a kernel that takes targets but does not divide them itself. Each part is a range of the
/// targets. Every device gets all bodies.
class TargetDivision final : public DivisionFacet {
 public:
  /// `kernel` and `device` must outlive this.
  TargetDivision(ForceKernel& kernel, bool reads_low_words, const cuda::Device& device)
      : kernel_{kernel}, reads_low_words_{reads_low_words}, device_{device} {}

  void prepare_division(int count, int index, int devices) override;
  Blocks share_out(const ForceArgs& args, std::span<const Part> parts) override;
  Blocks receive(const ForceArgs& args, std::span<const Part> parts, std::span<const DeviceBlock> shared) override;
  void evaluate_part(const ForceArgs& args, const Part& part) override;
  Blocks results(const ForceArgs& args, const Part& part) override;
  Blocks places(const ForceArgs& args, const Part& part) override;
  void join(const ForceArgs& args, std::span<const Part> parts) override;

 private:
  void take_numbers(int count);
  void count_off(int count, cudaStream_t stream);

  ForceKernel& kernel_;
  bool reads_low_words_;
  const cuda::Device& device_;
  bool has_low_words_ = false;                                 // in the current evaluation, which needs them
  cuda::DeviceArray<int> all_;                                 // 0, 1, ...
  int numbered_ = 0;                                           // number of entries written in all_
  cuda::DeviceArray<Vec4> bodies_, bodies_low_;                // copies of the leader's bodies
  cuda::DeviceArray<int> targets_;                             // copy of the leader's targets
  cuda::DeviceArray<Vec4> accelerations_, accelerations_low_;  // results of the kernel, by body
  cuda::DeviceArray<Vec4> found_, found_low_;                  // accelerations of the targets, in their order
};

}  // namespace orrery
