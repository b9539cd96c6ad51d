#include "app/recording/result_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <stdexcept>
#include <utility>

#include "app/lab/metadata.h"
#include "app/text/printable.h"
#include "compute/core/atomic_file.h"
#include "compute/core/error.h"

namespace orrery {

ResultFiles::ResultFiles(const ResultNames& names, const Json& metadata, std::span<const std::string_view> columns)
    : names_{names} {
  if (names.csv.empty()) return;
  csv_ = OutputFile::create(names.csv, names.existing);
  head_ = csv_header(metadata, columns);
  if (csv_->rewritable() && names.existing == Existing::replace) return;
  write_head();
  if (!error_.empty()) throw std::runtime_error(error_);
}

void ResultFiles::add(std::span<const std::string> fields) {
  write_rows(csv_line(fields));
}

void ResultFiles::replace_rows(std::string rows) {
  open_rows_ = std::move(rows);
  write_head();
  if (csv_ && csv_->rewritable()) take(csv_->replace_tail(open_rows_at_, open_rows_));
}

void ResultFiles::keep_rows() {
  if (csv_ && !csv_->rewritable()) write_rows(open_rows_);
  write_head();
  if (csv_) open_rows_at_ = csv_->size();
  open_rows_.clear();
}

void ResultFiles::save(const Json& whole) {
  if (!is_stream(names_.json)) finish(whole);
}

void ResultFiles::finish(const Json& whole) {
  write_head();
  if (csv_) take(csv_->lost());
  if (names_.json.empty()) return;
  const bool saved = !json_written_.empty();
  try {
    json_written_ = write_file(saved ? json_written_ : names_.json, json_text(whole, 2) + '\n',
                               saved ? Existing::replace : names_.existing);
  } catch (const std::runtime_error& error) {
    if (error_.empty()) error_ = failure_text(error);
    names_.json.clear();
  }
}

void ResultFiles::discard() {
  const bool begun = head_.empty();
  if (csv_ && csv_->rewritable() && begun) (void)csv_->replace_tail(0, "");  // ~OutputFile() removes an empty file
  csv_.reset();
}

std::string ResultFiles::written() const {
  std::string text;
  for (const std::string& path : paths()) text += "wrote " + printable(path) + '\n';
  return text;
}

std::vector<std::string> ResultFiles::paths() const {
  std::vector<std::string> result;
  if (csv_) result.push_back(csv_->path());
  if (!json_written_.empty()) result.push_back(json_written_);
  return result;
}

/// Writes the head of the CSV file, once. A file that is to be replaced stays until something was measured.
void ResultFiles::write_head() {
  if (!csv_ || head_.empty()) return;
  take(csv_->append(std::exchange(head_, {})));
  if (csv_) open_rows_at_ = csv_->size();
}

void ResultFiles::write_rows(const std::string& text) {
  write_head();
  if (csv_) take(csv_->append(text));
}

/// Records the error, if any, and closes the CSV file.
void ResultFiles::take(const std::string& csv_error) {
  if (csv_error.empty()) return;
  if (error_.empty()) error_ = csv_error;
  csv_.reset();
}

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
