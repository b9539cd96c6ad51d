// Turns light into a picture: exposure, glow, colours. See ToneMap in render/passes/body_renderer.h.

#section colours
layout(binding = 2) uniform sampler2D colours;  // one row per colour map, from its low to its high end
uniform int colour_map;

// Returns the colour at `share` of the map, 0 to 1 from low to high. A row has so many colours that the nearest
// suffices.
vec3 mapped_colour(float share) {
  const float last = float(textureSize(colours, 0).x - 1);
  return texelFetch(colours, ivec2(int(share * last + 0.5), colour_map), 0).rgb;
}

#section encode
vec3 encode_srgb(vec3 c) {
  return mix(12.92 * c, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, greaterThan(c, vec3(0.0031308)));
}

// Interleaved gradient noise (Jimenez 2014), -0.5 to 0.5: breaks up bands between neighbouring values of eight bits.
float noise(vec2 p) { return fract(52.9829189 * fract(dot(p, vec2(0.06711056, 0.00583715)))) - 0.5; }

vec4 encoded(vec3 light, ivec2 pixel) {
  return vec4(encode_srgb(max(light, vec3(0.0))) + noise(vec2(pixel) + 0.5) / 255.0, 1.0);
}

#section exposure
const uint bins = 64u;
const float bins_per_octave = 2.0;
const float dark = 6.1e-5;  // light too faint for any picture

layout(std430, binding = 0) buffer Exposure {
  float automatic;  // found by #meter and #expose; 0: not known yet
  uint histogram[bins];
};

#section tone_map
// Turns light and its shares (see bodies.glsl#body) into a picture: light on a dark background, or with INK defined,
// ink on white. With PARTS defined, the shares are colours of parts. These are macros, because a software renderer
// would execute both sides of a condition.
layout(local_size_x = 16, local_size_y = 16) in;

layout(binding = 0) uniform sampler2D light;
layout(binding = 1) uniform sampler2D glow;
layout(rgba8, binding = 0) writeonly uniform image2D picture;
uniform float exposure;
uniform bool auto_exposure;  // whether `exposure` scales the metered exposure instead of the light
uniform vec3 unknown_colour;

#include "#colours"
#include "#encode"
#include "#exposure"

const float hottest = 3e4;   // brighter light is white as well, and infinity would be no colour
const float glow_weight = 0.58;
const float softness = 4.0;  // strength of the stretch: lifts shadows relative to lights
const float white = 10.0;    // light that becomes full white
const float most_layers = 2.5;

// The logarithmic stretch of Lupton et al. 2004 (PASP 116, 133): linear in faint light, logarithmic in bright.
float stretch(float x) { return log(1.0 + softness * x) / log(1.0 + softness * white); }
vec3 stretch(vec3 x) { return log(1.0 + softness * x) / log(1.0 + softness * white); }

// Returns the light in the colour of the mean value along the line of sight. Faint light keeps this colour. Bright
// light tends to white (see toned()), so values of dense cores cannot be read off the colour map.
vec3 coloured(vec4 sums) {
#ifdef PARTS
  return sums.yzw;
#else
  const float known = max(sums.x - sums.z, 0.0);
  return known * mapped_colour(clamp(sums.y / max(known, 1e-20), 0.0, 1.0)) + sums.z * unknown_colour;
#endif
}

#ifdef INK
// Layers of ink absorb light: one layer on white has the colour of the map, and dense cores are darker. There is no
// glow, since paper does not shine.
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
  // Stretching only the brightest channel keeps the hue; stretching each burns to white. Dense cores should do both.
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

#section density
// Turns mass per area into a picture.
layout(local_size_x = 16, local_size_y = 16) in;

layout(binding = 0) uniform sampler2D density;
layout(rgba8, binding = 0) writeonly uniform image2D picture;
uniform vec2 range;  // densities, or their logarithms, of the first and the last colour
uniform bool logarithmic;

#include "#colours"
#include "#encode"

void main() {
  const ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
  if (any(greaterThanEqual(pixel, imageSize(picture)))) return;
  const float value = texelFetch(density, pixel, 0).r;
  const float at = logarithmic ? log(max(value, 1e-30)) : value;
  const float share = clamp((at - range.x) / (range.y - range.x), 0.0, 1.0);
  imageStore(picture, pixel, encoded(mapped_colour(share), pixel));
}

#section meter
// Counts the lit pixels of an image of light by the logarithm of their light.
layout(local_size_x = 16, local_size_y = 16) in;

layout(binding = 0) uniform sampler2D light;

#include "#exposure"

shared uint counts[bins];

void main() {
  const uint thread = gl_LocalInvocationIndex;
  if (thread < bins) counts[thread] = 0u;
  barrier();
  const ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
  const float seen = all(lessThan(pixel, textureSize(light, 0))) ? texelFetch(light, pixel, 0).r : 0.0;
  if (seen > dark) atomicAdd(counts[clamp(int(bins_per_octave * log2(seen / dark)), 0, int(bins) - 1)], 1u);
  barrier();
  const uint bin = min(thread, bins - 1u);  // drivers may read a count before they check its index
  if (thread < bins && counts[bin] > 0u) atomicAdd(histogram[bin], counts[bin]);
}

#section expose
// Finds the exposure at which all lit pixels except the brightest hundredth are below white. It moves a tenth of the
// way in each picture, as an eye adapts; the first picture sets it.
layout(local_size_x = 1) in;

#include "#exposure"

const float brighter = 0.01;  // share of the lit pixels
const float bright = 3.0;     // exposed light of the faintest pixel in the brightest hundredth
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

#section nine_samples
// Returns a weighted mean of nine bilinear samples around `place`, in texels of the source: at `offsets` along each
// axis, in the direction `side`.
vec4 nine_samples(sampler2D source, vec2 place, vec3 offsets, vec3 weights, vec2 side) {
  const vec2 texel = 1.0 / vec2(textureSize(source, 0));
  vec4 sum = vec4(0.0);
  for (int y = 0; y < 3; ++y) {
    for (int x = 0; x < 3; ++x) {
      const vec2 off = side * vec2(offsets[x], offsets[y]);
      sum += weights[x] * weights[y] * textureLod(source, (place + off) * texel, 0.0);
    }
  }
  return sum;
}

#section reduce
// Makes a smaller, softer image of the light: each texel covers `ratio` x `ratio` texels of the source, 4 or 2.
layout(local_size_x = 8, local_size_y = 8) in;

layout(binding = 0) uniform sampler2D source;
layout(rgba16f, binding = 0) writeonly uniform image2D reduced;
uniform int ratio;

#include "#nine_samples"

const float hottest = 3e4;  // limit of the light, so that half floats can add it up

void main() {
  const ivec2 texel = ivec2(gl_GlobalInvocationID.xy), size = imageSize(reduced);
  if (any(greaterThanEqual(texel, size))) return;
  const vec2 place = float(ratio) * (vec2(texel) + 0.5);
  // If the ratio is 2, these are the weights 1, 5, 10, 10, 5, 1. Wherever a body is in a texel, the texels around get
  // its light with the same centre, width and symmetry. So its glow is round and moves smoothly with it.
  const vec4 light = ratio == 2 ? nine_samples(source, place, vec3(-1.0, 0.0, 1.0) * (5.0 / 3.0),
                                               vec3(3.0, 10.0, 3.0) / 16.0, vec2(1.0))
                                : nine_samples(source, place, vec3(-2.0, 0.0, 2.0), vec3(1.0, 2.0, 1.0) / 4.0, vec2(1.0));
  imageStore(reduced, texel, min(light, vec4(hottest)));
}

#section widen
// Adds the glow of the next wider level to a level.
layout(local_size_x = 8, local_size_y = 8) in;

layout(binding = 0) uniform sampler2D wider;
layout(rgba16f, binding = 0) uniform image2D level;
uniform float own_share;  // share of the level's own light that stays

#include "#nine_samples"

const float wider_share = 0.7;

void main() {
  const ivec2 texel = ivec2(gl_GlobalInvocationID.xy), size = imageSize(level);
  if (any(greaterThanEqual(texel, size))) return;
  // These are the weights of a quintic B-spline of the wider level, nearly a round Gaussian, at a quarter of a wider
  // texel from its centre. Three bilinear samples give the six weights along each axis.
  const vec2 side = vec2(texel & 1) * 2.0 - 1.0;
  const vec4 glow = nine_samples(wider, 0.5 * (vec2(texel) + 0.5), vec3(-1.2655849, 0.1370095, 1.7503205),
                                 vec3(0.1268880, 0.8477214, 0.0253906), side);
  imageStore(level, texel, own_share * imageLoad(level, texel) + wider_share * glow);
}
