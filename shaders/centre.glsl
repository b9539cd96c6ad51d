// Code that the shaders of render/passes/centre_finder.h share. Bodies whose numbers are not usable, and those without mass,
// do not count.
layout(std430, binding = 2) buffer Search {
  vec4 ball;                   // that the next sum is over; in w its radius
  uint stopped;                // no more sums
  uint begins;                 // what the next ball is
  uint best_mass, best_block;  // of the grid, see cluster.glsl
  // The numbers above are set for each search, those below are kept.
  vec4 found;     // the centre; in w the mass that it is the centre of, 0: none
  uint switches;  // times that another cluster was chosen
  float reach;    // radius of the last ball around the found centre
  uint counted;   // bodies in the first ball around the cluster
  float mass;     // of the scene
  vec4 scene;     // middle of nearly all bodies; in w their mean distance from it
};

// Values of `begins`: a ball that follows on another one, the first one around a new cluster, the first one around the
// present cluster, and one that only counts the bodies of the present cluster.
const uint follows = 0u, at_new = 1u, at_present = 2u, for_count = 3u;

const float back = 2.0;  // where the balls of a search begin, over where those of the last one ended

bool counts(vec4 position) { return usable(position) && position.w > 0.0; }
