#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// One block of text in the subset of Markdown that this program shows.
struct TextBlock {
  enum class Kind { paragraph, bullet, table, code };
  Kind kind = Kind::paragraph;
  int line = 1;                                  ///< line in the file, from 1
  std::string text{};                            ///< paragraph and bullet: one line; code: lines with their line ends
  std::string tag{};                             ///< code: the word after ```
  std::vector<std::vector<std::string>> rows{};  ///< table: the titles, then the rows, all with equally many cells
};
using TextBlocks = std::vector<TextBlock>;

/// A heading with the blocks up to the next heading.
struct TextSection {
  int level;  ///< 1 to 3: number of '#'
  std::string title;
  int line;
  TextBlocks blocks{};
};

/// Parses headings, paragraphs, flat lists with '-', tables, and code between lines of ```. Lines have at most 1,000
/// bytes, and the text at most 10,000 lines. Throws UsageError that starts with "NAME:LINE: ".
std::vector<TextSection> parse_markdown(std::string_view text, const std::string& name);

/// Part of a line in one style.
struct TextSpan {
  enum class Style { plain, strong, code };
  Style style;
  std::string text;
};
/// Splits a line into **strong** and *emphasized* words (also shown as strong), `code`, and plain text. A
/// [link](address) becomes its words.
std::vector<TextSpan> spans_of(std::string_view line);
/// Returns a line as plain text; code keeps its quotes.
std::string plain_text(std::string_view line);

}  // namespace orrery
