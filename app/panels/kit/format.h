#pragma once

#include <optional>
#include <string>

#include "compute/core/text.h"

namespace orrery {

/// What stands for a number that is not known (yet): an en dash.
inline constexpr const char* unknown = "\u2013";

/// Three significant digits and an SI prefix: "1.83 T/s". `unknown` unless value is finite and > 0.
std::string format_rate(double value, const char* unit);
/// Milliseconds with three significant digits, as "0.153 ms", "12.4 ms", "1.20 s". `unknown` unless finite and >= 0.
std::string format_ms(double ms);
/// "0.300 – 2.100 ms": the lower end with three significant digits at least, the width with two, six decimals at
/// most. `unknown` unless 0 < low <= high and both are finite.
std::string format_interval_ms(double low_ms, double high_ms);
/// "60 frames/s", "1 frame/s", "0.2 frames/s", of frames that take `frame_ms` > 0.
std::string format_frames_per_s(double frame_ms);
/// "0.0118×", "1.00×", "37.2×", "1,846×". `unknown` unless finite and > 0.
std::string format_speedup(double factor);
/// |da|/|a| with two digits, as "3.1e-7"; "NaN" where forces are not finite.
std::string format_error(double error);
/// Three significant digits as "0.153", "12.4", "-3"; two if the number is very small or large, as "3.1e-7".
std::string format_value(double value);
/// ", 4.1 % of the 0.21 s since the previous one", for work that took `ms`; empty if that time is not known.
std::string cost_share(double ms, std::optional<double> gap_s);
/// A share of 1 as "0.02 %", "3.1 %", "37 %". `unknown` unless finite and >= 0.
std::string format_percent(double share);

}  // namespace orrery
