#version 450 core

// Light and its shares (see body.glsl) to a picture: light in the dark, or with INK defined ink on white. With PARTS
// defined, the shares are colours of parts. A software renderer would execute both sides of a condition.
layout(local_size_x = 16, local_size_y = 16) in;

layout(binding = 0) uniform sampler2D light;
layout(binding = 1) uniform sampler2D glow;
layout(rgba8, binding = 0) writeonly uniform image2D picture;
uniform float exposure;
uniform bool auto_exposure;  // scales the metered exposure instead of the light
uniform vec3 unknown_colour;

#include "colours.glsl"
#include "encode.glsl"
#include "exposure.glsl"

const float hottest = 3e4;   // more is white as well, and infinity would be no colour
const float glow_weight = 0.58;
const float softness = 4.0;  // of the stretch: how far shadows are lifted against lights
const float white = 10.0;    // the light that becomes full white
const float most_layers = 2.5;

// The logarithmic stretch of Lupton et al. 2004 (PASP 116, 133): linear in faint light, logarithmic in bright.
float stretch(float x) { return log(1.0 + softness * x) / log(1.0 + softness * white); }
vec3 stretch(vec3 x) { return log(1.0 + softness * x) / log(1.0 + softness * white); }

// The light in its colour: that of the mean value on the line of sight. Faint light keeps it; bright light tends to
// white (see toned()), so values of dense cores cannot be read off the colour map.
vec3 coloured(vec4 sums) {
#ifdef PARTS
  return sums.yzw;
#else
  const float known = max(sums.x - sums.z, 0.0);
  return known * mapped_colour(clamp(sums.y / max(known, 1e-20), 0.0, 1.0)) + sums.z * unknown_colour;
#endif
}

#ifdef INK
// Layers of ink absorb light: one layer on white has the colour of the map, and dense cores are darker. The glow stays
// away, since paper does not shine.
vec3 toned(vec4 bodies, float exposed, vec2 place) {
  const float layers = most_layers * min(stretch(min(exposed * bodies.x, hottest)), 1.0);
  if (!(bodies.x > 0.0)) return vec3(1.0);
  return pow(max(coloured(bodies) / bodies.x, vec3(0.0)), vec3(layers));
}
#else
vec3 toned(vec4 bodies, float exposed, vec2 place) {
  const vec2 covered = vec2(imageSize(picture)) / (4.0 * vec2(textureSize(glow, 0)));
  const vec4 halo = textureLod(glow, place * covered, 0.0);
  const vec3 c = min(exposed * (coloured(bodies) + glow_weight * coloured(halo)), vec3(hottest));
  const float most = max(max(c.r, c.g), max(c.b, 1e-6));
  // Stretching the brightest channel alone keeps the hue, stretching each burns to white: dense cores should do both.
  const vec3 shown = min(mix(c * (stretch(most) / most), stretch(c), 0.65), vec3(1.0));
  const vec2 from_centre = place - 0.5;
  const vec3 sky = vec3(0.0020, 0.0028, 0.0062) * (1.0 - 1.4 * dot(from_centre, from_centre));
  return shown + sky * (1.0 - shown);
}
#endif

void main() {
  const ivec2 pixel = ivec2(gl_GlobalInvocationID.xy), size = imageSize(picture);
  if (any(greaterThanEqual(pixel, size))) return;
  const vec2 place = (vec2(pixel) + 0.5) / vec2(size);
  const float exposed = exposure * (auto_exposure && automatic > 0.0 ? automatic : 1.0);
  imageStore(picture, pixel, encoded(toned(texelFetch(light, pixel, 0), exposed, place), pixel));
}
