#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// What separates the values of a line. A value in double quotes may contain it.
enum class Separator : char { blanks = ' ', tab = '\t', comma = ',', semicolon = ';' };

/// One value of a line, without blanks around it and without its quotes.
struct TextCell {
  std::string_view text;
  bool quoted = false;
};

/// Returns the separator of a line of values: semicolons, tabs or commas if there are any, else blanks. Commas inside
/// numbers that blanks or tabs separate are no separators.
Separator separator_of(std::string_view line);

/// Splits a line. An empty last cell is left out: a line may end with its separator.
void split_cells(std::string_view line, Separator separator, std::vector<TextCell>& cells);

/// Returns the line up to a comment that follows its values: " # ..." or " ! ...", outside quotes.
std::string_view without_remark(std::string_view line);

/// Whether the first mark of the line begins a comment: "#", "%", "!" or "//".
bool is_comment(std::string_view line);
/// Returns the text of a comment.
std::string_view without_mark(std::string_view comment);

/// Reads a number as C, Fortran ("0.1D+01", "1.0-101") and their tables write it.
std::optional<double> number_in(std::string_view text);

/// Returns why number_in() has no number, such as "'0,5' has a comma, ...", with the cure.
std::string fault_of_number(std::string_view text);

/// Whether each cell is a whole number, so that commas may be decimal ones.
bool are_whole(const std::vector<TextCell>& cells);

/// Returns the name "x" of the cell "X [kpc]"; `unit` gets "kpc", or nothing.
std::string plain_name(std::string_view cell, std::string& unit);

}  // namespace orrery
