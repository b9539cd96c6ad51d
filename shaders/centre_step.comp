#version 450 core

// Adds the sums of all groups and takes one step of the search, see render/passes/centre_finder.h.
layout(local_size_x = 256) in;

#include "usable.glsl"
#include "centre.glsl"
#include "centre_sums.glsl"

const int of_mass = 0, of_scene = 1;               // the last step shrinks the ball
const float scene_reach = 8.0;                     // mean distances: at most an eighth of the mass is farther
const uint least_count = 32u, least_share = 4u;    // bodies in a ball: this many, and a quarter of the first ball's
const float shrinking = 0.70710678;                // a radius over the one before

uniform int taken;  // what the sums are
uniform int groups;

vec3 centre_of(Sums sum) { return ball.xyz + sum.moment.xyz / sum.moment.w; }

void take_scene(Sums sum) {
  mass = sum.moment.w;
  scene = vec4(centre_of(sum), sum.spread / sum.moment.w);
  ball = vec4(scene.xyz, scene_reach * scene.w);
}

void shrink(Sums sum) {
  const bool enough = sum.count >= max(least_count, counted / least_share);
  if (enough || begins != follows) {
    found = vec4(centre_of(sum), sum.moment.w);
    reach = ball.w;
    ball = vec4(found.xyz, shrinking * ball.w);
  }
  begins = follows;
  if (!enough) stopped = 1u;
}

void take_ball(Sums sum) {
  if (begins == at_new || begins == for_count) counted = sum.count;
  if (begins == for_count) {
    ball.w = min(back * reach, ball.w);
    begins = at_present;
  } else {
    shrink(sum);
  }
}

void take(Sums sum) {
  const bool some = sum.moment.w > 0.0;
  if (taken == of_mass) {
    found = some ? vec4(centre_of(sum), sum.moment.w) : vec4(0.0);
  } else if (!some && (taken == of_scene || begins != follows)) {
    found = vec4(0.0);
    stopped = 1u;
  } else if (taken == of_scene) {
    take_scene(sum);
  } else {
    take_ball(sum);
  }
}

void step_on() {
  Sums own = Sums(vec4(0.0), 0.0, 0u);
  for (uint i = gl_LocalInvocationIndex; i < uint(groups); i += gl_WorkGroupSize.x) add(own, partial[i]);
  const Sums all = total_of(own);
  if (gl_LocalInvocationIndex == 0u) take(all);
}

void main() {
  if (stopped == 0u) step_on();
}
