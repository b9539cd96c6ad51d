#pragma once

#include <string>
#include <vector>

#include "app/ui_state/kernel_history.h"

namespace orrery {

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

}  // namespace orrery
