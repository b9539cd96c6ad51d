// Commands of the workshop for kernels, its state in the window, and the drafts of its editor.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "app/ui_state/kernel_history.h"
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
  std::string from;  ///< starting point; empty: the shortest one
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

/// State of the file that the workshop watches.
enum class WorkshopState {
  closed,     ///< no file is open
  compiling,  ///< the latest text is being compiled
  checking,   ///< the latest text is being checked in another process
  running,    ///< the latest text is correct, and can run in the window
  unchecked,  ///< the latest text compiles, but nothing here can run it
  rejected,   ///< the latest text has errors or cannot be read; an earlier version may run
};

/// A message about a line of the file.
struct WorkshopMessage {
  int line = 1;  ///< from 1; 0: the whole file
  bool is_error = true;
  std::string text;
};

/// Source files of a built-in kernel, to read or to start a new kernel from.
struct WorkshopSource {
  struct File {
    std::string name, text;
  };
  std::string kernel_id;
  std::vector<File> files;   ///< the kernel's own file first
  std::string why_no_start;  ///< one line; empty: a new kernel can start from it
};

/// State of the workshop in the window.
struct WorkshopStatus {
  WorkshopState state = WorkshopState::closed;
  std::string file;                       ///< name of the open file; empty: none
  std::string kernel_id;                  ///< id in the latest text that has one
  std::string problem;                    ///< one line: why the state is `rejected`
  std::string text;                       ///< latest text that was read from the file
  int text_number = 0;                    ///< number of texts that were read so far
  std::vector<WorkshopMessage> messages;  ///< about the latest text: errors, then warnings
  std::vector<WorkshopVersion> versions;  ///< oldest first
  int running = 0;                        ///< version that runs in the window; 0: none
  std::string unavailable;                ///< why kernel files cannot run here; empty if they can
  std::vector<WorkshopSource> sources;    ///< of the built-in kernels; filled in when a window opens
};

/// The user's edits of one kernel file.
struct SourceDraft {
  std::string text;              ///< text in the editor; each line ends with '\n'
  std::string base;              ///< text of the file on which the edits are based
  std::string asked;             ///< text that was saved last
  std::string locked;            ///< one line: why the text cannot be edited; empty: it can
  int text_number = 0;           ///< WorkshopStatus::text_number when the file was last compared
  bool changed_on_disk = false;  ///< the file's text is not `base`, and the user has not yet chosen one
};

/// Updates the draft after the file has changed. Edits are kept; `changed_on_disk` is then set.
void follow_file(const WorkshopStatus& workshop, SourceDraft& draft);

/// Replaces the edits by the text of the file.
void take_file_text(const std::string& text, SourceDraft& draft);

/// Keeps the edits, which are then based on this text of the file.
void keep_edits(const std::string& text, SourceDraft& draft);

/// Returns whether there are edits that the file does not have.
bool unsaved(const SourceDraft& draft);

/// Returns the text that Save would write: the draft, with the file's line ends.
std::string file_text(const SourceDraft& draft);

/// Returns one line that says why the editor would damage this text; empty if it would not.
std::string why_not_editable(const std::string& text);

/// State of an editor between frames.
struct EditorState {
  int cursor_line = -1;  ///< in the last frame, from 0; -1: unknown
  std::string shown;     ///< text after the last frame; if it differs now, the program has changed it
};

/// The user's entries in the workshop.
struct WorkshopDraft {
  std::string file;                            ///< name of a file to open, or of a new kernel
  std::map<std::string, SourceDraft> sources;  ///< drafts by file name, of all files that were open
  EditorState editor;
  std::string source;       ///< id of the built-in kernel whose source is shown; empty: the editor is shown
  std::string source_file;  ///< name of the shown source file; if the kernel has no such file, its own file is shown
};

}  // namespace orrery
