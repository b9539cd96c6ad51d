#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// One block of a text in the part of Markdown that this program shows.
struct TextBlock {
  enum class Kind { paragraph, bullet, table, code };
  Kind kind = Kind::paragraph;
  int line = 1;                                  ///< of the file, from 1
  std::string text{};                            ///< paragraph and bullet: one line; code: its lines with their ends
  std::string tag{};                             ///< code: the word after ```
  std::vector<std::vector<std::string>> rows{};  ///< table: the titles, then the rows, all of the same length
};
using TextBlocks = std::vector<TextBlock>;

/// A heading with the blocks up to the next one.
struct TextSection {
  int level;  ///< 1 to 3, as many as its '#'
  std::string title;
  int line;
  TextBlocks blocks{};
};

/// Parses headings, paragraphs, lists of one level with '-', tables and code between lines of ```. Lines have at most
/// 1,000 bytes, and the text at most 10,000 lines. Throws UsageError that starts with "NAME:LINE: ".
std::vector<TextSection> parse_markdown(std::string_view text, const std::string& name);

/// A part of a line that is written in one way.
struct TextSpan {
  enum class Style { plain, strong, code };
  Style style;
  std::string text;
};
/// The parts of a line: **strong** and *emphasized* words, which are strong as well, `code`, and the words of [a
/// link](address).
std::vector<TextSpan> spans_of(std::string_view line);
/// The same as plain text; code keeps its quotes.
std::string plain_text(std::string_view line);

}  // namespace orrery
