#pragma once

#include <string>
#include <tuple>

#include "compute/sim/command_row.h"

namespace orrery {

struct OpenKernelFile {
  std::string file;
};

struct CloseKernelFile {};

struct CompileKernelFile {};

struct SaveKernelFile {
  std::string text;
};

struct NewKernelFile {
  std::string id;
  std::string from;  ///< empty: the shortest starting point
};

struct BringKernelBack {
  int version;

  static constexpr Range<int> versions{1, 1'000'000};
};

/// The commands of the workshop for kernels.
inline constexpr std::tuple workshop_commands{
    command_row<OpenKernelFile>("workshop-open",
                                "Opens a kernel file: it is compiled and checked whenever it is saved.",
                                Argument<&OpenKernelFile::file>{{.name = "file", .form = Form::file}}),
    command_row<CloseKernelFile>("workshop-close", "Closes the kernel file; its kernel stays."),
    command_row<CompileKernelFile>("workshop-compile", "Compiles and checks the kernel file once more."),
    command_row<SaveKernelFile>("workshop-save", "Replaces the text of the open kernel file.",
                                Argument<&SaveKernelFile::text>{{.name = "text"}}),
    command_row<NewKernelFile>("workshop-new", "Writes a new kernel file, ID.cu, in the working folder, and opens it.",
                               Argument<&NewKernelFile::id>{{.name = "id"}},
                               Argument<&NewKernelFile::from>{{.name = "from", .optional = true}}),
    command_row<BringKernelBack>(
        "workshop-bring-back", "Writes an earlier version of the kernel file as its newest one.",
        Argument<&BringKernelBack::version>{{.name = "version", .range = BringKernelBack::versions}})};

}  // namespace orrery
