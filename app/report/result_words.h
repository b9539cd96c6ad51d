#pragma once

#include <string>

#include "app/report/content.h"

namespace orrery {

/// Sentences about the fastest and the most accurate row.
std::string result_words(const ReportGroup& group);
/// Every row as HTML, the fastest first.
std::string result_table(const ReportGroup& group);

}  // namespace orrery
