#include "app/verify_report.h"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "app/distribution.h"
#include "app/recording/metadata.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 21> columns{"kernel",    "backend",    "settings",         "law",
                                                   "n",         "dt",         "softening",        "repulsion",
                                                   "sample",    "error_rms",  "error_median",     "error_p99",
                                                   "error_max", "worst_body", "tolerance_median", "tolerance_max",
                                                   "ulps",      "digits",     "digits_largest",   "digits_accepted",
                                                   "result"};

Json verify_metadata(const VerifyOptions& options, const Status& first) {
  Json metadata = machine_metadata();
  add_simulations(metadata, first, options.counts);
  metadata["law"] = Json::array();
  for (const LawId law : options.laws) {
    metadata["law"].push_back(law_info(law).id);
    if (law == LawId::attract_repel) metadata["repulsion"] = decimal(first.law.repulsion);
  }
  const bool every_body = options.sample == std::numeric_limits<int>::max();
  metadata["sample"] = every_body ? Json("all") : Json(options.sample);
  return metadata;
}

std::string worst_body(const Check& check) {
  return check.error && check.error->worst >= 0 ? std::to_string(check.error->worst) : std::string{};
}

bool has_repulsion(const Check& check) {
  return check.status.law.id == LawId::attract_repel;
}

const char* accepted_text(const WrongDigits& digits) {
  return digits.accepted() ? "PASS" : "FAIL";
}

std::array<std::string, columns.size()> csv_fields(const Check& check) {
  const Status& s = check.status;
  const Tolerance& tolerance = check.variant.kernel->tolerance;
  const auto field = [&](double ForceError::*part) { return check.error ? csv_number((*check.error).*part) : ""; };
  return {check.variant.kernel->id,
          to_string(check.variant.kernel->backend),
          check.variant.settings.to_string(),
          law_info(s.law.id).id,
          std::to_string(s.count),
          csv_number(decimal(s.time_step), 9),
          csv_number(decimal(s.law.softening), 9),
          has_repulsion(check) ? csv_number(decimal(s.law.repulsion), 9) : "",
          std::to_string(check.sample),
          field(&ForceError::rms),
          field(&ForceError::median),
          field(&ForceError::p99),
          field(&ForceError::max),
          worst_body(check),
          csv_number(tolerance.median),
          csv_number(tolerance.max),
          to_csv(distribution(check.ulps)),
          check.digits ? to_csv(distribution(*check.digits)) : "",
          check.digits ? csv_number(check.digits->largest) : "",
          check.digits ? accepted_text(*check.digits) : "",
          check.result};
}

Json json_row(const Check& check) {
  const Status& s = check.status;
  const Tolerance& tolerance = check.variant.kernel->tolerance;
  Json row{{"kernel", check.variant.kernel->id},
           {"backend", to_string(check.variant.kernel->backend)},
           {"settings", Json(check.variant.settings.values())},
           {"law", law_info(s.law.id).id},
           {"n", s.count},
           {"dt", decimal(s.time_step)},
           {"softening", decimal(s.law.softening)},
           {"repulsion", has_repulsion(check) ? Json(decimal(s.law.repulsion)) : Json(nullptr)},
           {"sample", check.sample},
           {"error", nullptr},
           {"tolerance", {{"median", tolerance.median}, {"max", tolerance.max}}},
           {"ulps", nullptr},
           {"digits", nullptr},
           {"result", check.result}};
  if (check.error) {
    row["error"] = {{"rms", json_number(check.error->rms)},
                    {"median", json_number(check.error->median)},
                    {"p99", json_number(check.error->p99)},
                    {"max", json_number(check.error->max)},
                    {"worst_body", check.error->worst >= 0 ? Json(check.error->worst) : Json(nullptr)}};
    row["ulps"] = to_json(distribution(check.ulps));
  }
  if (check.digits) {
    row["digits"] = {{"first_wrong", to_json(distribution(*check.digits))},
                     {"largest", json_number(check.digits->largest)},
                     {"accepted", check.digits->accepted()}};
  }
  return row;
}

}  // namespace

VerifyReport::VerifyReport(const VerifyOptions& options, const Status& first)
    : metadata_(verify_metadata(options, first)),  // braces would make an array of it
      files_{options.files, metadata_, columns},
      errors_{"lllrrrrrrrrl",
              {"kernel", "settings", "law", "n", "rms", "median", "p99", "max", "worst", "allowed median",
               "allowed max", "result"}},
      ulps_{"lllrl", {"kernel", "settings", "law", "n", "components by units in the last place"}},
      digits_{"lllrlrl",
              {"kernel", "settings", "law", "n", "coordinates by first wrong digit", "largest", "source's rule"}},
      with_ulps_{options.histogram},
      with_digits_{options.digits} {}

void VerifyReport::add(const Check& check) {
  ++checks_;
  if (check.failed()) ++failed_;
  const auto row = [&](std::vector<std::string> cells) {
    std::vector<std::string> all{check.variant.kernel->id, check.variant.settings.to_string(),
                                 law_info(check.status.law.id).id, std::to_string(check.status.count)};
    all.insert(all.end(), cells.begin(), cells.end());
    return all;
  };
  const auto shown = [&](double ForceError::*part) {
    return check.error ? fmt::format("{:.2g}", (*check.error).*part) : "-";  // "nan" is worth seeing
  };
  const Tolerance& tolerance = check.variant.kernel->tolerance;
  const std::string worst = worst_body(check);
  errors_.add(row({shown(&ForceError::rms), shown(&ForceError::median), shown(&ForceError::p99),
                   shown(&ForceError::max), worst.empty() ? "-" : worst, significant(tolerance.median, 2),
                   significant(tolerance.max, 2), check.result}));
  if (check.error) ulps_.add(row({to_text(distribution(check.ulps))}));
  if (check.digits) {
    digits_.add(row({to_text(distribution(*check.digits)), fmt::format("{:.2g}", check.digits->largest),
                     accepted_text(*check.digits)}));
  }
  results_.push_back(json_row(check));
  files_.add(csv_fields(check));
}

std::string VerifyReport::finish(const std::vector<Skipped>& skipped) {
  std::string text = errors_.text();
  if (with_ulps_) text += '\n' + ulps_.text();
  if (with_digits_) {
    text +=
        '\n' + digits_.text() +
        "Coordinates after the second euler step against cpu-serial's: the first digit that |difference| reaches.\n"
        "The source's rule rejects a wrong integer part, 1st or 2nd decimal; it does not decide the result above.\n";
  }
  if (with_ulps_ || with_digits_) text += '\n';
  Json left_out = Json::array();
  for (const Skipped& skip : skipped) {
    left_out.push_back({{"kernel", skip.kernel_id}, {"reason", skip.reason}});
    text += fmt::format("skipped {}: {}\n", skip.kernel_id, skip.reason);
  }
  text += fmt::format("{} checks, {} failed; force error |da|/|a| against a direct sum in fp64\n", checks_, failed_);
  files_.finish({{"metadata", metadata_}, {"results", results_}, {"skipped", left_out}});
  return text + files_.written();
}

}  // namespace orrery
