#pragma once

#include <span>
#include <vector>

#include "compute/cuda/arrays.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Target decomposition for kernels that take targets but do not implement PartitionFacet. Each part is a range of the
/// targets, and every device gets a copy of all bodies.
class TargetPartition final : public PartitionFacet {
 public:
  /// `kernel` and `device` must outlive this object.
  TargetPartition(ForceKernel& kernel, bool reads_low_words, const cuda::Device& device)
      : kernel_{kernel}, reads_low_words_{reads_low_words}, device_{device} {}

  void prepare_partition(int count, int index, int devices) override;
  Blocks prepare_inputs(const ForceArgs& args, std::span<const Part> parts) override;
  Blocks receive(const ForceArgs& args, std::span<const Part> parts, std::span<const DeviceBlock> shared) override;
  void evaluate_part(const ForceArgs& args, const Part& part) override;
  Blocks results(const ForceArgs& args, const Part& part) override;
  Blocks places(const ForceArgs& args, const Part& part) override;
  void join(const ForceArgs& args, std::span<const Part> parts) override;

 private:
  void allocate_indices(int count);
  void write_indices(int count, cudaStream_t stream);

  ForceKernel& kernel_;
  bool reads_low_words_;
  const cuda::Device& device_;
  bool has_low_words_ = false;                                 // whether the current evaluation reads low words
  cuda::DeviceArray<int> all_;                                 // all_[i] = i
  int written_ = 0;                                            // number of initialized entries of all_
  cuda::DeviceArray<Vec4> bodies_, bodies_low_;                // copies of the leader's bodies
  cuda::DeviceArray<int> targets_;                             // copy of the leader's targets
  cuda::DeviceArray<Vec4> accelerations_, accelerations_low_;  // accelerations, by body
  cuda::DeviceArray<Vec4> found_, found_low_;                  // accelerations, by index in the list of targets
};

}  // namespace orrery
