#include "app/cli/verify_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "app/lab/distribution.h"
#include "app/lab/metadata.h"
#include "app/lab/variants.h"
#include "app/text/table.h"
#include "compute/core/text.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 22> columns{"kernel",
                                                   "backend",
                                                   "settings",
                                                   "law",
                                                   "n",
                                                   "dt",
                                                   "softening",
                                                   "repulsion",
                                                   "sample",
                                                   "error_rms",
                                                   "error_median",
                                                   "error_p99",
                                                   "error_max",
                                                   "worst_body",
                                                   "tolerance_median",
                                                   "tolerance_p99",
                                                   "tolerance_max",
                                                   "ulps",
                                                   "digits",
                                                   "digits_largest",
                                                   "digits_accepted",
                                                   "result"};

Json verify_metadata(const Backends& backends, const VerifyOptions& options, const Status& first) {
  Json metadata = machine_metadata(backends);
  add_simulations(metadata, first, options.counts);
  metadata["law"] = Json::array();
  for (const LawId law : options.laws) {
    metadata["law"].push_back(law_info(law).id);
    if (law == LawId::attract_repel) metadata["repulsion"] = decimal(first.law.repulsion);
  }
  const bool every_body = options.sample == body_counts.most;
  metadata["sample"] = every_body ? Json("all") : Json(options.sample);
  if (options.sample_only) metadata["sample_only"] = true;
  return metadata;
}

std::string worst_body(const Check& check) {
  return check.error && check.error->worst >= 0 ? std::to_string(check.error->worst) : std::string{};
}

bool has_repulsion(const Check& check) {
  return check.law.id == LawId::attract_repel;
}

const char* accepted_text(const WrongDigits& digits) {
  return digits.accepted() ? "PASS" : "FAIL";
}

std::array<std::string, columns.size()> csv_fields(const Check& check) {
  const auto limit = [&](double AllowedError::*part) { return check.error ? csv_number(check.allowed.*part) : ""; };
  const auto field = [&](double ForceError::*part) { return check.error ? csv_number((*check.error).*part) : ""; };
  return {check.variant.kernel->id,
          to_string(check.variant.kernel->backend),
          check.variant.settings.to_string(),
          law_info(check.law.id).id,
          std::to_string(check.count),
          csv_number(decimal(check.time_step), 9),
          csv_number(decimal(check.law.softening), 9),
          has_repulsion(check) ? csv_number(decimal(check.law.repulsion), 9) : "",
          std::to_string(check.sample),
          field(&ForceError::rms),
          field(&ForceError::median),
          field(&ForceError::p99),
          field(&ForceError::max),
          worst_body(check),
          limit(&AllowedError::median),
          limit(&AllowedError::p99),
          limit(&AllowedError::max),
          to_csv(distribution(check.ulps)),
          check.digits ? to_csv(distribution(*check.digits)) : "",
          check.digits ? csv_number(check.digits->largest) : "",
          check.digits ? accepted_text(*check.digits) : "",
          check.result};
}

Json json_row(const Check& check) {
  Json row{{"kernel", check.variant.kernel->id},
           {"backend", to_string(check.variant.kernel->backend)},
           {"settings", Json(check.variant.settings.values())},
           {"law", law_info(check.law.id).id},
           {"n", check.count},
           {"dt", decimal(check.time_step)},
           {"softening", decimal(check.law.softening)},
           {"repulsion", has_repulsion(check) ? Json(decimal(check.law.repulsion)) : Json(nullptr)},
           {"sample", check.sample},
           {"error", nullptr},
           {"tolerance", nullptr},
           {"ulps", nullptr},
           {"digits", nullptr},
           {"result", check.result}};
  if (check.error) {
    row["error"] = {{"rms", json_number(check.error->rms)},
                    {"median", json_number(check.error->median)},
                    {"p99", json_number(check.error->p99)},
                    {"max", json_number(check.error->max)},
                    {"worst_body", check.error->worst >= 0 ? Json(check.error->worst) : Json(nullptr)}};
    row["tolerance"] = {{"median", json_number(check.allowed.median)},
                        {"p99", json_number(check.allowed.p99)},
                        {"max", json_number(check.allowed.max)}};
    row["ulps"] = to_json(distribution(check.ulps));
  }
  if (check.digits) {
    row["digits"] = {{"first_wrong", to_json(distribution(*check.digits))},
                     {"largest", json_number(check.digits->largest)},
                     {"accepted", check.digits->accepted()}};
  }
  return row;
}

using Cells = std::vector<Cell>;

/// "-" if `check` has no errors of forces; "nan" is worth seeing.
std::string shown(const Check& check, double ForceError::*part) {
  return check.error ? short_exponent(fmt::format("{:.2g}", (*check.error).*part)) : "-";
}

Tone tone_of(const std::string& result) {
  if (result.starts_with("PASS")) return Tone::good;
  return result.starts_with("FAIL") ? Tone::bad : Tone::plain;
}

/// Adds a row of what was checked and of `more`.
void add_row(Table& table, const SettingsCells& settings, const Check& check, const Cells& more) {
  const char* const id = check.variant.kernel->id;
  Cells row{id, settings.text(id, check.variant.settings.values()), law_info(check.law.id).id,
            format_count(check.count)};
  row.insert(row.end(), more.begin(), more.end());
  table.add(std::move(row));
}

std::string errors_table(const std::vector<Check>& checks, const SettingsCells& settings, const TextStyle& style) {
  Table table{"ltlrrrrrrrrrt",
              {"kernel", "settings", "law", "n", "rms", "median", "p99", "max", "worst body", "allowed median",
               "allowed p99", "allowed max", "result"},
              {"rms", "worst body", "allowed max", "allowed p99", "allowed median"}};
  const auto limit = [](const Check& check, double AllowedError::*part) {
    return check.error ? short_exponent(fmt::format("{:.2g}", check.allowed.*part)) : "-";
  };
  for (const Check& check : checks) {
    const std::string worst = worst_body(check);
    add_row(table, settings, check,
            {shown(check, &ForceError::rms), shown(check, &ForceError::median), shown(check, &ForceError::p99),
             shown(check, &ForceError::max), worst.empty() ? "-" : worst, limit(check, &AllowedError::median),
             limit(check, &AllowedError::p99), limit(check, &AllowedError::max),
             Cell{check.result, tone_of(check.result)}});
  }
  return table.text(style);
}

/// Each note once.
std::vector<std::string> law_notes(const std::vector<Check>& checks) {
  std::vector<std::string> notes;
  for (const Check& check : checks) {
    std::string note = law_note(*check.variant.kernel, check.variant.settings, check.law.id);
    if (!note.empty() && std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
  }
  return notes;
}

std::string ulps_table(const std::vector<Check>& checks, const SettingsCells& settings, const TextStyle& style) {
  Table table{"ltlrt", {"kernel", "settings", "law", "n", "components by units in the last place"}};
  for (const Check& check : checks) {
    if (check.error) add_row(table, settings, check, {to_text(distribution(check.ulps))});
  }
  return '\n' + table.text(style);
}

std::string digits_table(const std::vector<Check>& checks, const SettingsCells& settings, const TextStyle& style) {
  Table table{"ltlrtrl",
              {"kernel", "settings", "law", "n", "coordinates by first wrong digit", "largest", "source's rule"}};
  for (const Check& check : checks) {
    if (!check.digits) continue;
    const std::string accepted = accepted_text(*check.digits);
    add_row(table, settings, check,
            {to_text(distribution(*check.digits)), fmt::format("{:.2g}", check.digits->largest),
             Cell{accepted, tone_of(accepted)}});
  }
  return '\n' + table.text(style) +
         paragraph(
             "Coordinates after the second euler step against cpu-serial's: the first digit that |difference| "
             "reaches.",
             style) +
         paragraph(
             "The source's rule rejects a wrong integer part, 1st or 2nd decimal; it does not decide the result "
             "above.",
             style);
}

}  // namespace

VerifyReport::VerifyReport(const Backends& backends, const VerifyOptions& options, const Status& first)
    : metadata_(verify_metadata(backends, options, first)),  // braces would make an array of it
      files_{options.files, metadata_, columns},
      with_ulps_{options.histogram},
      with_digits_{options.digits} {}

void VerifyReport::add(Check check) {
  if (check.failed()) ++failed_;
  results_.push_back(json_row(check));
  files_.add(csv_fields(check));
  checks_.push_back(std::move(check));
}

std::string VerifyReport::finish(const std::vector<Skipped>& skipped, const TextStyle& style) {
  SettingsCells settings{style};
  for (const Check& check : checks_) {
    const Variant& variant = check.variant;
    settings.add(variant.kernel->id, variant.settings.values(), variant.kernel.get());
  }
  std::string text = errors_table(checks_, settings, style);
  if (with_ulps_) text += ulps_table(checks_, settings, style);
  if (with_digits_) text += digits_table(checks_, settings, style);
  if (with_ulps_ || with_digits_) text += '\n';
  Json left_out = Json::array();
  for (const Skipped& skip : skipped) {
    left_out.push_back({{"kernel", skip.kernel_id}, {"reason", skip.reason}});
  }
  for (const auto& [names, reason] : together(skipped)) {
    text += paragraph(fmt::format("skipped {}: {}", names, reason), style, 2);
  }
  for (const std::string& note : law_notes(checks_)) text += paragraph(note, style);
  text += paragraph(fmt::format("{}, {} failed; force error |da|/|a| against a direct sum in fp64",
                                counted(std::ssize(checks_), "check"), failed_),
                    style);
  files_.finish({{"metadata", metadata_}, {"results", results_}, {"skipped", left_out}});
  return text + files_.written();
}

}  // namespace orrery
