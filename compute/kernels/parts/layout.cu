#include "compute/cuda/launch.h"
#include "compute/kernels/parts/layout.h"
#include "compute/kernels/parts/scratch.h"

namespace orrery {
namespace {

constexpr int block = 256;

std::size_t floats_per_body(Layout layout) {
  return layout == Layout::float4 ? 0 : layout == Layout::aos6 ? 7 : 4;
}

/// Body i goes to x[i * stride], y[i * stride], z[i * stride] and mass[i].
__global__ void arrange(const Vec4* __restrict__ bodies, int count, int stride, float* __restrict__ x,
                        float* __restrict__ y, float* __restrict__ z, float* __restrict__ mass) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  const Vec4 body = load_vec4(bodies + i);
  const std::size_t at = static_cast<std::size_t>(i) * static_cast<std::size_t>(stride);
  x[at] = body.x;
  y[at] = body.y;
  z[at] = body.z;
  mass[i] = body.w;
}

}  // namespace

void BodyLayout::prepare(int count) {
  take_scratch(device_, copy_, floats_per_body(layout_) * static_cast<std::size_t>(count),
               "the bodies in another layout", "layout=float4");
}

BodyArrays BodyLayout::arranged(const ForceArgs& args) {
  if (layout_ == Layout::float4) return {.vectors = args.bodies};
  prepare(args.count);
  const std::size_t count = static_cast<std::size_t>(args.count);
  float* const x = copy_.data();
  const bool soa = layout_ == Layout::soa;
  float* const y = soa ? x + count : x + 1;
  float* const z = soa ? y + count : y + 1;
  float* const mass = x + (floats_per_body(layout_) - 1) * count;
  const int stride = soa ? 1 : layout_ == Layout::float3 ? 3 : 6;
  arrange<<<cuda::ceil_div(args.count, block), block, 0, args.stream>>>(args.bodies, args.count, stride, x, y, z, mass);
  ORRERY_CUDA_CHECK_LAUNCH(arrange);
  return {.x = x, .y = y, .z = z, .mass = mass};
}

}  // namespace orrery
