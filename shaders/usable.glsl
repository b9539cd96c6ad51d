// False for NaN, too. In integers, because compilers may turn a comparison of floats round and forget about NaN.
bool usable(vec4 v) { return all(lessThan(floatBitsToUint(v) & 0x7fffffffu, uvec4(floatBitsToUint(1e18)))); }
