// The workshop for kernels: its commands, what the window shows of it, and the drafts of its editor.
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

/// State of the file that the workshop watches.
enum class WorkshopState {
  closed,     ///< no file
  compiling,  ///< its latest text
  checking,   ///< in another process
  running,    ///< its latest text is a kernel of the window
  unchecked,  ///< its latest text compiles; nothing here can run it
  rejected,   ///< its latest text is not, or cannot be read; an earlier version may run
};

/// A message about a line of the file.
struct WorkshopMessage {
  int line = 1;  ///< from 1; 0: the whole file
  bool is_error = true;
  std::string text;
};

/// The sources of a built-in kernel, to read and perhaps to start from.
struct WorkshopSource {
  struct File {
    std::string name, text;
  };
  std::string kernel_id;
  std::vector<File> files;   ///< its own first
  std::string why_no_start;  ///< one line; empty: a new kernel can start from it
};

/// The workshop as the window shows it.
struct WorkshopStatus {
  WorkshopState state = WorkshopState::closed;
  std::string file;                       ///< empty: none
  std::string kernel_id;                  ///< of the latest text that has one
  std::string problem;                    ///< why the state is `rejected`, one line
  std::string text;                       ///< of the file, as it was read last
  int text_number = 0;                    ///< counts the texts that were read
  std::vector<WorkshopMessage> messages;  ///< about the latest text: errors, then warnings
  std::vector<WorkshopVersion> versions;  ///< oldest first
  int running = 0;                        ///< the version that is the window's kernel now; 0: none
  std::string unavailable;                ///< why kernel files cannot run here; empty if they can
  std::vector<WorkshopSource> sources;    ///< of the built-in kernels; filled in when a window opens
};

/// Draft of one kernel file, as the user edits it.
struct SourceDraft {
  std::string text;              ///< of the editor; each line ends with '\n'
  std::string base;              ///< the text of the file that it was made from
  std::string asked;             ///< the text that Save asked for last
  std::string locked;            ///< why the text can only be read, one line; empty: it can be edited
  int text_number = 0;           ///< of WorkshopStatus, when the file was looked at
  bool changed_on_disk = false;  ///< the file has another text than `base`, and the user has yet to choose one
};

/// Takes every text that the file gets, except in place of edits.
void follow_file(const WorkshopStatus& workshop, SourceDraft& draft);

/// Forgets the edits.
void take_file_text(const std::string& text, SourceDraft& draft);

/// Forgets that the file has this text instead of the one that was edited.
void keep_edits(const std::string& text, SourceDraft& draft);

/// Whether there are edits that the file does not have.
bool unsaved(const SourceDraft& draft);

/// Text that Save would write: the draft with the file's line ends.
std::string file_text(const SourceDraft& draft);

/// Why saving the editor's text would damage this text of a file, one line; empty if it would not.
std::string why_not_editable(const std::string& text);

/// State that an editor keeps between frames.
struct EditorState {
  int cursor_line = -1;  ///< in the last frame, from 0; -1: not known
  std::string shown;     ///< the text after the last frame: if it is another one now, the program has changed it
};

/// Text that the user types in the workshop.
struct WorkshopDraft {
  std::string file;                            ///< to open, or the name of a new kernel
  std::map<std::string, SourceDraft> sources;  ///< of each file that was open
  EditorState editor;
  std::string source;       ///< the built-in kernel whose source is read; empty: the editor is shown
  std::string source_file;  ///< which of its files; one that it has not: its own
};

}  // namespace orrery
