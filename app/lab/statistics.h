#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/text/csv.h"
#include "compute/diagnostics/reference.h"

namespace orrery {

/// Summary of measurements in any order. All fields are NaN if there are no measurements.
struct Summary {
  double median = 0, min = 0;
  /// Bounds of the true median with at least 95 % probability, for any distribution. Both are measured values. NaN with
  /// fewer than 6 measurements.
  double low = 0, high = 0;
};

Summary summarize(std::vector<double> values);

/// Returns the median; 0 if there are no values.
double median(std::vector<double> values);

/// Range of ranks that a measurement may have among others; 1 is the fastest. Overlapping intervals share ranks. A
/// measurement without an interval has ranks 0 and 0, and is ignored for the other ranks.
struct Rank {
  int first = 0, last = 0;
  friend bool operator==(const Rank&, const Rank&) = default;
};

std::vector<Rank> ranks(std::span<const Summary> times);

/// Returns "2", "2-4" or "-".
std::string to_string(Rank rank);

struct SpeedError {
  double error;  ///< smaller is better
  double rate;   ///< larger is better
};

/// Returns the indices of the Pareto front, from the smallest error to the highest rate. For a point of the front, no
/// other point is at least as good in both and better in one. Equal points are all kept. Points with a non-finite error
/// or rate are left out.
std::vector<std::size_t> pareto_front(std::span<const SpeedError> points);

/// Counts in named classes, in the order of the classes.
struct Distribution {
  struct Class {
    std::string name;
    std::int64_t count;
  };
  std::vector<Class> classes;
};

/// Returns the classes 0, 1, 2, 3-4, 5-8, ... up to the last non-empty one, and "not finite" if there are any.
Distribution distribution(const UlpHistogram& ulps);
/// Returns every class, from "integer part" and "1st decimal" to "none".
Distribution distribution(const WrongDigits& digits);

/// Returns "1: 20 (40%), 3-4: 30 (60%)": the non-empty classes; "-" if all are empty. A share that would round to 0 %
/// or 100 % is "<0.1%" or ">99.9%".
std::string to_text(const Distribution& distribution);
/// Returns "1:20 3-4:30" for a field of a CSV file. Blanks in names become '_'.
std::string to_csv(const Distribution& distribution);
/// Returns {"1": 20, "3-4": 30}: every class.
Json to_json(const Distribution& distribution);

}  // namespace orrery
