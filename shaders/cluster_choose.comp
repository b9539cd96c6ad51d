#version 450 core

// Sets the first ball around the largest cluster: the present one, unless another has clearly more mass.
layout(local_size_x = 1) in;

#include "usable.glsl"
#include "centre.glsl"
#include "cluster.glsl"

uniform bool searched;  // the grid was filled

const float clearly = 1.25;      // times the mass of the present one
const float first_radius = 0.6;  // in mean distances: holds the whole block

// Of the block with most mass of those that hold the present centre; 0 if there is none.
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
