#include "app/recording/sweep_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "app/lab/metadata.h"

namespace orrery {
namespace {

Json metadata_of(const Sweep& sweep, const Json& extra) {
  Json metadata = machine_metadata(sweep.backends());
  add_simulations(metadata, *sweep.first_status(), sweep.plan().counts);
  metadata["flop_per_interaction"] = flop_per_interaction;
  metadata["warmup_steps"] = sweep.plan().sampling.warmup_steps;
  metadata.update(extra);
  return metadata;
}

}  // namespace

SweepReport::SweepReport(const Sweep& sweep, const ResultFormat& format, const ResultNames& files, const Json& extra)
    : sweep_{sweep},
      format_{format},
      metadata_(metadata_of(sweep, extra)),  // braces would make an array of it
      files_{files, metadata_, csv_names(format)} {}

void SweepReport::update() {
  const std::size_t size = sweep_.plan().variants.size();
  while (written_ < sweep_.entries().size()) {
    const std::size_t index = written_ / size;
    const std::span<const Measurement> entries = sweep_.entries_of(index);
    std::vector<Measurement> measured;
    std::ranges::copy_if(entries, std::back_inserter(measured), &Measurement::measured);
    std::string rows;
    for (const Measurement& row : measured) rows += csv_row(format_, row, measured);
    files_.replace_rows(std::move(rows));
    written_ = index * size + entries.size();
    if (entries.size() == size) files_.keep_rows();
  }
}

void SweepReport::save(const std::vector<Skipped>& skipped) {
  update();
  files_.save(json(skipped));
}

void SweepReport::finish(const std::vector<Skipped>& skipped) {
  update();
  files_.keep_rows();
  files_.finish(json(skipped));
}

std::vector<Skipped> SweepReport::not_measured(const std::vector<Skipped>& skipped) const {
  std::vector<Skipped> result = skipped;
  for (const Measurement& entry : sweep_.entries()) {
    if (!entry.measured()) result.push_back({entry.kernel_id, label_of(entry), entry.problem.text});
  }
  return result;
}

std::string SweepReport::text(const std::vector<Skipped>& skipped, const TextStyle& style) const {
  std::string text = format_.table(sweep_.measured(), style);
  for (const auto& [names, reason] : together(not_measured(skipped))) {
    text += paragraph(fmt::format("skipped {}: {}", names, reason), style, 2);
  }
  return text;
}

Json SweepReport::json(const std::vector<Skipped>& skipped) const {
  Json results = Json::array(), left_out = Json::array();
  for (const std::vector<Measurement>& rows : sweep_.measured()) {
    for (const Measurement& row : rows) {
      Json& result = results.emplace_back(json_row(format_, row, rows));
      for (const auto& [name, value] : more_of_results_) result[name] = value(row);
    }
  }
  for (const Skipped& skip : not_measured(skipped)) {
    left_out.push_back({{"kernel", skip.kernel_id}, {"settings", skip.settings}, {"reason", skip.reason}});
  }
  Json whole{{"metadata", metadata_}, {"results", results}, {"skipped", left_out}, {"stopped", sweep_.stopped()}};
  whole.update(more_);
  return whole;
}

}  // namespace orrery
