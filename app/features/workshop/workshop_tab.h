#pragma once

#include <map>
#include <string>

#include "app/features/workshop/workshop_status.h"

namespace orrery {
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
