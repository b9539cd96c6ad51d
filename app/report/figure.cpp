#include "app/report/figure.h"

#include <fmt/format.h>

#include "app/report/html.h"
#include "compute/core/text.h"

namespace orrery {

std::string figure(std::string_view drawing, std::string_view caption) {
  return fmt::format("<figure>\n{}<figcaption>{}</figcaption>\n</figure>\n", drawing, html(caption));
}

std::string paragraph_of(std::string_view text, std::string_view style) {
  if (text.empty()) return {};
  const std::string with_style = style.empty() ? std::string{} : fmt::format(" class=\"{}\"", style);
  return fmt::format("<p{}>{}</p>\n", with_style, html(text));
}

std::string left_out(std::size_t count, std::size_t of, std::string_view things, std::string_view reason) {
  if (count == 0) return {};
  return fmt::format(" {} of {} {} {} not drawn: {}.", format_count(static_cast<std::int64_t>(count)),
                     format_count(static_cast<std::int64_t>(of)), things, count == 1 ? "is" : "are", reason);
}

}  // namespace orrery
