#include "app/report/run_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "compute/core/text.h"

namespace orrery {
namespace {

std::string number_text(const Json& value) {
  return value.is_null() ? "depends on the number of bodies" : fmt::format("{:.6g}", value.get<double>());
}

std::vector<std::int64_t> counts_of(const Json& simulation) {
  const Json& n = simulation.at("n");
  return n.is_array() ? n.get<std::vector<std::int64_t>>() : std::vector{n.get<std::int64_t>()};
}

}  // namespace

ReportFacts run_facts(const Json& simulation) {
  std::vector<std::string> counts;
  for (const std::int64_t count : counts_of(simulation)) counts.push_back(format_count(count));
  ReportFacts facts{{"Scene", simulation.at("scene").get<std::string>()},
                    {"Bodies", fmt::format("{}", fmt::join(counts, "; "))}};
  if (const Json& seed = simulation.at("seed"); !seed.is_null()) {
    facts.push_back({"Seed", fmt::format("{}", seed.get<std::uint64_t>())});
  }
  facts.push_back({"Law", simulation.at("law").get<std::string>()});
  facts.push_back({"Softening length", number_text(simulation.at("softening"))});
  for (const auto& [key, name] : {std::pair{"repulsion", "Repulsion H"}, std::pair{"drag", "Drag D"}}) {
    if (simulation.contains(key)) facts.push_back({name, number_text(simulation.at(key))});
  }
  facts.push_back({"Integrator", simulation.at("integrator").get<std::string>()});
  facts.push_back({"Time step", number_text(simulation.at("dt"))});
  if (simulation.contains("digits")) facts.push_back({"Digits", simulation.at("digits")});
  if (simulation.contains("eta")) facts.push_back({"Accuracy eta of block steps", number_text(simulation.at("eta"))});
  facts.push_back({"Units", "lengths, times and masses in units in which G = 1"});
  return facts;
}

std::string run_title(const Json& simulation) {
  const std::vector<std::int64_t> counts = counts_of(simulation);
  const auto [least, most] = std::ranges::minmax(counts);
  const std::string scene = simulation.at("scene").get<std::string>();
  if (least == most) return fmt::format("{}, {}", scene, counted_bodies(least));
  return fmt::format("{}, {} to {}", scene, format_count(least), counted_bodies(most));
}

std::string made_words(const Json& machine) {
  const std::string date = machine.at("date").get<std::string>();  // 2026-11-23T03:15:27Z
  const Json& gpu = machine.at("gpu");
  return fmt::format("Made on {} at {} UTC by Orrery {} on {}{}.", date.substr(0, 10), date.substr(11, 8),
                     machine.at("version").get<std::string>(), machine.at("cpu").get<std::string>(),
                     gpu.is_string() ? " with " + gpu.get<std::string>() : "");
}

}  // namespace orrery
