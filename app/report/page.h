#pragma once

#include <string>

#include "app/report/content.h"

namespace orrery {

/// A page for people as one HTML file that needs no other file and no network. It is also well-formed XML.
std::string report_page(const ReportContent& content);

}  // namespace orrery
