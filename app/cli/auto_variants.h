#pragma once

#include "app/lab/variants.h"
#include "app/ui_state/view_options.h"
#include "compute/sim/backends.h"
#include "compute/sim/command.h"

namespace orrery {

/// The law of a setup's commands, with the scene's softening if they have none.
Law law_of(const Commands& setup, const Scene& scene);

/// The problem for which `auto` chooses a kernel.
struct AutoRequest {
  SceneRequest scene;  ///< with the number of bodies
  Commands setup;      ///< law and constants
  double accuracy = default_accuracy;
  bool jerks = false;  ///< for integrators that need them
};

/// Measures, or takes from the cache, which kernel and settings `auto` stands for, and prints them to stderr as a note.
/// Throws UsageError or std::runtime_error if the bodies cannot be loaded or no kernel can run.
Variant auto_variant(const Backends& backends, const AutoRequest& request);

/// Puts auto_variant() in front of the variants of `plan`, unless it is one of them.
void add_auto_variant(VariantPlan& plan, const Backends& backends, const AutoRequest& request);

}  // namespace orrery
