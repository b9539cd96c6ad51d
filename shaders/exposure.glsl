const uint bins = 64u;
const float bins_per_octave = 2.0;
const float dark = 6.1e-5;  // light that no picture shows

layout(std430, binding = 0) buffer Exposure {
  float automatic;  // that meter.comp and expose.comp find; 0: not known yet
  uint histogram[bins];
};
