#include "compute/cuda/launch.h"
#include "compute/kernels/parts/scratch.h"
#include "compute/kernels/parts/stored_epilogue.h"

namespace orrery {
namespace {

constexpr int block = 128;

__global__ void finish_all(const Vec4* __restrict__ accelerations, const Vec4* __restrict__ bodies, int count,
                           Epilogue epilogue) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  const Vec4 a = accelerations[i];
  epilogue.finish(i, bodies[i].w, {a.x, a.y, a.z});
}

}  // namespace

void StoredEpilogue::prepare(int count) {
  take_scratch(device_, own_, static_cast<std::size_t>(count), "the stored accelerations", instead_);
}

Epilogue StoredEpilogue::storing(const ForceArgs& args) {
  if (args.epilogue.accelerations) return {.accelerations = args.epilogue.accelerations};
  prepare(args.count);
  return {.accelerations = own_.data()};
}

void StoredEpilogue::finish(const ForceArgs& args) {
  if (!args.epilogue.velocities) return;
  Epilogue kick = args.epilogue;
  kick.accelerations = nullptr;
  finish_all<<<cuda::ceil_div(args.count, block), block, 0, args.stream>>>(storing(args).accelerations, args.bodies,
                                                                           args.count, kick);
  ORRERY_CUDA_CHECK_LAUNCH(finish_all);
}

}  // namespace orrery
