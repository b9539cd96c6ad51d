#pragma once

#include "compute/core/bodies.h"
#include "compute/cuda/arrays.h"
#include "compute/cuda/device.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/shared_facets.h"
#include "tests/compute/support/backends.h"
#include "tests/test.h"

namespace orrery::test {

/// A CUDA kernel that evaluates one system of bodies after the other by gravity, and what it counts.
class Evaluations {
 public:
  /// Makes a kernel with room for up to `room` bodies.
  Evaluations(const KernelInfo& info, const Settings& settings, int room)
      : Evaluations{info.make(settings, backends().device()), room} {}
  /// Takes a kernel for the device that tests use.
  Evaluations(std::unique_ptr<ForceKernel> kernel, int room)
      : device_{*backends().device()},
        kernel_{std::move(kernel)},
        d_bodies_{device_, static_cast<std::size_t>(room)},
        d_accelerations_{device_, static_cast<std::size_t>(room)},
        d_evaluated_{device_, 1},
        stream_{device_} {
    ORRERY_CUDA_CHECK(cudaMemsetAsync(d_evaluated_.data(), 0, sizeof(std::uint64_t), stream_.get()));
  }

  /// Returns the accelerations.
  std::vector<Vec4> run(const Bodies& bodies, bool times_phases = false) {
    cuda::upload<Vec4>(bodies.positions, d_bodies_.data(), stream_.get());
    kernel_->evaluate({.bodies = d_bodies_.data(),
                       .count = bodies.count(),
                       .masses = mass_range(bodies.positions),
                       .law = {},
                       .epilogue = {.accelerations = d_accelerations_.data()},
                       .stream = stream_.get(),
                       .evaluated = d_evaluated_.data(),
                       .times_phases = times_phases});
    std::vector<Vec4> accelerations(bodies.positions.size());
    cuda::download<Vec4>(d_accelerations_.data(), accelerations, stream_.get());
    stream_.synchronize();
    return accelerations;
  }
  /// Interactions of all of them.
  std::uint64_t evaluated() const {
    std::uint64_t value = 0;
    cuda::download(d_evaluated_.data(), std::span{&value, 1}, stream_.get());
    stream_.synchronize();
    return value;
  }
  /// Returns the owners of `count` bodies in the latest evaluation.
  std::optional<BodyOwners> owners(int count) {
    read_owners(*kernel_, count, stream_.get());
    stream_.synchronize();
    return owners_of(*kernel_, count);
  }
  /// Returns cells of the latest evaluation's tree, at most `most`.
  std::vector<TreeCell> cells(int most) { return picked({.most = most}).cells; }
  PickedCells picked(const CellRequest& request) {
    kernel_->tree()->pick_cells(request, stream_.get());
    stream_.synchronize();
    return kernel_->tree()->cells().value_or(PickedCells{});
  }
  ForceKernel& kernel() { return *kernel_; }

 private:
  const cuda::Device& device_;
  std::unique_ptr<ForceKernel> kernel_;
  cuda::DeviceArray<Vec4> d_bodies_, d_accelerations_;
  cuda::DeviceArray<std::uint64_t> d_evaluated_;
  cuda::Stream stream_;
};

}  // namespace orrery::test
