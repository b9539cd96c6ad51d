// The mass in the cells of a grid about the middle of the scene, in integers so that every run adds the same.
const uint side = 64u;                 // of the grid, in cells
const float cells_per_distance = 3.0;  // per mean distance of the bodies: the grid reaches ten of these
const float quanta = 1073741824.0;     // of the mass of the scene: sums stay below 2^32

layout(std430, binding = 3) buffer Cells { uint cells[]; };

uint index_of(uvec3 cell) { return (cell.z * side + cell.y) * side + cell.x; }

// Returns the mass of the block of 2 x 2 x 2 cells with this lowest cell; 0 if the block is not entirely within the
// grid.
uint mass_of_block(uvec3 lowest) {
  if (any(greaterThanEqual(lowest, uvec3(side - 1u)))) return 0u;
  uint sum = 0u;
  for (uint corner = 0u; corner < 8u; ++corner) {
    sum += cells[index_of(lowest + uvec3(corner & 1u, corner >> 1 & 1u, corner >> 2))];
  }
  return sum;
}

// In cells from the lowest corner of the grid.
vec3 in_cells(vec3 position) {
  return (position - scene.xyz) * (cells_per_distance / scene.w) + 0.5 * float(side);
}
