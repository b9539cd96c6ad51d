#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/text.h"

namespace orrery {
/// En dash, shown in place of a number that is not known.
inline constexpr const char* unknown = "\u2013";

/// Formats with three significant digits and an SI prefix: "1.83 T/s". Returns `unknown` unless finite and > 0.
std::string format_rate(double value, const char* unit);

/// Formats with three significant digits: "0.153 ms", "12.4 ms", "1.20 s". Returns `unknown` unless finite and >= 0.
std::string format_ms(double ms);

/// Formats an interval: "0.300 – 2.100 ms". The lower end has at least three significant digits, the width at least
/// two; both have at most six decimals. Returns `unknown` unless 0 < low <= high and both are finite.
std::string format_interval_ms(double low_ms, double high_ms);

/// Formats the rate of frames that take `frame_ms` > 0: "60 frames/s", "1 frame/s", "0.2 frames/s".
std::string format_frames_per_s(double frame_ms);

/// Formats a ratio: "0.0118×", "1.00×", "37.2×", "1,846×". Returns `unknown` unless finite and > 0.
std::string format_speedup(double factor);

/// Formats a relative force error |da|/|a| with two digits: "3.1e-7". Returns "NaN" if forces are not finite.
std::string format_error(double error);

/// Formats with three significant digits: "0.153", "12.4", "-3". Very small or large numbers have two: "3.1e-7".
std::string format_value(double value);

/// Returns ", 4.1 % of the 0.21 s since the previous one" for work that took `ms` milliseconds. `gap_s` is the time in
/// seconds since the previous one. If it is none, returns an empty text.
std::string cost_share(double ms, std::optional<double> gap_s);

/// Formats a fraction of 1 as "0.02 %", "3.1 %", "37 %". Returns `unknown` unless finite and >= 0.
std::string format_percent(double share);

/// Reads numbers of bodies > 0, separated by commas: "4k, 16k". Returns nothing if an entry is not such a number. An
/// empty text gives an empty list.
std::optional<std::vector<int>> counts_of(std::string_view entry);

/// Reads numbers > 0, separated by commas: "0.01, 0.005". Returns nothing in the same cases as counts_of().
std::optional<std::vector<float>> positive_numbers_of(std::string_view entry);

/// Reads a seed: a whole number from 0 to the largest that the command line accepts. Returns nothing for other texts.
std::optional<std::uint64_t> seed_of(std::string_view entry);

/// Expands a leading "~" or "~/" to the home folder, as a shell does.
std::string path_of(std::string_view entry);

}  // namespace orrery
