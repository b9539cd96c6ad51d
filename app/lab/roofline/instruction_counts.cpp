// Instructions of a CUDA kernel per pair of bodies, counted in its machine code (SASS).
#include "app/lab/roofline/instruction_counts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include "app/process/child_process.h"
#include "app/text/parse_value.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 4> double_operations{"DFMA", "DADD", "DMUL", "DSETP"};

struct Instruction {
  std::uint64_t address = 0;
  std::string_view text;  // "@!P0 BRA 0x370", without the semicolon

  bool predicated() const { return text.starts_with('@'); }
  std::string_view operation() const {  // such as "BRA" or "MUFU.RSQ"
    const std::string_view rest = predicated() ? text.substr(std::min(text.find(' '), text.size())) : text;
    const std::size_t begin = std::min(rest.find_first_not_of(' '), rest.size());
    return rest.substr(begin, rest.find(' ', begin) - begin);
  }
};

/// Returns the hexadecimal number at the beginning of `text`; none if there is none.
std::optional<std::uint64_t> hexadecimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc{} || end == text.data()) return std::nullopt;
  return value;
}

/// Reads one instruction; none if the line is not of the form "/*0370*/  @!P0 BRA 0x2400 ;  ...".
std::optional<Instruction> instruction(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with("/*")) return std::nullopt;
  const std::size_t close = line.find("*/"), semicolon = line.find(';');
  if (close == std::string_view::npos || semicolon == std::string_view::npos || semicolon < close) return std::nullopt;
  const auto address = hexadecimal(line.substr(2, close - 2));
  if (!address) return std::nullopt;
  return Instruction{*address, trimmed(line.substr(close + 2, semicolon - close - 2))};
}

std::vector<Instruction> instructions(std::string_view sass) {
  std::vector<Instruction> all;
  while (!sass.empty()) {
    const std::size_t end = std::min(sass.find('\n'), sass.size());
    if (const auto next = instruction(sass.substr(0, end))) all.push_back(*next);
    sass.remove_prefix(std::min(end + 1, sass.size()));
  }
  return all;
}

bool is_reciprocal_sqrt(const Instruction& instruction) {
  return instruction.operation().starts_with("MUFU.RSQ");
}

bool is_special(const Instruction& instruction) {
  return instruction.operation().starts_with("MUFU.");
}

bool is_special_double(const Instruction& instruction) {
  return is_special(instruction) && instruction.operation().ends_with("64H");
}

bool is_double(const Instruction& instruction) {
  return is_special_double(instruction) || std::ranges::any_of(double_operations, [&](std::string_view name) {
           return instruction.operation() == name || instruction.operation().starts_with(std::string{name} + '.');
         });
}

/// Returns the target address of a branch; none if the instruction is not a branch to a fixed address.
std::optional<std::uint64_t> branch_target(const Instruction& instruction) {
  const std::string_view operation = instruction.operation();
  if (operation != "BRA" && !operation.starts_with("BRA.")) return std::nullopt;
  const std::size_t number = instruction.text.rfind("0x");
  if (number == std::string_view::npos) return std::nullopt;
  return hexadecimal(instruction.text.substr(number + 2));
}

/// Returns which instructions belong to a rarely taken call: a predicated branch just before them skips them. The call
/// computes an exact square root or division for rare arguments.
std::vector<bool> slow_paths(const std::vector<Instruction>& code) {
  constexpr std::size_t longest = 8;
  std::vector<bool> slow(code.size());
  for (std::size_t branch = 0; branch < code.size(); ++branch) {
    const auto target = branch_target(code[branch]);
    if (!target || !code[branch].predicated()) continue;
    std::size_t end = branch + 1;
    bool calls = false, special = false;
    for (; end < code.size() && code[end].address < *target && end - branch <= longest + 1; ++end) {
      calls |= code[end].operation().starts_with("CALL");
      special |= is_special(code[end]);
    }
    if (!calls || special || end - branch - 1 > longest) continue;
    std::fill(slow.begin() + static_cast<std::ptrdiff_t>(branch) + 1, slow.begin() + static_cast<std::ptrdiff_t>(end),
              true);
  }
  return slow;
}

struct Loop {
  std::size_t first = 0, last = 0;  // indices of the first and last instruction
  int instructions = 0, reciprocal_sqrts = 0, special = 0;
  bool special_double = false;  // some special-function instructions are in double precision
  bool any_double = false;

  bool contains(const Loop& other) const {
    return first <= other.first && other.last <= last && instructions > other.instructions;
  }
};

/// Returns the loops with a reciprocal square root. A loop is the code from the target of a backward branch to the
/// branch.
std::vector<Loop> pair_loops(const std::vector<Instruction>& code) {
  std::vector<Loop> loops;
  const std::vector<bool> slow = slow_paths(code);
  for (std::size_t last = 0; last < code.size(); ++last) {
    const auto target = branch_target(code[last]);
    if (!target || *target >= code[last].address) continue;
    const auto begin = std::ranges::lower_bound(code, *target, {}, &Instruction::address);
    const auto end = code.begin() + static_cast<std::ptrdiff_t>(last) + 1;
    // Out-of-line code after the function's end may branch back into its main path. That is not a loop.
    const auto ends = [](const Instruction& i) { return !i.predicated() && i.operation() == "EXIT"; };
    if (std::any_of(begin, end, ends)) continue;
    const auto in_slow_path = slow.begin() + (begin - code.begin());
    const auto passed_by = std::count(in_slow_path, in_slow_path + (end - begin), true);
    const Loop loop{.first = static_cast<std::size_t>(begin - code.begin()),
                    .last = last,
                    .instructions = static_cast<int>(end - begin - passed_by),
                    .reciprocal_sqrts = static_cast<int>(std::count_if(begin, end, is_reciprocal_sqrt)),
                    .special = static_cast<int>(std::count_if(begin, end, is_special)),
                    .special_double = std::any_of(begin, end, is_special_double),
                    .any_double = std::any_of(begin, end, is_double)};
    if (loop.reciprocal_sqrts > 0) loops.push_back(loop);
  }
  return loops;
}

InstructionCounts unknown(std::string reason) {
  return {.reason = std::move(reason)};
}

std::optional<std::filesystem::path> find_cuobjdump() {
  std::vector<std::filesystem::path> folders;
  if (const char* home = std::getenv("CUDA_HOME")) folders.push_back(std::filesystem::path{home} / "bin");
  folders.emplace_back("/usr/local/cuda/bin");
  return find_program("cuobjdump", folders);
}

}  // namespace

InteractionCost InstructionCounts::cost(double pairs_per_interaction) const {
  const auto per_interaction = [&](std::optional<double> each) -> std::optional<double> {
    if (!each) return std::nullopt;
    return *each * pairs_per_interaction;
  };
  return {.instructions = per_interaction(per_pair),
          .mufu = per_interaction(mufu_per_pair),
          .double_precision = double_precision};
}

InstructionCounts counts_in_sass(std::string_view sass) {
  const std::vector<Instruction> code = instructions(sass);
  const std::vector<Loop> loops = pair_loops(code);
  const Loop* inner = nullptr;
  for (const Loop& loop : loops) {
    if (std::ranges::any_of(loops, [&](const Loop& other) { return loop.contains(other); })) continue;
    if (!inner || loop.reciprocal_sqrts > inner->reciprocal_sqrts) inner = &loop;
  }
  if (!inner) return unknown("its machine code has no loop with a reciprocal square root");
  const auto each = [&](int number) { return static_cast<double>(number) / inner->reciprocal_sqrts; };
  InstructionCounts counts{.per_pair = each(inner->instructions), .double_precision = inner->any_double};
  if (!inner->special_double) counts.mufu_per_pair = each(inner->special);
  return counts;
}

InstructionCounts counts_in_this_program(const std::string& function, int architecture, const std::stop_token& stop) {
  if (function.empty()) return unknown("the CUDA runtime does not report the kernel's symbol: it is older than 12.3");
  const auto cuobjdump = find_cuobjdump();
  if (!cuobjdump) return unknown("cuobjdump is not installed");
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return unknown("this program does not find its own file: " + error.message());
  const std::string sm = "sm_" + std::to_string(architecture);
  const auto sass = child_output(*cuobjdump, {"-sass", "-arch", sm, "-fun", function, program.string()}, stop);
  if (!sass) return unknown(cuobjdump->string() + " failed");
  if (sass->find("Function : " + function) == std::string::npos) {
    return unknown("this program's file has no machine code of the kernel for " + sm + ": the driver made it");
  }
  return counts_in_sass(*sass);
}

}  // namespace orrery
