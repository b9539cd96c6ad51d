#pragma once

#include <string>

namespace orrery {

/// `path` with "-NUMBER" before its extension: "runs/a.csv" and 2 give "runs/a-2.csv"; `path` itself for 0.
std::string numbered_path(const std::string& path, int number);

/// `path`, or where something is there the first numbered_path() that is free. For writers that take a name; an
/// OutputFile also keeps another program from taking the name in between.
std::string unique_path(const std::string& path);

/// A free path in the folder for files that nobody named, orrery-out, which is made if it is missing.
std::string new_output(const std::string& name);

}  // namespace orrery
