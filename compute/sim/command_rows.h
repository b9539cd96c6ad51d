// The table of the simulation's commands.
#pragma once

#include <tuple>

#include "compute/sim/command.h"
#include "compute/sim/command_row.h"

namespace orrery {

/// The commands of a simulation, in the order of SimulationCommands.
inline constexpr std::tuple simulation_commands{
    command_row<SelectIntegrator>("integrator", "Selects an integrator.",
                                  Argument<&SelectIntegrator::id>{{.name = "id", .check = check_integrator}}),
    command_row<SelectLaw>("law", "Selects the force between two bodies.",
                           Argument<&SelectLaw::id>{{.name = "id", .check = check_law}}),
    command_row<SetTimeStep>("dt", "Sets the time step.",
                             Argument<&SetTimeStep::time_step>{{.name = "value", .range = SetTimeStep::range}}),
    command_row<SetEta>("eta", "Sets the accuracy of block time steps.",
                        Argument<&SetEta::eta>{{.name = "value", .range = SetEta::range}}),
    command_row<SetDigits>("digits",
                           "Sets whether positions and velocities are floats, or floats with low words, so "
                           "that steps lose no digits.",
                           Argument<&SetDigits::digits>{{.name = "digits"}}),
    command_row<SetSoftening>("softening", "Sets the softening length.",
                              Argument<&SetSoftening::softening>{{.name = "value", .range = SetSoftening::range}}),
    command_row<SetRepulsion>("repulsion", "Sets H of the law attract-repel.",
                              Argument<&SetRepulsion::repulsion>{{.name = "value", .range = SetRepulsion::range}}),
    command_row<SetDrag>("drag", "Sets D of the law attract-repel.",
                         Argument<&SetDrag::drag>{{.name = "value", .range = SetDrag::range}}),
    command_row<SelectKernel>(
        "kernel",
        "Selects a kernel, or version 2 of a kernel file with ID@2; auto selects the fastest that is accurate enough.",
        Argument<&SelectKernel::id>{{.name = "id"}},
        Argument<&SelectKernel::settings>{{.name = "settings", .optional = true}}),
    command_row<SetTunable>("set", "Changes a setting of the kernel.", Argument<&SetTunable::name>{{.name = "name"}},
                            Argument<&SetTunable::value>{{.name = "value"}}),
    command_row<SetAccuracy>(
        "accuracy", "Sets the median force error that auto allows; the p99 may be 5 times this. exact: full fp32.",
        Argument<&SetAccuracy::median_error>{{.name = "value", .range = SetAccuracy::range, .word = "exact"}}),
    command_row<SetStepsPerFrame>(
        "steps-per-frame", "Sets the number of steps per frame.",
        Argument<&SetStepsPerFrame::steps>{{.name = "steps", .range = SetStepsPerFrame::range}}),
    command_row<SetPaused>("pause", "Pauses the run; off: continues it.",
                           Argument<&SetPaused::paused>{{.name = "paused", .optional = true}})
        .also("resume", "pause off"),
    command_row<StepOnce>("step", "Pauses, then runs one step."),
    command_row<Restart>("restart", "Returns to the scene's first state."),
    command_row<Reset>("reset", "Returns to the scene's first state and its own physics."),
    command_row<LoadScene>(
        "scene", "Loads a scene or a file of bodies, with its own dt and softening.",
        Argument<&LoadScene::request, &SceneRequest::scene>{{.name = "name", .optional = true, .check = check_scene}},
        Argument<&LoadScene::request, &SceneRequest::file>{{.name = "file", .optional = true, .form = Form::file}},
        Argument<&LoadScene::request, &SceneRequest::count>{
            {.name = "n", .optional = true, .range = body_counts, .form = Form::count}},
        Argument<&LoadScene::request, &SceneRequest::seed>{
            {.name = "seed", .optional = true, .range = LoadScene::seeds}},
        Argument<&LoadScene::request, &SceneRequest::hints, &SnapshotHints::units>{{.name = "units", .optional = true}},
        Argument<&LoadScene::request, &SceneRequest::hints, &SnapshotHints::columns>{
            {.name = "columns", .optional = true}},
        Argument<&LoadScene::request, &SceneRequest::hints, &SnapshotHints::state>{
            {.name = "state", .optional = true, .range = LoadScene::states}},
        Argument<&LoadScene::request, &SceneRequest::hints, &SnapshotHints::cosmological>{
            {.name = "cosmological", .optional = true}},
        Argument<&LoadScene::request, &SceneRequest::hints, &SnapshotHints::hubble>{
            {.name = "hubble", .optional = true, .range = LoadScene::hubbles}}),
    command_row<ReturnToRun>(
        "return-to", "Returns to the given run: its scene, physics, kernel and settings.",
        Argument<&ReturnToRun::run, &RunSetup::kernel_id>{{.name = "kernel"}},
        Argument<&ReturnToRun::run, &RunSetup::physics, &Physics::integrator_id>{
            {.name = "integrator", .check = check_integrator}},
        Argument<&ReturnToRun::run, &RunSetup::physics, &Physics::time_step>{
            {.name = "dt", .range = SetTimeStep::range}},
        Argument<&ReturnToRun::run, &RunSetup::physics, &Physics::eta>{
            {.name = "eta", .optional = true, .range = SetEta::range}},
        Argument<&ReturnToRun::run, &RunSetup::physics, &Physics::digits>{{.name = "digits", .optional = true}},
        Argument<&ReturnToRun::run, &RunSetup::physics, &Physics::law, &Law::id>{{.name = "law", .optional = true}},
        Argument<&ReturnToRun::run, &RunSetup::physics, &Physics::law, &Law::softening>{
            {.name = "softening", .optional = true, .range = SetSoftening::range}},
        Argument<&ReturnToRun::run, &RunSetup::physics, &Physics::law, &Law::repulsion>{
            {.name = "repulsion", .optional = true, .range = SetRepulsion::range}},
        Argument<&ReturnToRun::run, &RunSetup::physics, &Physics::law, &Law::drag>{
            {.name = "drag", .optional = true, .range = SetDrag::range}},
        Argument<&ReturnToRun::run, &RunSetup::scene, &SceneRequest::scene>{
            {.name = "scene", .optional = true, .check = check_scene}},
        Argument<&ReturnToRun::run, &RunSetup::scene, &SceneRequest::file>{
            {.name = "file", .optional = true, .form = Form::file}},
        Argument<&ReturnToRun::run, &RunSetup::scene, &SceneRequest::count>{
            {.name = "n", .optional = true, .range = body_counts, .form = Form::count}},
        Argument<&ReturnToRun::run, &RunSetup::scene, &SceneRequest::seed>{
            {.name = "seed", .optional = true, .range = LoadScene::seeds}},
        Argument<&ReturnToRun::run, &RunSetup::scene, &SceneRequest::hints, &SnapshotHints::units>{
            {.name = "units", .optional = true}},
        Argument<&ReturnToRun::run, &RunSetup::scene, &SceneRequest::hints, &SnapshotHints::columns>{
            {.name = "columns", .optional = true}},
        Argument<&ReturnToRun::run, &RunSetup::scene, &SceneRequest::hints, &SnapshotHints::state>{
            {.name = "state", .optional = true, .range = LoadScene::states}},
        Argument<&ReturnToRun::run, &RunSetup::scene, &SceneRequest::hints, &SnapshotHints::cosmological>{
            {.name = "cosmological", .optional = true}},
        Argument<&ReturnToRun::run, &RunSetup::scene, &SceneRequest::hints, &SnapshotHints::hubble>{
            {.name = "hubble", .optional = true, .range = LoadScene::hubbles}},
        Argument<&ReturnToRun::run, &RunSetup::settings>{{.name = "settings", .optional = true}}),
    command_row<UndoReturn>("undo", "Undoes the last return to a run."),
    command_row<ProbeForces>(
        "probe-forces", "Compares the forces of sample bodies with sums in double precision, once.",
        Argument<&ProbeForces::sample>{{.name = "sample", .range = ProbeForces::range}},
        Argument<&ProbeForces::turn>{{.name = "turn", .optional = true, .range = ProbeForces::turns}},
        Argument<&ProbeForces::body>{{.name = "body",
                                      .optional = true,
                                      .range = ProbeForces::bodies,
                                      .word = "none",
                                      .word_number = ComparedBodies::nobody}}),
    command_row<ReadAccelerations>("read-accelerations", "Reads the magnitude of each body's acceleration, once."),
    command_row<ReadDomains>("read-domains", "Reads which rank or device evaluates each body, once."),
    command_row<MeasureConserved>("measure-conserved", "Measures energy, momentum and angular momentum, once."),
    command_row<ReadTreeCells>(
        "read-tree-cells", "Reads the cells of the latest tree, the larger ones first.",
        Argument<&ReadTreeCells::most>{{.name = "most", .optional = true, .range = ReadTreeCells::range}},
        Argument<&ReadTreeCells::level>{{.name = "level",
                                         .optional = true,
                                         .range = ReadTreeCells::levels,
                                         .word = "all",
                                         .word_number = CellRequest::every_level}},
        Argument<&ReadTreeCells::walk_of>{{.name = "walk",
                                           .optional = true,
                                           .range = ReadTreeCells::bodies,
                                           .word = "none",
                                           .word_number = CellRequest::nobody}}),
    command_row<KeepCheckpoint>("keep-checkpoint", "Keeps the present state as the checkpoint."),
    command_row<RestoreCheckpoint>("restore-checkpoint", "Returns to the latest checkpoint.")};

}  // namespace orrery
