"""What other programs read of the files that Orrery writes: h5py and, where they are installed, yt and pynbody.

    snapshot_readers.py ORRERY [--require-all]

Exits with 77 (skipped) if numpy or h5py is not here, or if Orrery has no HDF5. With --require-all, that and a missing
yt or pynbody is a failure. Compares positions, velocities and masses in physical units, ids, species and time; also
converts files that h5py and struct wrote. Files as GADGET, AREPO, GIZMO, SWIFT, EAGLE and OWLS write them are read by
Orrery, yt and pynbody, and all must find the bodies that were put into them.
"""
import importlib.util
import os
import struct
import subprocess
import sys
import tempfile
import warnings
import zlib

REQUIRE_ALL = "--require-all" in sys.argv[2:]


def skip(cause):
    print(f"{'missing' if REQUIRE_ALL else 'skipped'}: {cause}")
    sys.exit(1 if REQUIRE_ALL else 77)


try:
    import h5py
    import numpy as np
except ImportError as error:
    skip(error)

KPC, MSUN, KM = 3.0856775814913673e21, 1.988409870698051e33, 1e5
G = 6.6743e-8
ORRERY = os.path.abspath(sys.argv[1])


def orrery(*words):
    done = subprocess.run([ORRERY, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"orrery {' '.join(words)}: {done.stderr}"
    return done.stdout + done.stderr


def made_bodies():
    """A table of seven columns, ids and species, in pc, Msun and km/s."""
    random = np.random.default_rng(1)
    n = 200
    table = np.column_stack([random.uniform(1e5, 2e5, n), random.normal(0, 3000, (n, 3)), random.normal(0, 100, (n, 3))])
    return table.astype(np.float32).astype(float), np.arange(n) + 5000, np.array([0, 1, 1, 4])[np.arange(n) % 4]


def write_table(name, table, ids, species):
    with open(name, "w", encoding="ascii") as out:
        out.write(f"# time = 3\n# length_cm = {1e-3 * KPC!r}\n# mass_g = {MSUN!r}\n# velocity_cm_s = {KM!r}\n")
        out.write("# m x y z vx vy vz id species\n")
        for row, number, kind in zip(table, ids, species):
            out.write(" ".join(repr(float(v)) for v in row) + f" {number} {kind}\n")


def check(what, found, expected, tolerance=1e-5):
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    assert found.shape == expected.shape, f"{what}: {found.shape}, not {expected.shape}"
    worst = np.max(np.abs(found - expected)) / np.max(np.abs(expected))
    assert worst < tolerance, f"{what}: off by {worst}"  # programs' solar masses differ by 3e-6


def in_order(ids, *arrays):
    order = np.argsort(np.asarray(ids))
    return [np.asarray(array)[order] for array in arrays]


def check_h5py(table, ids, species):
    with h5py.File("a.hdf5") as file:
        head, units = file["Header"].attrs, file["Units"].attrs
        assert list(head["NumPart_ThisFile"]) == [np.sum(species == k) for k in range(6)]
        assert head["BoxSize"] == 0 and head["NumFilesPerSnapshot"] == 1 and "HubbleParam" not in head
        length, mass, speed = (units[f"Unit{k}"] for k in ("Length_in_cm", "Mass_in_g", "Velocity_in_cm_per_s"))
        check("units", [length / KPC, mass / 1e10 / MSUN, speed / KM], [1, 1, 1])
        check("time", head["Time"] * length / speed, 3 * 1e-3 * KPC / KM)
        for kind in (0, 1, 4):
            of_kind, group = species == kind, file[f"PartType{kind}"]
            assert sorted(group["ParticleIDs"][:]) == sorted(ids[of_kind])
            m, x, v = in_order(group["ParticleIDs"], group["Masses"], group["Coordinates"], group["Velocities"])
            assert m.dtype == x.dtype == v.dtype == np.float32
            m, x, v = m.astype(float), x.astype(float), v.astype(float)
            check("HDF5 masses", m * mass, table[of_kind, 0] * MSUN)
            check("HDF5 positions", x * length, table[of_kind, 1:4] * 1e-3 * KPC)
            check("HDF5 velocities", v * speed, table[of_kind, 4:7] * KM)


def check_gadget(table, species, name, order):
    with open(name, "rb") as file:
        data = file.read()
    head = struct.unpack(order + "6i6d2d2i6i2i4d2i6i3if48x", data[4:260])
    n = len(table)
    assert list(head[:6]) == [np.sum(species == k) for k in range(6)] and head[23] == 1  # num_files
    sort = np.argsort(species, kind="stable")
    x = np.frombuffer(data, order + "f4", 3 * n, 268).reshape(n, 3)
    v = np.frombuffer(data, order + "f4", 3 * n, 268 + 12 * n + 8).reshape(n, 3)
    check("GADGET positions", x, table[sort, 1:4] * 1e-3)
    check("GADGET velocities", v, table[sort, 4:7])


def check_tipsy(table, species):
    with open("t/a.tipsy", "rb") as file:
        data = file.read()
    with open("t/a.param", encoding="ascii") as file:
        param = dict(line.split(" = ") for line in file.read().splitlines())
    length, mass = float(param["dKpcUnit"]) * KPC, float(param["dMsolUnit"]) * MSUN
    speed = np.sqrt(G * mass / length)
    gas = np.frombuffer(data, ">f4", 12 * np.sum(species == 0), 32).reshape(-1, 12).astype(float)
    check("TIPSY masses", gas[:, 0] * mass, table[species == 0, 0] * MSUN)
    check("TIPSY positions", gas[:, 1:4] * length, table[species == 0, 1:4] * 1e-3 * KPC)
    check("TIPSY velocities", gas[:, 4:7] * speed, table[species == 0, 4:7] * KM)


def check_foreign_hdf5():
    """A file as SWIFT writes it: other units, numbers in arrays of one, double precision, seven types."""
    with h5py.File("swift.hdf5", "w") as file:
        head = file.create_group("Header").attrs
        head["NumPart_ThisFile"], head["MassTable"] = np.array([0, 3, 0, 0, 0, 0, 0]), np.zeros(7)
        head["Time"], head["BoxSize"], head["NumFilesPerSnapshot"] = np.array([1.5]), np.zeros(3), np.array([1])
        units = file.create_group("Units").attrs
        units["Unit length in cgs (U_L)"], units["Unit mass in cgs (U_M)"] = np.array([1e21]), np.array([1e40])
        units["Unit time in cgs (U_t)"] = np.array([1e15])
        group = file.create_group("PartType1")
        group["Coordinates"] = np.arange(9.0).reshape(3, 3)
        group["Velocities"] = np.ones((3, 3))
        group["Masses"], group["ParticleIDs"] = np.array([1.0, 2, 3]), np.array([2**40, 7, 1], "u8")
        group.create_dataset("Potential", data=np.zeros(3), compression="gzip")
    said = orrery("convert", "swift.hdf5", "swift.txt")
    assert "not kept: Potential of PartType1" in said and "rounded to single" in said, said
    rows = [line.split() for line in open("swift.txt", encoding="ascii") if not line.startswith("#")]
    assert rows[0] == ["1", "0", "1", "2", "1", "1", "1", str(2**40)], rows[0]
    assert "# length_cm = 1e+21\n" in open("swift.txt", encoding="ascii").read()


def refused(name, *words):
    done = subprocess.run([ORRERY, "inspect", name], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr
    for word in (name, *words):
        assert word in done.stderr, f"{word} is not in: {done.stderr}"


def arepo_part(name, counts, totals, files, number, width="f4", **storage):
    """A file as AREPO writes it: units and h in Header, dark matter by MassTable, gas with masses of its own."""
    with h5py.File(name, "w") as file:
        head = file.create_group("Header").attrs
        head["NumPart_ThisFile"], head["NumPart_Total"] = np.array(counts, "i4"), np.array(totals, "u4")
        head["NumPart_Total_HighWord"] = np.zeros(6, "u4")
        head["MassTable"] = np.array([0, 0.5, 0, 0, 0, 0])
        head["Time"], head["Redshift"], head["BoxSize"], head["HubbleParam"] = 2.0, 0.0, 0.0, 1.0
        head["NumFilesPerSnapshot"] = np.int32(files)
        head["UnitLength_in_cm"], head["UnitMass_in_g"], head["UnitVelocity_in_cm_per_s"] = KPC, MSUN, KM
        for kind, count in enumerate(counts):
            if count == 0:
                continue
            group = file.create_group(f"PartType{kind}")
            rows = number * 100 + np.arange(count)
            group.create_dataset("Coordinates", data=np.column_stack([rows, rows * 2, rows * 0 + kind]).astype(width), **storage)
            group.create_dataset("Velocities", data=np.ones((count, 3), width), **storage)
            group.create_dataset("ParticleIDs", data=(1000 * kind + rows).astype("u8"), **storage)
            if kind == 0:
                group.create_dataset("Masses", data=(1.0 + rows).astype(width), **storage)
                group.create_dataset("Density", data=np.ones(count, width), **storage)
                group.create_dataset("GFM_Metallicity", data=np.full(count, 0.02, width), **storage)


def rows_of(name):
    lines = [line.split() for line in open(name, encoding="ascii")]
    return {row[7]: [float(x) for x in row] for row in lines if row[0] != "#"}


def check_parts():
    """Several files of one snapshot, with types that some of them do not have."""
    totals = [2, 5, 0, 0, 1, 0]
    for number, counts in enumerate(([2, 2, 0, 0, 0, 0], [0, 3, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0])):
        arepo_part(f"part.{number}.hdf5", counts, totals, 3, number, "f8" if number else "f4", compression="gzip", shuffle=True)
    with h5py.File("part.2.hdf5", "a") as file:
        file["PartType4/Masses"] = np.array([7.0])
    said = orrery("convert", "part.1.hdf5", "parts.txt")
    assert "8 bodies" in said and "the 3 files" in said and "Density of PartType0" in said, said
    rows = rows_of("parts.txt")
    assert len(rows) == 8 and rows["1100"][:4] == [0.5, 100, 200, 1] and rows["4200"][0] == 7, rows
    assert rows["1"][0] == 2 and rows["1"][8] == 0 and abs(rows["1"][9] - 0.02) < 1e-8, rows["1"]
    assert "# length_cm = 3.0856775814913673e+21\n" in open("parts.txt", encoding="ascii").read()
    os.rename("part.2.hdf5", "away")
    said = orrery("inspect", "part.0.hdf5", "--wide")
    assert "a part of its snapshot, 4 bodies" in said and "read alone (4 body records of 8): 'part.2.hdf5' is missing" in said, said
    arepo_part("part.2.hdf5", [0, 0, 0, 0, 0, 0], totals, 3, 2)
    refused("part.0.hdf5", "7 body records", "8 in all")
    os.rename("part.0.hdf5", "alone.hdf5")
    assert "no number from 0 to 2" in orrery("inspect", "alone.hdf5", "--wide")


def check_variants():
    counts = [0, 4, 0, 0, 0, 0]
    arepo_part("chunks.hdf5", counts, counts, 1, 0, "f8", chunks=True, compression="lzf")
    refused("chunks.hdf5", "PartType1/Coordinates", "filter lzf", "gzip")
    arepo_part("virtual.hdf5", counts, counts, 1, 0)
    with h5py.File("virtual.hdf5", "a") as file:
        del file["PartType1/Coordinates"]
        layout = h5py.VirtualLayout((4, 3), "f4")
        layout[:] = h5py.VirtualSource("chunks.hdf5", "PartType1/Coordinates", (4, 3))
        file["PartType1"].create_virtual_dataset("Coordinates", layout)
    refused("virtual.hdf5", "PartType1/Coordinates", "other files")
    arepo_part("wide.hdf5", counts, counts, 1, 0)
    with h5py.File("wide.hdf5", "a") as file:
        del file["PartType1/Coordinates"]
        file["PartType1"].create_dataset("Coordinates", (4, 3), "f4", chunks=(10**8, 3), maxshape=(None, 3), compression="gzip")
        file["PartType1/Coordinates"].id.write_direct_chunk((0, 0), zlib.compress(bytes(100)))
    refused("wide.hdf5", "PartType1/Coordinates", "chunks", "256 MiB")
    arepo_part("elements.hdf5", counts, counts, 1, 0)
    with h5py.File("elements.hdf5", "a") as file:
        file["PartType1/Metallicity"] = np.zeros((4, 11))
    assert "Metallicity of PartType1" in orrery("convert", "elements.hdf5", "elements.txt")
    for rows in (70_001, 200_003):  # larger than a block of the reader, and chunks larger than one
        counts = [0, rows, 0, 0, 0, 0]
        arepo_part("large.hdf5", counts, counts, 1, 0, "f8", chunks=True, compression="gzip")
        arepo_part("flat.hdf5", counts, counts, 1, 0, "f8", chunks=None)
        for name in ("large", "flat"):
            orrery("convert", name + ".hdf5", name + ".ply", "--force")
        with open("large.ply", "rb") as one, open("flat.ply", "rb") as other:
            assert one.read() == other.read()


def check_swift():
    """A cosmological run of SWIFT: comoving coordinates, peculiar velocities, no h."""
    with h5py.File("web.hdf5", "w") as file:
        head = file.create_group("Header").attrs
        head["NumPart_ThisFile"], head["MassTable"] = np.array([0, 2, 0, 0, 0, 0, 0]), np.zeros(7)
        head["Time"], head["Scale-factor"], head["NumFilesPerSnapshot"] = np.array([1e-3]), np.array([0.25]), np.array([1])
        file.create_group("Cosmology").attrs["Cosmological run"] = np.array([1])
        units = file.create_group("Units").attrs
        units["Unit length in cgs (U_L)"], units["Unit mass in cgs (U_M)"] = np.array([KPC]), np.array([MSUN])
        units["Unit time in cgs (U_t)"] = np.array([KPC / KM])
        group = file.create_group("PartType1")
        group["Coordinates"], group["Velocities"] = np.array([[4.0, 0, 0], [0, 8, 0]]), np.ones((2, 3))
        group["Masses"], group["ParticleIDs"] = np.array([3.0, 3]), np.array([1, 2])
    said = orrery("inspect", "web.hdf5")
    assert "scale factor 0.25" in said and "0.25 kpc, Msun, km/s" in said, said


def made_for_readers(table, ids, species):
    """One file of each format that yt and pynbody know, with gas. TIPSY's in a folder of its own, for its units."""
    write_table("y.txt", table, ids, species)
    os.mkdir("y")
    for name in ("y.hdf5", "y.gadget", "y.g2", "y/y.tipsy"):
        orrery("convert", "y.txt", name)
    orrery("convert", "y.txt", "big.gadget", "--byte-order", "big")


def check_reader(what, found, table, of_g=1e-5):
    """Compares masses in g, positions in cm and velocities in cm/s, which may come in any order."""
    m, x, v = (np.asarray(values, float) for values in found)
    by, expected = np.argsort(m), table[np.argsort(table[:, 0])]
    check(f"{what}: masses", m[by], expected[:, 0] * MSUN)
    check(f"{what}: positions", x[by], expected[:, 1:4] * 1e-3 * KPC)
    check(f"{what}: velocities", v[by], expected[:, 4:7] * KM, of_g)


# The unit of velocity of TIPSY follows from the reader's own G, which yt takes from CODATA 2010 and pynbody from before.
OF_G = {"y/y.tipsy": 2e-4}
TIME_GYR = 3 * 1e-3 * KPC / KM / (1e9 * 365.25 * 86400)


def check_yt(table, species):
    import yt

    yt.set_log_level("error")
    gadget = ("Gas", "Halo", "Stars")
    names = {"y.hdf5": ("PartType0", "PartType1", "PartType4"), "y.gadget": gadget, "y.g2": gadget, "big.gadget": gadget,
             "y/y.tipsy": ("Gas", "DarkMatter", "Stars")}
    for name, groups in names.items():
        snapshot = yt.load(name)
        bodies = snapshot.all_data()
        check(f"yt, {name}: time", float(snapshot.current_time.to("Gyr")), TIME_GYR, 1e-3)  # programs' years differ
        for kind, group in zip((0, 1, 4), groups):
            mass = "Mass" if "tipsy" in name else "particle_mass"
            found = [bodies[group, mass].to("g").v, bodies[group, "particle_position"].to("cm").v,
                     bodies[group, "particle_velocity"].to("cm/s").v]
            check_reader(f"yt, {name}, {group}", found, table[species == kind], OF_G.get(name, 1e-5))
    print("yt agrees")


def check_pynbody(table):
    import pynbody

    warnings.simplefilter("ignore")
    for name in ("y.hdf5", "y.gadget", "y.g2", "big.gadget", "y/y.tipsy"):
        snapshot = pynbody.load(name)
        units = (("mass", "Msol", MSUN), ("pos", "kpc", KPC), ("vel", "km s**-1", KM))
        found = [np.asarray(snapshot[field].in_units(unit), float) * cgs for field, unit, cgs in units]
        if "gadget" in name or "g2" in name:  # no units in the file: pynbody takes Mpc
            found[1] = found[1] / 1000
        if "hdf5" in name:
            check(f"pynbody, {name}: time", float(snapshot.properties["time"].in_units("Gyr")), TIME_GYR, 1e-3)
        check_reader(f"pynbody, {name}", found, table, OF_G.get(name, 1e-5))
    print("pynbody agrees")


def truth():
    """A Plummer sphere of 300 equal bodies, in cm, g and cm/s, whose speeds are scaled so that 2 K = |W| without softening."""
    random = np.random.default_rng(3)
    n, total, radius = 300, 1e12 * MSUN, 60 * KPC
    r = radius / np.sqrt(random.uniform(0.02, 0.98, n) ** (-2 / 3) - 1)
    x, v = random.normal(size=(n, 3)), random.normal(size=(n, 3))
    x *= (r / np.linalg.norm(x, axis=1))[:, None]
    x, v, m = x - x.mean(0), v - v.mean(0), np.full(n, total / n)
    pairs = sum(G * m[i] * (m[i + 1:] / np.linalg.norm(x[i + 1:] - x[i], axis=1)).sum() for i in range(n))
    return m, x, v * np.sqrt(pairs / (m[:, None] * v * v).sum())


# What a dataset holds: powers of scale factor and h in a comoving file of GADGET's family, and of length, mass and velocity.
DATA = {"Coordinates": (1, -1, (1, 0, 0)), "Velocity": (0.5, 0, (0, 0, 1)), "Mass": (0, -1, (0, 1, 0))}
DATA |= {"Velocities": DATA["Velocity"], "Masses": DATA["Mass"]}


def describe_data(group, code, units, comoving):
    """The attributes by which the datasets of some codes say how they are to be read. `units`: length, mass, velocity."""
    for name in DATA.keys() & group.keys():
        a, h, dimensions = DATA[name]
        attrs, cgs = group[name].attrs, np.prod([unit**power for unit, power in zip(units, dimensions)])
        if code in ("eagle", "owls"):
            attrs["aexp-scale-exponent"], attrs["h-scale-exponent"], attrs["CGSConversionFactor"] = np.float32(a), np.float32(h), cgs
            attrs["VarDescription"] = {(1, 0, 0): "Co-moving coordinates, U_L h^-1 a", (0, 1, 0): "Mass, U_M h^-1", (0, 0, 1): "Velocities, U_V a^1/2"}[dimensions]
        elif code in ("gadget4", "arepo"):
            attrs["a_scaling"], attrs["h_scaling"], attrs["to_cgs"] = a * comoving, h * comoving, cgs
            attrs["length_scaling"], attrs["mass_scaling"], attrs["velocity_scaling"] = (float(power) for power in dimensions)
        elif code == "swift":
            attrs["a-scale exponent"], attrs["h-scale exponent"] = np.float32([dimensions[0]]), np.float32([0])
            for unit, power in zip(("U_L", "U_M", "U_t"), (dimensions[0] + dimensions[2], dimensions[1], -dimensions[2])):
                attrs[unit + " exponent"] = np.float32([power])


def foreign_file(name, code, a, h, length, comoving=True):
    """The sphere as a code writes it at scale factor a, in a unit of length of `length` cm, 1e10 Msun and km/s."""
    m, x, v = truth()
    mass, speed = 1e10 * MSUN, KM
    if code == "swift":
        x, v, m = x / a / length, v / speed, m / mass
    elif comoving:
        x, v, m = x * h / a / length, v / np.sqrt(a) / speed, m * h / mass
    else:
        x, v, m = x / length, v / speed, m / mass
    n = len(m)
    counts = np.array([0, n, 0, 0, 0, 0, 0] if code == "swift" else [0, n] if code == "gadget4" else [0, n, 0, 0, 0, 0], "u4")
    with h5py.File(name, "w") as file:
        head = file.create_group("Header").attrs
        head["NumPart_ThisFile"], head["NumPart_Total"], head["MassTable"] = counts, counts, np.zeros(len(counts))
        head["NumFilesPerSnapshot"], head["BoxSize"] = np.int32(1), 1e5 * KPC / length if comoving else 0.0
        head["Time"], head["Redshift"] = (a, 1 / a - 1) if comoving else (2.5, 0.0)
        cosmology = {"Omega0": 0.3, "OmegaLambda": 0.7, "HubbleParam": h}
        units = {"UnitLength_in_cm": length, "UnitMass_in_g": mass, "UnitVelocity_in_cm_per_s": speed}
        if code in ("gadget3", "arepo", "eagle", "owls") and comoving:
            head.update(cosmology)
        if code in ("gadget3", "eagle", "owls"):
            file.create_group("Units").attrs.update(units)
        if code == "arepo":
            head.update(units)
            file.create_group("Parameters").attrs.update(units | (cosmology if comoving else {}) | {"ComovingIntegrationOn": np.int32(comoving)})
        if code == "gadget4":
            file.create_group("Parameters").attrs.update(units | {"ComovingIntegrationOn": np.int32(comoving), "GravityConstantInternal": 0.0})
            if comoving:
                file["Parameters"].attrs.update(cosmology)
        if code == "gizmo":
            over = h if comoving else 1
            head["ComovingIntegrationOn"], head["HubbleParam"], head["GIZMO_version"] = np.int32(comoving), over, np.int32(2022)
            head["UnitLength_In_CGS"], head["UnitMass_In_CGS"], head["UnitVelocity_In_CGS"] = length / over, mass / over, speed
            head["Gravitational_Constant_In_Code_Inits"] = G * mass / length / speed**2
            none = file.create_group("PartType0")  # by which pynbody knows GIZMO
            none["ParticleIDGenerationNumber"], none["ParticleIDs"] = np.zeros(0, "u4"), np.zeros(0, "u4")
            if comoving:
                head.update({"Omega_Matter": 0.3, "Omega_Lambda": 0.7, "Omega_Baryon": 0.05, "Omega_Radiation": 0.0})
        if code in ("eagle", "owls") and comoving:
            head["ExpansionFactor"], head["Time"] = a, 0.01
        elif code in ("eagle", "owls"):
            head["HubbleParam"] = 1.0
        if code == "swift":
            head["Scale-factor"], head["Dimension"], head["BoxSize"] = np.array([a]), np.array([3]), np.full(3, 1e5 * KPC / length)
            head["Time"], head["Redshift"] = np.array([head["Time"]]), np.array([head["Redshift"]])
            head["Code"] = np.bytes_("SWIFT")
            for group in ("HydroScheme", "SubgridScheme"):
                file.create_group(group)
            file.create_group("Policy").attrs["cosmological integration"] = np.array([int(comoving)])
            file.create_group("Parameters").attrs.update({"InitialConditions:periodic": "0", "Cosmology:h": str(h), "Cosmology:Omega_m": "0.3", "Cosmology:Omega_lambda": "0.7"})
            file.create_group("Cosmology").attrs.update({"Cosmological run": np.array([int(comoving)]), "Scale-factor": np.array([a]), "h": np.array([h])}
                | {name: np.array([value]) for name, value in (("Omega_m", 0.3), ("Omega_lambda", 0.7), ("Omega_b", 0.05), ("Omega_cdm", 0.25), ("Omega_nu_0", 0.0))})
            for group in ("Units", "InternalCodeUnits"):
                file.create_group(group).attrs.update({"Unit length in cgs (U_L)": np.array([length]), "Unit mass in cgs (U_M)": np.array([mass]),
                    "Unit time in cgs (U_t)": np.array([length / speed]), "Unit temperature in cgs (U_T)": np.ones(1), "Unit current in cgs (U_I)": np.ones(1)})
            file.create_group("PhysicalConstants/InternalUnits").attrs["newton_G"] = np.array([G * mass / length / speed**2])
        group = file.create_group("PartType1")
        short = code in ("eagle", "owls")
        group["Coordinates"], group["ParticleIDs"] = x, np.arange(n, dtype="u8")
        group["Velocity" if short else "Velocities"], group["Mass" if short else "Masses"] = v, m
        describe_data(group, code, (length, mass, speed), comoving)


LENGTHS = {"kpc": KPC, "Mpc": 1e3 * KPC, "pc": 1e-3 * KPC}
CODES = ("gadget3", "gadget4", "arepo", "gizmo", "swift", "eagle", "owls")


def foreign_cases():
    for code in CODES:
        for i, a in enumerate((0.25, 0.5, 1.0)):
            for j, h in enumerate((0.5, 0.7, 1.0)):
                unit = list(LENGTHS)[(i + j) % 3]
                yield f"{code}_a{a}_h{h}_{unit}.hdf5", code, a, h, LENGTHS[unit], True
        yield f"{code}_isolated_pc.hdf5", code, 1.0, 1.0, LENGTHS["pc"], False


def check_foreign_codes():
    """Files as other codes write them, of a system that is known: what Orrery reads, and what it says of it."""
    m, x, v = truth()
    for name, code, a, h, length, comoving in foreign_cases():
        foreign_file(name, code, a, h, length, comoving)
        orrery("convert", name, "foreign.txt", "--force")
        with open("foreign.txt", encoding="ascii") as lines:
            facts = dict(line[2:].split(" = ") for line in lines if line.startswith("# ") and " = " in line)
        table = np.loadtxt("foreign.txt")
        check(f"{name}: masses", table[:, 0] * float(facts["mass_g"]), m)
        check(f"{name}: positions", table[:, 1:4] * float(facts["length_cm"]), x)
        check(f"{name}: velocities", table[:, 4:7] * float(facts["velocity_cm_s"]), v)
        said = orrery("inspect", name)
        ratio = float(said.split("Virial ratio")[1].split()[0])
        assert abs(ratio - 1) < 0.006 and ("cosmological (" in said) == comoving, f"{name}: {said}"


def read_by_yt(name):
    import yt

    yt.set_log_level("critical")
    snapshot = yt.load(name)
    bodies = snapshot.all_data()
    group = next(kind for kind in ("PartType1", "Halo", "DarkMatter") if kind in snapshot.particle_types_raw)
    mass = "particle_mass" if (group, "particle_mass") in snapshot.derived_field_list else "Masses"
    return [bodies[group, mass].to("g").v, bodies[group, "particle_position"].to("cm").v, bodies[group, "particle_velocity"].to("cm/s").v]


def read_by_pynbody(name):
    import pynbody

    snapshot = pynbody.load(name)
    return [np.array(snapshot[key].in_units(unit, **snapshot.conversion_context())) for key, unit in (("mass", "g"), ("pos", "cm"), ("vel", "cm s**-1"))]


# yt takes kpc, 1e10 Msun and km/s for all but SWIFT, whatever the file says.
YT_READS = lambda code, length: code == "swift" or length == KPC


def compare_foreign(program, read, reads_units=lambda code, length: True):
    """What another program reads of the files of other codes, if it opens them."""
    m, x, v = truth()
    opened = 0
    for name, code, _, _, length, _ in foreign_cases():
        if not reads_units(code, length):
            continue
        try:
            found = read(name)
        except Exception as error:  # it does not know this code's files
            print(f"{program} does not open {name}: {type(error).__name__} {error}")
            continue
        opened += 1
        by, expected = np.lexsort(np.round(found[1].T / KPC, 6)), np.lexsort(np.round(x.T / KPC, 6))
        for what, one, other in zip(("masses", "positions", "velocities"), found, (m, x, v)):
            check(f"{program}, {name}: {what}", one[by], other[expected])
    assert opened > 15, f"{program} opened {opened} files"
    print(f"{program} agrees on {opened} files of other codes")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.mkdir("t")
        table, ids, species = made_bodies()
        write_table("a.txt", table, ids, species)
        for name in ("a.gadget", "a.gadget2", "t/a.tipsy", "a.ply"):
            orrery("convert", "a.txt", name)
        orrery("convert", "a.txt", "big.gadget", "--byte-order", "big")
        check_gadget(table, species, "a.gadget", "<")
        check_gadget(table, species, "big.gadget", ">")
        check_tipsy(table, species)
        done = subprocess.run([ORRERY, "convert", "a.txt", "a.hdf5"], capture_output=True, text=True, check=False)
        if "libhdf5-dev" in done.stderr:
            skip("a build without HDF5")
        assert done.returncode == 0, done.stderr
        check_h5py(table, ids, species)
        check_foreign_hdf5()
        check_parts()
        check_variants()
        check_swift()
        check_foreign_codes()
        made_for_readers(table, ids, species)
        for name, check_with in (("yt", lambda: check_yt(table, species)), ("pynbody", lambda: check_pynbody(table)),
                                 ("yt", lambda: compare_foreign("yt", read_by_yt, YT_READS)),
                                 ("pynbody", lambda: compare_foreign("pynbody", read_by_pynbody))):
            if importlib.util.find_spec(name):
                check_with()
            elif REQUIRE_ALL:
                skip(name)
            else:
                print(f"{name} is not installed")
        os.chdir("/")


main()
