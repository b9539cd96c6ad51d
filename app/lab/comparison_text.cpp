// A comparison with earlier benchmarks as text, made from its JSON, which holds the same.
#include <fmt/format.h>

#include <limits>

#include "app/lab/baseline.h"
#include "app/lab/settings_cells.h"
#include "app/text/table.h"
#include "compute/core/format_count.h"

namespace orrery {
namespace {

double number(const Json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

Tone tone_of(const std::string& verdict) {
  if (verdict.starts_with("slower")) return Tone::bad;
  return verdict.starts_with("faster") ? Tone::good : Tone::plain;
}

std::string results_table(const Json& results, const KernelCatalog& kernels, const TextStyle& style) {
  SettingsCells settings{style};
  const auto values = [](const Json& result) { return Settings::values_of(result["settings"].get<std::string>()); };
  for (const Json& result : results) {
    const std::string id = result["kernel"];
    settings.add(id, values(result), kernels.find_or_null(id).get());
  }
  Table table{"ltrrrrt", {"kernel", "settings", "n", "before ms", "now ms", "now/before", ""}};
  for (const Json& result : results) {
    const std::string verdict = result["verdict"];
    table.add({result["kernel"].get<std::string>(), settings.text(result["kernel"], values(result)),
               format_count(result["n"].get<std::int64_t>()), significant(number(result["before_ms"])),
               significant(number(result["now_ms"])), significant(number(result["now_over_before"]), 3),
               Cell{verdict, tone_of(verdict)}});
  }
  return table.text(style);
}

}  // namespace

std::string Comparison::text(const KernelCatalog& kernels, const TextStyle& style) const {
  const std::string files = fmt::format("{}", fmt::join(json["files"].get<std::vector<std::string>>(), ", "));
  std::string text = '\n' + paragraph("compared with " + files, style, 2);
  if (!json["results"].empty()) text += results_table(json["results"], kernels, style);
  text += paragraph(fmt::format("{} slower, {} faster, {} unchanged within the noise, {} not comparable", slower,
                                faster, unchanged, not_comparable),
                    style);
  text += paragraph(
      fmt::format("Slower and faster: the intervals do not overlap, and the medians differ by more than {:g} %.",
                  json["noise_percent"].get<double>()),
      style);
  for (const Json& remark : json["remarks"]) text += paragraph(remark.get<std::string>(), style, 2);
  return text;
}

}  // namespace orrery
