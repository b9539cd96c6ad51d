// Search for the centre of mass and of the largest cluster. See render/passes/centre_finder.h.

#section search
// Code that the shaders of render/passes/centre_finder.h share. Bodies without mass, or whose numbers are not usable,
// do not count.
layout(std430, binding = 2) buffer Search {
  vec4 ball;                   // ball of the next sum; in w its radius
  uint stopped;                // 1: makes no more sums
  uint begins;                 // kind of the next ball, see below
  uint best_mass, best_block;  // mass and index of the grid's best block, see #grid
  // The numbers above are set for each search; those below are kept.
  vec4 found;     // centre of mass; in w that mass, 0: none
  uint switches;  // number of times that another cluster was chosen
  float reach;    // radius of the last ball around the found centre
  uint counted;   // number of bodies in the first ball around the cluster
  float mass;     // mass of the scene
  vec4 scene;     // middle of nearly all bodies; in w their mean distance from it
};

// Values of `begins`: a ball after another, the first ball around a new cluster, the first ball around the current
// cluster, and a ball that only counts the bodies of the current cluster.
const uint follows = 0u, at_new = 1u, at_present = 2u, for_count = 3u;

const float back = 2.0;  // radius of the first ball of a search, relative to the last ball of the previous search

bool counts(vec4 position) { return usable(position) && position.w > 0.0; }

#section sums
// Sums over the bodies in a ball, added in an order that depends only on the number of bodies.
struct Sums {
  vec4 moment;   // mass times the position relative to the ball's middle; in w the mass
  float spread;  // sum of mass times distance from the middle of the ball
  uint count;
};

layout(std430, binding = 4) buffer Partial { Sums partial[]; };  // one entry per group

shared Sums sums[256];  // one entry per thread of the group

void add(inout Sums own, Sums other) {
  own.moment += other.moment;
  own.spread += other.spread;
  own.count += other.count;
}

// Returns the totals of all threads of the group. They are valid on its first thread.
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

#section sum
// Sums over the bodies in the ball. Makes one sum per group.
layout(local_size_x = 256) in;

#include "bodies.glsl#usable"
#include "#search"
#include "#sums"

uniform int count;        // number of bodies in `positions`
uniform int part;         // part of the scene; -1: all bodies
uniform int first_group;  // index of the first group's sum

layout(std430, binding = 0) readonly buffer Positions { vec4 positions[]; };
layout(std430, binding = 1) readonly buffer Parts { uint parts[]; };  // one byte per body

bool has_part(uint i) { return part < 0 || (parts[i >> 2] >> 8u * (i & 3u) & 255u) == uint(part); }

void examine(uint i, inout Sums own) {
  const vec4 position = positions[i];
  if (!counts(position) || !has_part(i)) return;
  const vec3 from_middle = position.xyz - ball.xyz;
  const float away = length(from_middle);
  if (away <= ball.w) add(own, Sums(position.w * vec4(from_middle, 1.0), position.w * away, 1u));
}

void sum_up() {
  const uint stride = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  Sums own = Sums(vec4(0.0), 0.0, 0u);
  for (uint i = gl_GlobalInvocationID.x; i < uint(count); i += stride) examine(i, own);
  const Sums all = total_of(own);
  if (gl_LocalInvocationIndex == 0u) partial[uint(first_group) + gl_WorkGroupID.x] = all;
}

void main() {
  if (stopped == 0u) sum_up();
}

#section step
// Adds the sums of all groups and takes one step of the search, see render/passes/centre_finder.h.
layout(local_size_x = 256) in;

#include "bodies.glsl#usable"
#include "#search"
#include "#sums"

const int of_mass = 0, of_scene = 1;               // values of `taken`; 2 shrinks the ball
const float scene_reach = 8.0;                     // in mean distances: at most an eighth of the mass is farther away
const uint least_count = 32u, least_share = 4u;    // minimum bodies in a ball: 32, and a quarter of the first ball's
const float shrinking = 0.70710678;                // radius of a ball over that of the previous ball

uniform int taken;  // purpose of the sums, see CentreFinder::Sum
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

#section grid
// Mass in the cells of a grid around the middle of the scene, in integers so that every run adds up to the same.
const uint side = 64u;                 // cells along each edge of the grid
const float cells_per_distance = 3.0;  // cells per mean distance of the bodies: the grid reaches ten such distances
const float quanta = 1073741824.0;     // quanta per mass of the scene: sums stay below 2^32

layout(std430, binding = 3) buffer Cells { uint cells[]; };

uint index_of(uvec3 cell) { return (cell.z * side + cell.y) * side + cell.x; }

// Returns the mass of the block of 2 x 2 x 2 cells with this lowest cell, or 0 if the block is not entirely in the
// grid.
uint mass_of_block(uvec3 lowest) {
  if (any(greaterThanEqual(lowest, uvec3(side - 1u)))) return 0u;
  uint sum = 0u;
  for (uint corner = 0u; corner < 8u; ++corner) {
    sum += cells[index_of(lowest + uvec3(corner & 1u, corner >> 1 & 1u, corner >> 2))];
  }
  return sum;
}

// Returns a position in cells from the lowest corner of the grid.
vec3 in_cells(vec3 position) {
  return (position - scene.xyz) * (cells_per_distance / scene.w) + 0.5 * float(side);
}

#section cells
// Adds the mass of the bodies to the cells of the grid.
layout(local_size_x = 256) in;

#include "bodies.glsl#usable"
#include "#search"
#include "#grid"

uniform int count;  // number of bodies in `positions`

layout(std430, binding = 0) readonly buffer Positions { vec4 positions[]; };

void examine(uint i) {
  const vec4 position = positions[i];
  if (!counts(position)) return;
  const vec3 place = floor(in_cells(position.xyz));
  if (any(lessThan(place, vec3(0.0))) || any(greaterThanEqual(place, vec3(side)))) return;
  atomicAdd(cells[index_of(uvec3(place))], uint(quanta * min(position.w / mass, 1.0) + 0.5));
}

void main() {
  if (stopped != 0u || !(scene.w > 0.0)) return;
  const uint stride = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  for (uint i = gl_GlobalInvocationID.x; i < uint(count); i += stride) examine(i);
}

#section find
// Finds the block of cells with the largest mass; among several, the first one.
layout(local_size_x = 256) in;

#include "bodies.glsl#usable"
#include "#search"
#include "#grid"

uniform int stage;  // 0: finds the mass, 1: finds the block

void main() {
  const uint i = gl_GlobalInvocationID.x;
  const uint sum = mass_of_block(uvec3(i % side, i / side % side, i / (side * side)));
  if (sum == 0u) return;
  if (stage == 0) {
    atomicMax(best_mass, sum);
  } else if (sum == best_mass) {
    atomicMin(best_block, i);
  }
}

#section choose
// Sets the first ball around the largest cluster: the current one, unless another has more than `clearly` times its
// mass.
layout(local_size_x = 1) in;

#include "bodies.glsl#usable"
#include "#search"
#include "#grid"

uniform bool searched;  // whether the grid was filled

const float clearly = 1.25;      // ratio of another cluster's mass to the current one's
const float first_radius = 0.6;  // in mean distances: the ball holds the whole block

// Returns the largest mass of the blocks that contain the current centre, or 0 if there is none.
uint present_mass() {
  const vec3 place = floor(in_cells(found.xyz));
  uint most = 0u;
  if (!(found.w > 0.0) || any(lessThan(place, vec3(1.0))) || any(greaterThanEqual(place, vec3(side)))) return most;
  for (uint corner = 0u; corner < 8u; ++corner) {
    most = max(most, mass_of_block(uvec3(place) - uvec3(corner & 1u, corner >> 1 & 1u, corner >> 2)));
  }
  return most;
}

vec3 middle_of(uint block) {
  const uvec3 lowest = uvec3(block % side, block / side % side, block / (side * side));
  return scene.xyz + (vec3(lowest) + 1.0 - 0.5 * float(side)) * (scene.w / cells_per_distance);
}

void choose() {
  const float radius = first_radius * scene.w;  // 0 if all bodies are at one place
  const bool stays = radius > 0.0 && float(best_mass) <= clearly * float(present_mass());
  if (searched && !stays) {
    begins = at_new;
    ball = vec4(radius > 0.0 ? middle_of(best_block) : scene.xyz, radius);
    if (radius > 0.0 || !(found.w > 0.0)) switches += 1u;
  } else if (searched) {
    begins = for_count;
    ball = vec4(found.xyz, radius);
  } else {
    begins = at_present;
    ball = vec4(found.xyz, min(back * reach, radius));
  }
}

void main() {
  stopped = found.w > 0.0 || searched && stopped == 0u ? 0u : 1u;
  if (stopped == 0u) choose();
}
