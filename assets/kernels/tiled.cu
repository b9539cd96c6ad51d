// id: tiled-example
// title: Tiled example
// notes: Each block stages tiles of bodies in shared memory; each thread sums the pull on one body.
// tunable block = 64 128 [256] 512: Threads in a block, and bodies in a tile.
// tunable unroll = 1 4 [8] 16: Bodies in one pass of the inner loop.

// block and unroll are constants with the values that are set. Each thread has one target, in blocks of `block`
// threads.
__global__ void accelerate(Targets targets, Sources sources, PairLaw law, Epilogue epilogue) {
  __shared__ Vec4 tile[block];
  const int lane = threadIdx.x;
  const int place = blockIdx.x * block + lane;
  const int i = place < targets.count ? targets.body(place) : 0;  // no early return: every thread meets the barriers
  const Vec4 me = sources.bodies[i];

  Vec3 acceleration;
  for (int first = 0; first < sources.count; first += block) {
    const int j = first + lane;
    tile[lane] = j < sources.count ? sources.bodies[j] : Vec4{};  // a zero mass pulls nothing
    __syncthreads();
#pragma unroll unroll
    for (int next = 0; next < block; ++next) add_pull(acceleration, law, me.x, me.y, me.z, tile[next]);
    __syncthreads();  // the tile is refilled only after all threads have read it
  }
  if (place < targets.count) epilogue.finish(i, me.w, acceleration);
}
