// Sums over bodies in a ball, added in an order that depends on the number of bodies alone.
struct Sums {
  vec4 moment;   // of the mass about the middle of the ball; in w the mass
  float spread;  // sum of mass times distance from the middle of the ball
  uint count;
};

layout(std430, binding = 4) buffer Partial { Sums partial[]; };  // one for each group

shared Sums sums[256];  // one for each thread of the group

void add(inout Sums own, Sums other) {
  own.moment += other.moment;
  own.spread += other.spread;
  own.count += other.count;
}

// Returns the totals of all threads of the group, on its first thread.
Sums total_of(Sums own) {
  const uint thread = gl_LocalInvocationIndex;
  sums[thread] = own;
  barrier();
  for (uint others = gl_WorkGroupSize.x / 2u; others > 0u; others /= 2u) {
    if (thread < others) add(sums[thread], sums[thread + others]);
    barrier();
  }
  return sums[0];
}
