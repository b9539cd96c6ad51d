#pragma once

#include <string>
#include <tuple>

#include "app/text/parse_value.h"
#include "compute/sim/command_row.h"

namespace orrery {

/// Throws UsageError if the extension is not that of a page.
inline void check_page_name(const std::string& name) {
  (void)parse_page_name("a page's name", name);
}

/// Writes a page with a picture of the view and the window's measurements.
struct SaveReport {
  std::string file;
};

/// Command that writes a page.
inline constexpr std::tuple report_commands{command_row<SaveReport>(
    "report", "Writes a page with the picture, the results, plots, the settings and the machine, as HTML.",
    Argument<&SaveReport::file>{
        {.name = "file", .optional = true, .form = Form::written_file, .check = check_page_name}})};

}  // namespace orrery
