#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/text.h"

namespace orrery {
/// An en dash: stands for a number that is not known (yet).
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

/// "4k, 16k": numbers of bodies > 0, separated by commas. Nothing if one is not such a number; an empty list for an
/// empty text.
std::optional<std::vector<int>> counts_of(std::string_view entry);

/// "0.01, 0.005": numbers > 0, separated by commas; likewise.
std::optional<std::vector<float>> positive_numbers_of(std::string_view entry);

/// A seed as it is typed: a whole number from 0 to the largest that the command line takes; nothing for anything else.
std::optional<std::uint64_t> seed_of(std::string_view entry);

/// The path of a file as it is typed: a leading "~" or "~/" stands for the home folder, as in a shell.
std::string path_of(std::string_view entry);

}  // namespace orrery
