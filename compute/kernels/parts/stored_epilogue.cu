#include "compute/cuda/launch.h"
#include "compute/kernels/parts/scratch.h"
#include "compute/kernels/parts/stored_epilogue.h"

namespace orrery {
namespace {

constexpr int block = 128;

__global__ void kick(const Vec4* __restrict__ accelerations, const Vec4* __restrict__ bodies, int count,
                     Vec4* __restrict__ velocities, float drag, float dt) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  const Vec4 a = accelerations[i];
  velocities[i] = Epilogue::kicked(velocities[i], {a.x, a.y, a.z}, bodies[i].w, drag, dt);
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
  const Epilogue& asked = args.epilogue;
  if (!asked.velocities) return;
  kick<<<cuda::ceil_div(args.count, block), block, 0, args.stream>>>(
      storing(args).accelerations, args.bodies, args.count, asked.velocities, asked.drag, asked.kick_dt);
  ORRERY_CUDA_CHECK_LAUNCH(kick);
}

}  // namespace orrery
