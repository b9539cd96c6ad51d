#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/text/csv.h"
#include "compute/diagnostics/reference.h"

namespace orrery {

/// A summary of measurements in any order; every field is NaN if there are none.
struct Summary {
  double median = 0, min = 0;
  /// The order statistics between which the true median lies with at least 95 % probability, for any distribution. NaN
  /// with fewer than 6 measurements: there are none.
  double low = 0, high = 0;
};

Summary summarize(std::vector<double> values);

/// The median; 0 if there are no values.
double median(std::vector<double> values);

/// The ranks that a measurement may have among others; 1 is the fastest. Intervals that overlap are not ranked against
/// each other. 0 and 0 for a measurement without an interval; the others ignore it.
struct Rank {
  int first = 0, last = 0;
  friend bool operator==(const Rank&, const Rank&) = default;
};

std::vector<Rank> ranks(std::span<const Summary> times);

/// "2", "2-4" or "-".
std::string to_string(Rank rank);

struct SpeedError {
  double error;  ///< less is better
  double rate;   ///< more is better
};

/// Indices of the points of the Pareto front, from the smallest error to the greatest rate: no other point is at least
/// as good in both and better in one. Equal points are all kept. A point whose error or rate is not finite is never
/// among them.
std::vector<std::size_t> pareto_front(std::span<const SpeedError> points);

/// Counts in named classes, in the order of the classes.
struct Distribution {
  struct Class {
    std::string name;
    std::int64_t count;
  };
  std::vector<Class> classes;
};

/// The classes 0, 1, 2, 3-4, 5-8, ... up to the last that is not empty, and "not finite" if there are any.
Distribution distribution(const UlpHistogram& ulps);
/// Every class, from "integer part" and "1st decimal" to "none".
Distribution distribution(const WrongDigits& digits);

/// "1: 20 (40%), 3-4: 30 (60%)": the classes that are not empty; "-" if all are. A share that would round to
/// 0 % or 100 % is "<0.1%" or ">99.9%".
std::string to_text(const Distribution& distribution);
/// "1:20 3-4:30" with '_' for blanks in names, for a field of a CSV file.
std::string to_csv(const Distribution& distribution);
/// {"1": 20, "3-4": 30}: every class.
Json to_json(const Distribution& distribution);

}  // namespace orrery
