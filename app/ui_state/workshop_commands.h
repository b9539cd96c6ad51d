#pragma once

#include <string>

#include "compute/core/text.h"
#include "compute/sim/command_row.h"

namespace orrery {

struct OpenKernelFile {
  std::string file;

  template <class = void>
  static constexpr auto describe() {
    return command_row<OpenKernelFile>("workshop-open",
                                       "Opens a kernel file: it is compiled and checked whenever it is saved.",
                                       Argument<&OpenKernelFile::file>{{.name = "file", .form = Form::file}});
  }
};

struct CloseKernelFile {
  template <class = void>
  static constexpr auto describe() {
    return command_row<CloseKernelFile>("workshop-close", "Closes the kernel file; its kernel stays.");
  }
};

struct CompileKernelFile {
  template <class = void>
  static constexpr auto describe() {
    return command_row<CompileKernelFile>("workshop-compile", "Compiles and checks the kernel file once more.");
  }
};

struct SaveKernelFile {
  std::string text;

  template <class = void>
  static constexpr auto describe() {
    return command_row<SaveKernelFile>("workshop-save", "Replaces the text of the open kernel file.",
                                       Argument<&SaveKernelFile::text>{{.name = "text"}});
  }
};

struct NewKernelFile {
  std::string id;
  std::string from;  ///< empty: the shortest starting point

  template <class = void>
  static constexpr auto describe() {
    return command_row<NewKernelFile>("workshop-new",
                                      "Writes a new kernel file, ID.cu, in the working folder, and opens it.",
                                      Argument<&NewKernelFile::id>{{.name = "id"}},
                                      Argument<&NewKernelFile::from>{{.name = "from", .optional = true}});
  }
};

struct BringKernelBack {
  int version;

  static constexpr Range<int> versions{1, 1'000'000};

  template <class = void>
  static constexpr auto describe() {
    return command_row<BringKernelBack>(
        "workshop-bring-back", "Writes an earlier version of the kernel file as its newest one.",
        Argument<&BringKernelBack::version>{{.name = "version", .range = BringKernelBack::versions}});
  }
};

}  // namespace orrery
