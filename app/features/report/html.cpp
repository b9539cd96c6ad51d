// Text, numbers, tables and figures as HTML.
#include "app/features/report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "compute/core/text.h"

namespace orrery {
namespace {

constexpr const char* replacement = "\ufffd";

/// Returns the length in bytes of the first UTF-8 character of `text`; 0 if no document may contain it.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : first == '\n' || first == '\t' ? 1 : 0;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || size > text.size()) return 0;
  std::uint32_t code = first & (0xffU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
    code = code << 6U | (byte(i) & 0x3fU);
  }
  const std::uint32_t least = size == 4 ? 0x10000 : size == 3 ? 0x800 : 0x80;
  const bool control = code < 0xa0, surrogate = code >= 0xd800 && code < 0xe000, none = (code & 0xfffeU) == 0xfffe;
  const bool turns_text = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return code < least || code > 0x10ffff || control || surrogate || none || turns_text ? 0 : size;
}

std::string with_commas(const std::string& number) {
  const std::size_t end = std::min(number.find('.'), number.size());
  const std::string whole = number.substr(0, end);
  if (whole.size() < 5) return number;
  return format_count(std::stoll(whole)) + number.substr(end);
}

int exponent_of(double number) {
  return static_cast<int>(std::floor(std::log10(std::abs(number))));
}

/// Returns a power of ten: "10⁻⁷".
std::string decade(int exponent) {
  constexpr std::array digits{"\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
                              "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
  std::string text = exponent < 0 ? "10\u207b" : "10";
  for (const char digit : std::to_string(std::abs(exponent))) text += digits.at(static_cast<std::size_t>(digit - '0'));
  return text;
}

}  // namespace

std::string html(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t size = character(text);
    if (size != 1) {
      result += size == 0 ? replacement : text.substr(0, size);
    } else if (text.front() == '&') {
      result += "&amp;";
    } else if (text.front() == '<') {
      result += "&lt;";
    } else if (text.front() == '>') {
      result += "&gt;";
    } else if (text.front() == '"') {
      result += "&quot;";
    } else if (text.front() == '\'') {
      result += "&#39;";
    } else {
      result += text.front();
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return result;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  result.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t size = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i)
      group = group << 8U | (i < size ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i) result += i <= size ? letters[group >> (18 - 6 * i) & 63U] : '=';
  }
  return result;
}

std::string plain_number(double number, int digits) {
  if (!std::isfinite(number)) return "not measured";
  if (number == 0) return "0";
  const double rounded = std::stod(fmt::format("{:.{}e}", number, digits - 1));  // rounded first: 9.996 becomes 10.00
  return with_commas(fmt::format("{:.{}f}", rounded, std::clamp(digits - 1 - exponent_of(rounded), 0, 12)));
}

std::vector<std::string> aligned_numbers(const std::vector<double>& numbers, int digits) {
  std::vector<std::string> texts;
  std::size_t most = 0;  // length of the point and the digits after it
  const auto fraction = [](const std::string& text) { return text.size() - std::min(text.find('.'), text.size()); };
  for (const double number : numbers) {
    const bool known = std::isfinite(number);
    texts.push_back(plain_number(number, digits));
    if (known) most = std::max(most, fraction(texts.back()));
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (!std::isfinite(numbers[i])) continue;
    std::size_t has = fraction(texts[i]);
    if (has == 0 && most > 0) {
      texts[i] += "\u2008";  // as wide as a point
      has = 1;
    }
    for (; has < most; ++has) texts[i] += "\u2007";  // as wide as a digit
  }
  return texts;
}

std::string power_of_ten(double number) {
  if (!std::isfinite(number)) return "not measured";
  if (number == 0) return "0";
  const std::string text = fmt::format("{:.1e}", number);
  const std::size_t e = text.find('e');
  return (number < 0 ? "\u2212" : "") + text.substr(number < 0 ? 1 : 0, e - (number < 0 ? 1 : 0)) + "\u00d7" +
         decade(std::stoi(text.substr(e + 1)));
}

std::string HtmlTable::text(std::string_view caption, std::string_view style) const {
  std::string text = fmt::format("<div class=\"scroll\"><table class=\"{}\">\n<caption>{}</caption>\n<thead><tr>",
                                 style, html(caption));
  const auto cell_class = [&](std::size_t i) { return columns_[i].numbers ? " class=\"number\"" : ""; };
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    text += fmt::format("<th scope=\"col\"{}>{}</th>", cell_class(i), html(columns_[i].title));
  }
  text += "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : rows_) {
    text += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) text += fmt::format("<td{}>{}</td>", cell_class(i), row[i]);
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

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
