#version 450 core

// The exposure at which all lit pixels but the brightest hundredth are below white. It changes by a tenth of the way in
// each picture, as an eye adapts, and at once in the first.
layout(local_size_x = 1) in;

#include "exposure.glsl"

const float brighter = 0.01;  // share of the lit pixels
const float bright = 3.0;     // see `white` in tone_map.comp
const float adaptation = 0.1;

void main() {
  uint lit = 0u;
  for (uint i = 0u; i < bins; ++i) lit += histogram[i];
  uint above = 0u;
  uint bin = bins;
  while (bin > 0u && float(above) <= brighter * float(lit)) above += histogram[--bin];
  for (uint i = 0u; i < bins; ++i) histogram[i] = 0u;
  if (lit == 0u) return;
  const float wanted = bright / (dark * exp2((float(bin) + 0.5) / bins_per_octave));
  automatic = automatic > 0.0 ? automatic * pow(wanted / automatic, adaptation) : wanted;
}
