// Two sums in one 64-bit texel: light and its first share, or its second and third share (see body.glsl), in units of
// 1 / quanta.
// Integers add up to the same picture in any order. Drivers without 64-bit atomics add the halves one by one.
#ifdef ATOMIC_INT64
#define TEXEL uint64_t
#define ADD(texel, sums) atomicAdd(texel, packUint2x32(sums))
#define SUMS(texel) unpackUint2x32(texel)
#define ZERO uint64_t(0)
#else
#define TEXEL uvec2
#define ADD(texel, sums) (atomicAdd(texel.x, (sums).x), atomicAdd(texel.y, (sums).y))
#define SUMS(texel) (texel)
#define ZERO uvec2(0)
#endif
