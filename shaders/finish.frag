#version 450 core

in vec2 place;

layout(location = 0) out vec4 pixel;
layout(binding = 0) uniform sampler2D light;
layout(binding = 1) uniform sampler2D glow;
uniform float exposure;

const float hottest = 3e4;       // half floats end in infinity, of which no curve makes a colour
const float glow_weight = 0.55;
const float softness = 4.0;     // of the stretch: how far shadows are lifted against lights
const float white = 10.0;        // the light that becomes full white

// The logarithmic stretch of Lupton et al. 2004 (PASP 116, 133): linear in faint light, logarithmic in bright.
float stretch(float x) { return log(1.0 + softness * x) / log(1.0 + softness * white); }
vec3 stretch(vec3 x) { return log(1.0 + softness * x) / log(1.0 + softness * white); }

vec3 encode_srgb(vec3 c) {
  return mix(12.92 * c, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, greaterThan(c, vec3(0.0031308)));
}

// Interleaved gradient noise (Jimenez 2014), -0.5 to 0.5.
float noise(vec2 p) { return fract(52.9829189 * fract(dot(p, vec2(0.06711056, 0.00583715)))) - 0.5; }

void main() {
  const vec3 bodies = texelFetch(light, ivec2(gl_FragCoord.xy), 0).rgb + glow_weight * textureLod(glow, place, 0.0).rgb;
  const vec3 c = exposure * min(bodies, vec3(hottest));
  const float most = max(max(c.r, c.g), max(c.b, 1e-6));
  // Stretching the brightest channel alone keeps the hue, stretching each burns to white: dense cores should do both.
  const vec3 shown = min(mix(c * (stretch(most) / most), stretch(c), 0.65), vec3(1.0));
  const vec2 from_centre = place - 0.5;
  const vec3 sky = vec3(0.0020, 0.0028, 0.0062) * (1.0 - 1.4 * dot(from_centre, from_centre));
  pixel = vec4(encode_srgb(max(shown + sky * (1.0 - shown), vec3(0.0))) + noise(gl_FragCoord.xy) / 255.0, 1.0);
}
