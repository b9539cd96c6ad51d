#include "app/lab/distribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compute/core/text.h"

namespace orrery {
namespace {

std::string share_text(std::int64_t count, std::int64_t total) {
  const double percent = 100.0 * static_cast<double>(count) / static_cast<double>(total);
  if (count == total) return "100%";
  if (percent < 0.1) return "<0.1%";
  if (percent > 99.9) return ">99.9%";
  return fmt::format("{:.1f}%", percent);
}

std::string class_name(std::int64_t least, std::int64_t most) {
  return least == most ? fmt::format("{}", least) : fmt::format("{}-{}", least, most);
}

}  // namespace

Distribution distribution(const UlpHistogram& ulps) {
  const auto filled = [](std::int64_t count) { return count > 0; };
  const auto end = std::find_if(ulps.counts.rbegin(), ulps.counts.rend(), filled).base();
  Distribution result;
  for (auto count = ulps.counts.begin(); count != end; ++count) {
    const int index = static_cast<int>(count - ulps.counts.begin());
    result.classes.push_back({class_name(UlpHistogram::least(index), UlpHistogram::most(index)), *count});
  }
  if (ulps.not_finite > 0) result.classes.push_back({"not finite", ulps.not_finite});
  return result;
}

Distribution distribution(const WrongDigits& digits) {
  constexpr std::array<const char*, WrongDigits::decimals + 2> names{"integer part", "1st decimal", "2nd decimal",
                                                                     "3rd decimal",  "4th decimal", "5th decimal",
                                                                     "6th decimal",  "7th decimal", "none"};
  Distribution result;
  for (std::size_t i = 0; i < names.size(); ++i) result.classes.push_back({names[i], digits.counts[i]});
  return result;
}

std::string to_text(const Distribution& distribution) {
  std::int64_t total = 0;
  for (const auto& part : distribution.classes) total += part.count;
  std::string text;
  for (const auto& part : distribution.classes) {
    if (part.count == 0) continue;
    text += fmt::format("{}{}: {} ({})", text.empty() ? "" : ", ", part.name, format_count(part.count),
                        share_text(part.count, total));
  }
  return text.empty() ? "-" : text;
}

std::string to_csv(const Distribution& distribution) {
  std::string text;
  for (const auto& part : distribution.classes) {
    if (part.count == 0) continue;
    std::string name = part.name;
    std::ranges::replace(name, ' ', '_');
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", name, part.count);
  }
  return text;
}

Json to_json(const Distribution& distribution) {
  Json json = Json::object();
  for (const auto& part : distribution.classes) json[part.name] = part.count;
  return json;
}

}  // namespace orrery
