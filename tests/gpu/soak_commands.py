"""Random commands for soak.py, from a seed: the same seed, kernels and machine give the same script."""

import os
import random

FRAMES_PER_COMMAND = 5
COMMANDS_PER_ROUND = 60
STEPS = 40  # undisturbed, at the end of a round
MOST_FRAMES_PER_S = 1500  # the script is long enough for this
ROUNDS_PER_PROFILE = 100  # a profile takes a second and more
OUTPUTS = "orrery-out"  # the program's folder for files without a name
WAIT = None  # between two commands: the frames of one command
SCENES = ["plummer", "two-body", "collision"]
CAMERA = ["orbit 0.1 0.05", "zoom 2", "zoom -2", "pan 0.1 0", "fly 0 0 0.2", "look-from 0.5 0.3", "frame-all",
          "reset-camera", "follow mass", "follow off", "pick-body 1", "unpick"]
LOOKS = ["appearance colour=speed", "appearance colour=acceleration map=3", "appearance look=density",
         "appearance colour=local-density", "appearance colour=mass drawing=splats", "theme light", "theme dark",
         "appearance colour=time-step-class", "appearance colour=force-error", "trails on", "trails off",
         "vectors velocity", "vectors off", "cells on", "cells off", "axes on", "axes off"]
TABS = ["results", "speed-error", "sweep", "race", "card", "profile", "conservation", "compare", "workshop", "fold"]


class Commands:
    """None of the commands fails, so a refusal is a finding. `kernel_file` null: kernel files cannot run here."""

    def __init__(self, kernels, seed, most_bodies, kernel_file, profiles):
        self.kernels, self.random, self.most_bodies = kernels, random.Random(seed), most_bodies
        self.kernel_file, self.profiles = kernel_file, profiles
        processors = len(os.sched_getaffinity(0))
        for kernel in kernels:
            for tunable in kernel["tunables"]:
                if tunable["name"] == "threads":
                    tunable["values"] = [value for value in tunable["values"]
                                         if not value.isdigit() or int(value) <= processors]

    def kernel(self, kernel):
        """All settings have their initial values but one: not every combination can run."""
        values = {tunable["name"]: tunable["initial"] for tunable in kernel["tunables"]}
        if values:
            changed = self.random.choice(kernel["tunables"])
            values[changed["name"]] = self.random.choice(changed["values"])
        settings = ",".join(f"{name}={value}" for name, value in values.items())
        return f"kernel {kernel['id']}" + (f" settings={settings}" if settings else "")

    def with_property(self, name):
        return self.random.choice([kernel for kernel in self.kernels if kernel[name]])

    def scene(self):
        name = self.random.choice(SCENES)
        return "scene two-body" if name == "two-body" else (
            f"scene {name} n={self.random.randint(64, self.most_bodies)} seed={self.random.randint(1, 999)}")

    def blocks(self):
        return [self.kernel(self.with_property("takes_targets")), "integrator leapfrog-blocks",
                f"eta {self.random.choice([0.005, 0.02, 0.05])}", WAIT, WAIT, "integrator leapfrog"]

    def hermite(self):
        return [self.kernel(self.with_property("gives_jerks")),
                f"integrator {self.random.choice(['hermite4', 'hermite4-blocks'])}", WAIT, WAIT, "integrator leapfrog"]

    def race(self):
        jerks = self.random.random() < 0.5
        kernel = self.with_property("gives_jerks" if jerks else "takes_targets")["id"]
        integrator = self.random.choice(["hermite4", "hermite4-blocks"] if jerks else ["leapfrog", "leapfrog-blocks"])
        return [f"race 0.01 {kernel} integrators={integrator} dt=0.001", WAIT, WAIT, "stop-race"]

    def compare(self):
        kernel = self.random.choice(self.kernels)["id"]
        nudge = self.random.choice(["", " nudge=1e-5"])
        return [f"compare-with {kernel} integrator={self.random.choice(['leapfrog', 'euler'])}{nudge}",
                f"compare-layout {self.random.choice(['side', 'over'])}", "appearance colour=distance", WAIT, WAIT,
                "compare-with off"]

    def files(self):
        """New ones: each line that names a file is compared with all others before the run starts."""
        return self.random.choice([["record", WAIT, WAIT, "stop-record"], ["save"], ["screenshot"], ["export"], ["report"]])

    def compiled(self):
        """The file is compiled and checked; the frame waits for it. A refusal would be a line of stderr."""
        return [f"workshop-open {self.kernel_file}", WAIT, "workshop-close"] if self.kernel_file else []

    def some(self):
        """Commands that belong together. Those that take seconds are rare."""
        choose = self.random.choice
        if self.random.random() < 0.0005:
            return self.compiled()
        return choose([
            lambda: [self.kernel(choose(self.kernels))], lambda: [self.kernel(choose(self.kernels))],
            lambda: [self.kernel(choose(self.kernels))], lambda: [self.scene()], lambda: [self.scene()],
            lambda: [f"dt {choose([0.0001, 0.0005, 0.001, 0.002])}"], lambda: [f"softening {choose([0.01, 0.05, 0.2])}"],
            lambda: ["reset"], lambda: ["restart"], lambda: ["pause", "step"], lambda: ["resume"], lambda: ["resume"],
            lambda: [f"steps-per-frame {choose([1, 2, 5])}"],
            lambda: [f"integrator {choose(['leapfrog', 'euler', 'yoshida4'])}"], self.blocks, self.hermite,
            lambda: [f"digits {choose(['float', 'compensated'])}"], self.race, self.compare, self.files,
            lambda: ["keep-checkpoint", WAIT, "restore-checkpoint"], lambda: [choose(CAMERA)], lambda: [choose(LOOKS)],
            lambda: [choose(LOOKS)], lambda: ["measure-conserved"], lambda: [f"lab {choose(TABS)}"],
        ])()

    def end_of_round(self):
        """What starts the undisturbed steps, and the options with which 'orrery run' makes them."""
        choose = self.random.choice
        kernel = self.with_property("repeatable")
        integrators = ["leapfrog", "euler", "yoshida4"]
        integrators += ["leapfrog-blocks"] if kernel["takes_targets"] else []
        integrators += ["hermite4", "hermite4-blocks"] if kernel["gives_jerks"] else []
        integrator, digits, dt = choose(integrators), choose(["float", "compensated"]), choose(["0.0005", "0.001"])
        text = self.kernel(kernel)
        settings = text.partition("settings=")[2]
        n, seed = str(self.random.randint(64, self.most_bodies)), str(self.random.randint(1, 999))
        commands = ["clear-results", text, f"scene plummer n={n} seed={seed}", "reset", f"dt {dt}",
                    f"integrator {integrator}", f"digits {digits}", "steps-per-frame 1", "resume"]
        options = ["--scene", "plummer", "-n", n, "--seed", seed, "--dt", dt, "--steps", str(STEPS),
                   "--integrator", integrator, "--digits", digits]
        options += ["--kernel-file", self.kernel_file] if kernel.get("file") else ["--kernel", kernel["id"]]
        for setting in filter(None, settings.split(",")):
            options += ["--set", setting]
        return commands, options


def writes_replay(number):
    """Whether the round does. A file holds up to a thousand starts, so that not every round of a long run writes one."""
    return number < 10 or number % 10 == 0


def write_script(path, commands, minutes, folder):
    """Returns the options of 'orrery run' for each round that writes a replay file."""
    options, frame, number = {}, 0, 0
    with open(path, "w") as script:
        while frame < minutes * 60 * MOST_FRAMES_PER_S:
            script.write(f"{frame} integrator leapfrog\n")  # which any kernel suits
            for _ in range(COMMANDS_PER_ROUND):
                for command in commands.some():
                    if command is WAIT:
                        frame += FRAMES_PER_COMMAND
                    else:
                        script.write(f"{frame} {command}\n")
                frame += FRAMES_PER_COMMAND
            if commands.profiles and number % ROUNDS_PER_PROFILE == 1:
                script.write(f"{frame} profile\n")
            last, of_run = commands.end_of_round()
            script.writelines(f"{frame} {command}\n" for command in last)
            frame += STEPS
            if writes_replay(number):
                script.write(f"{frame} save-replay {folder}/{number}.replay\n")
                options[number] = of_run
            number += 1
        script.write(f"{frame} quit\n")
    return options
