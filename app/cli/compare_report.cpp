#include "app/cli/compare_report.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "app/lab/metadata.h"
#include "app/lab/variants.h"
#include "app/text/table.h"
#include "compute/core/text.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 8> compare_columns{"step_a",         "step_b",          "time",
                                                          "distance_rms",   "distance_median", "distance_greatest",
                                                          "energy_error_a", "energy_error_b"};

Json variant_json(const PairedRun& run, int which) {
  const Status status = run.member(which).status;
  return {{"kernel", status.kernel_id},
          {"backend", to_string(status.backend)},
          {"settings", Json(status.settings.values())},
          {"integrator", status.integrator_id},
          {"dt", decimal(status.time_step)},
          {"nudge", run.plan().variants[static_cast<std::size_t>(which)].nudge}};
}

Json compare_metadata(const Backends& backends, const PairedRun& run) {
  Json metadata = machine_metadata(backends);
  add_simulation(metadata, run.member(0).status);
  metadata.erase("integrator");
  metadata.erase("dt");
  metadata["a"] = variant_json(run, 0);
  metadata["b"] = variant_json(run, 1);
  metadata["size"] = json_number(run.size());
  return metadata;
}

const char* kind_word(Growth::Kind kind) {
  switch (kind) {
    case Growth::Kind::identical:
      return "identical";
    case Growth::Kind::too_few:
      return "too-few";
    case Growth::Kind::exponential:
      return "exponential";
    case Growth::Kind::power:
      return "power";
    case Growth::Kind::irregular:
      break;
  }
  return "irregular";
}

Json growth_json(const Growth& growth) {
  const bool exponential = growth.kind == Growth::Kind::exponential, power = growth.kind == Growth::Kind::power;
  return {{"kind", kind_word(growth.kind)},
          {"e_folding_time", exponential ? json_number(growth.e_folding_time) : Json(nullptr)},
          {"exponent", power ? json_number(growth.exponent) : Json(nullptr)},
          {"begin", json_number(growth.begin)},
          {"end", json_number(growth.end)},
          {"samples", growth.points},
          {"factor", json_number(growth.factor)},
          {"floor", json_number(growth.floor)},
          {"ceiling", json_number(growth.ceiling)}};
}

Json optional_json(const std::optional<double>& number) {
  return number ? json_number(*number) : Json(nullptr);
}

Json sample_json(const DivergenceSample& sample) {
  return {{"step_a", sample.steps[0]},
          {"step_b", sample.steps[1]},
          {"time", sample.time},
          {"distance_rms", json_number(sample.distances.rms)},
          {"distance_median", json_number(sample.distances.median)},
          {"distance_greatest", json_number(sample.distances.greatest)},
          {"energy_error_a", optional_json(sample.energy_error[0])},
          {"energy_error_b", optional_json(sample.energy_error[1])}};
}

std::array<std::string, compare_columns.size()> csv_fields(const DivergenceSample& sample) {
  return {std::to_string(sample.steps[0]),     std::to_string(sample.steps[1]),
          csv_number(sample.time, 9),          csv_number(sample.distances.rms),
          csv_number(sample.distances.median), csv_number(sample.distances.greatest),
          csv_number(sample.energy_error[0]),  csv_number(sample.energy_error[1])};
}

std::string shown(const std::optional<double>& number) {
  return number ? short_exponent(fmt::format("{:.2e}", *number)) : "-";
}

std::string samples_table(const PairedRun& run, const TextStyle& style) {
  const std::vector<DivergenceSample>& samples = run.taken();
  const bool two_steps = samples.back().steps[0] != samples.back().steps[1];
  Table table{"rrrrrrrr",
              {two_steps ? "step of A" : "step", two_steps ? "step of B" : "", "time", "rms distance",
               "median distance", "greatest distance", "energy error of A", "energy error of B"},
              {"step of B", "greatest distance"}};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!run.is_selected(i) && i + 1 < samples.size()) continue;
    const DivergenceSample& sample = samples[i];
    table.add({format_count(sample.steps[0]), two_steps ? format_count(sample.steps[1]) : "",
               fmt::format("{:.4g}", sample.time), shown(sample.distances.rms), shown(sample.distances.median),
               shown(sample.distances.greatest), shown(sample.energy_error[0]), shown(sample.energy_error[1])});
  }
  return table.text(style);
}

std::string members_table(const PairedRun& run, const TextStyle& style) {
  SettingsCells settings{style};
  const std::array<PairMember, 2> members{run.member(0), run.member(1)};
  for (const PairMember& member : members) {
    settings.add(member.status.kernel_id, member.status.settings.values(), member.status.kernel.get());
  }
  Table table{"lltlrrrr", {"run", "kernel", "settings", "integrator", "dt", "nudge", "ms/step", "interactions/s"}};
  for (const std::size_t which : {0, 1}) {
    const Status& status = members[which].status;
    const double nudge = run.plan().variants[which].nudge;
    table.add({which == 0 ? "A" : "B", status.kernel_id, settings.text(status.kernel_id, status.settings.values()),
               status.integrator_id, fmt::format("{}", status.time_step), nudge > 0 ? fmt::format("{:g}", nudge) : "",
               significant(members[which].step_ms), with_prefix(members[which].interactions_per_s)});
  }
  return '\n' + table.text(style) + '\n';
}

}  // namespace

CompareReport::CompareReport(const Backends& backends, const PairedRun& run, const CompareOptions& options)
    : run_{run},
      metadata_(compare_metadata(backends, run)),  // braces would make an array of it
      files_{options.files, metadata_, compare_columns} {}

void CompareReport::update() {
  for (; written_ < run_.taken().size(); ++written_) files_.add(csv_fields(run_.taken()[written_]));
}

std::string CompareReport::finish(const TextStyle& style) {
  update();
  Json samples = Json::array();
  for (const DivergenceSample& sample : run_.taken()) samples.push_back(sample_json(sample));
  Json speeds = Json::object();
  for (const int which : {0, 1}) {
    const PairMember member = run_.member(which);
    speeds[which == 0 ? "a" : "b"] = {{"step_ms", json_number(member.step_ms)},
                                      {"interactions_per_s", json_number(member.interactions_per_s)}};
  }
  const Growth growth = run_.growth();
  files_.finish({{"metadata", metadata_},
                 {"growth", growth_json(growth)},
                 {"speeds", speeds},
                 {"samples", samples},
                 {"stopped", !run_.ended()}});
  return samples_table(run_, style) + members_table(run_, style) + paragraph(growth_words(growth), style) +
         paragraph(fmt::format("Distances between the positions of the same body in A and B, of {}; half of "
                               "them start within {:.3g} of the middle. Energy errors are relative: |E - E0|/|E0|.",
                               counted_bodies(run_.member(0).status.count), run_.size()),
                   style) +
         files_.written();
}

}  // namespace orrery
