#include "app/lab/tuning/setting_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "compute/core/parse_number.h"

namespace orrery {
namespace {

constexpr double close_enough = 0.92;  // of the target
// Until trials show the slope, all settings together are taken to span this many decades of error.
constexpr double decades_of_error = 4;
// One trial is at most this part of the settings' logarithmic span from the one before: far beyond the last trial, a
// setting may be slower than a direct sum by orders of magnitude.
constexpr double longest_move = 0.25;

/// A trial with a finite error.
struct LogPoint {
  double setting, error;  // logarithms
};

class Bracket {
 public:
  Bracket(std::span<const double> settings, double target)
      : settings_{settings},
        aim_{std::log(target * std::sqrt(close_enough))},
        span_{std::max(std::log(settings.back() / settings.front()), 1e-9)},
        fails_{settings.size()} {}

  void add(std::size_t index, double error, bool meets) {
    const double log_error = std::log(error);
    std::optional<LogPoint>& own = meets ? below_ : above_;
    std::optional<LogPoint>& other = meets ? above_ : below_;
    (meets ? meets_ : fails_) = index + (meets ? 1 : 0);
    at_ = std::log(settings_[index]);
    // The Illinois rule: an end that stays twice counts as half as far from the aim, so that it moves, too.
    if (last_met_ == meets && other) other->error = (other->error + aim_) / 2;
    last_met_ = meets;
    if (!std::isfinite(log_error)) {
      own.reset();
      return;
    }
    const LogPoint point{at_, log_error};
    if (last_) slope_ = (point.error - last_->error) / (point.setting - last_->setting);
    own = last_ = point;
  }

  bool empty() const { return meets_ >= fails_; }
  /// Between those that are known to meet the target and those that are known to fail.
  std::size_t next() const {
    if (below_ && above_ && below_->error < above_->error) {
      const double slope = (above_->error - below_->error) / (above_->setting - below_->setting);
      return index_at(below_->setting + (aim_ - below_->error) / slope);
    }
    if (meets_ > 0 && fails_ < settings_.size()) return meets_ + (fails_ - meets_) / 2;
    const double farthest = longest_move * span_;
    double move = meets_ > 0 ? farthest : -farthest;
    if (last_ && last_->setting == at_) {
      const double usual = decades_of_error * std::log(10) / span_;
      move = std::clamp((aim_ - last_->error) / (slope_ > 0 ? slope_ : usual), -farthest, farthest);
    }
    return index_at(at_ + move);
  }
  std::optional<std::size_t> largest() const { return meets_ > 0 ? std::optional{meets_ - 1} : std::nullopt; }

 private:
  std::size_t index_at(double log_setting) const {
    const double setting = std::exp(log_setting) * (1 + 1e-9);
    const auto above = std::ranges::upper_bound(settings_, setting);
    const auto index = static_cast<std::size_t>(above - settings_.begin());
    return std::clamp(index > 0 ? index - 1 : 0, meets_, fails_ - 1);
  }

  std::span<const double> settings_;
  double aim_, span_;
  std::size_t meets_ = 0;  // one past the largest index that meets the target
  std::size_t fails_;      // the smallest index that fails
  double at_ = 0;          // the latest trial
  double slope_ = 0;       // of the latest two points; not > 0: not known
  std::optional<LogPoint> last_, below_, above_;
  std::optional<bool> last_met_;
};

}  // namespace

std::vector<double> two_digit_numbers(const Range<double>& range) {
  std::vector<double> numbers;
  const int least = static_cast<int>(std::floor(std::log10(range.least))) - 1;
  const int most = static_cast<int>(std::floor(std::log10(range.most)));
  for (int exponent = least; exponent <= most; ++exponent) {
    for (int digits = 10; digits < 100; ++digits) {
      const double number = parsed_number<double>(fmt::format("{}e{}", digits, exponent)).value();
      if (range.contains(number)) numbers.push_back(number);
    }
  }
  return numbers;
}

std::optional<std::size_t> search_setting(std::span<const double> settings, std::size_t first, double target,
                                          int most_trials,
                                          const std::function<SettingTrial(std::size_t index)>& try_setting) {
  Bracket bracket{settings, target};
  std::size_t index = std::min(first, settings.size() - 1);
  for (int trial = 1;; ++trial) {
    const auto [error, slow] = try_setting(index);
    const bool meets = error <= target;
    bracket.add(index, error, meets);
    const bool done = meets ? error >= close_enough * target : slow;
    if (done || bracket.empty() || trial == most_trials) return bracket.largest();
    index = bracket.next();
  }
}

}  // namespace orrery
