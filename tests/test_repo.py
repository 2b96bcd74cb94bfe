"The state of the repository: notebooks and package agree, one place for each fact, nothing of one machine in it."
import ast, json, os, re, shutil, subprocess, sys, sysconfig, tomllib, zipfile
from configparser import ConfigParser
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from IPython.core.inputtransformer2 import TransformerManager
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from render_readme import render

ROOT = Path(__file__).resolve().parent.parent
BY_HAND = ("__init__.py", "prompts/", "templates/", "jail/", "training/", "envs/")  # or rendered; all else in openadapt/ is exported
BIN = Path(sysconfig.get_path("scripts"))


def call(*cmd, cwd, **env):
    "Run a command; its output is the message if it fails."
    r = subprocess.run([str(c) for c in cmd], cwd=cwd, env={**os.environ, **env}, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert r.returncode == 0, f"{' '.join(map(str, cmd))} -> {r.returncode}\n{r.stdout[-3000:]}"
    return r.stdout


@cache
def files():
    "What git tracks or would track, as paths from the root."
    out = call("git", "ls-files", "-co", "--exclude-standard", "-z", cwd=ROOT)
    return sorted(f for f in out.split("\0") if f and (ROOT / f).is_file())


def copy_to(folder):
    for f in files():
        (folder / f).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / f, folder / f)
    return folder


def tree(folder, *tops):
    return {str(p.relative_to(folder)): p.read_bytes() for top in tops for p in sorted((folder / top).rglob("*"))
            if p.is_file() and p.suffix != ".pyc"}


def by_hand(path): return any(path == f"openadapt/{h}" or (h.endswith("/") and path.startswith(f"openadapt/{h}")) for h in BY_HAND)


NOTEBOOKS = [f for f in files() if f.startswith("nbs/") and f.endswith(".ipynb")]
PIPELINE = [f for f in NOTEBOOKS if f.startswith("nbs/pipeline/")]
ROOMS = [f for f in NOTEBOOKS if re.fullmatch(r"nbs/\d\d_\w+\.ipynb", f)]
notebooks = pytest.mark.parametrize("path", NOTEBOOKS)


@cache
def cells(path): return json.loads((ROOT / path).read_text(encoding="utf-8"))["cells"]


def text(lines): return lines if isinstance(lines, str) else "".join(lines)
def code(path): return [text(c["source"]) for c in cells(path) if c["cell_type"] == "code"]


def modules(path):
    "The modules a notebook exports to."
    return {m for src in code(path) for m in re.findall(r"^#\|\s*(?:default_exp|exporti?|exports)[ \t]+([\w.]+)", src, re.M)}


def test_every_notebook_has_its_place():
    assert not [f for f in NOTEBOOKS if f not in ROOMS + PIPELINE + ["nbs/index.ipynb"]], "a notebook is nbs/NN_name, nbs/pipeline/NN_name or index"
    assert PIPELINE, "no pipeline notebooks"


def test_export_afresh_gives_the_package(tmp_path):
    repo = copy_to(tmp_path)
    before = tree(repo, "openadapt", "nbs")
    for f in before:
        if f.startswith("openadapt/") and not by_hand(f): (repo / f).unlink()
    call(BIN / "nbdev_export", cwd=repo, IN_TEST="")
    after = tree(repo, "openadapt", "nbs")
    differ = sorted(f for f in before.keys() | after.keys() if before.get(f) != after.get(f))
    assert not differ, f"`nbdev_export` would change {differ}"


def test_every_module_has_a_notebook():
    exported = {f"openadapt/{m.replace('.', '/')}.py" for nb in ROOMS for m in modules(nb)}
    package = {f for f in files() if f.startswith("openadapt/") and not by_hand(f) and f != "openadapt/_modidx.py"}
    assert package == exported, f"without a notebook: {sorted(package - exported)}; not exported: {sorted(exported - package)}"


def test_default_exp_is_unique():
    names = [m for nb in NOTEBOOKS for src in code(nb) for m in re.findall(r"^#\|\s*default_exp[ \t]+([\w.]+)", src, re.M)]
    assert len(names) == len(set(names)), sorted(names)
    assert [nb for nb in ROOMS if not modules(nb)] == ["nbs/24_gallery.ipynb"]      # shows, exports nothing
    assert [nb for nb in PIPELINE if modules(nb)] == [], "pipeline notebooks export nothing"


def test_clean_changes_nothing(tmp_path):
    repo = copy_to(tmp_path)
    before = tree(repo, "nbs")
    call(BIN / "nbdev_clean", cwd=repo)
    after = tree(repo, "nbs")
    assert not [f for f in before if before[f] != after[f]], "run `nbdev_clean`"


@pytest.mark.parametrize("path", PIPELINE)
def test_one_parameters_cell(path):
    tags = [c for c in cells(path) if "parameters" in c["metadata"].get("tags", [])]
    assert len(tags) == 1 and tags[0]["cell_type"] == "code"


def test_pipeline_defaults_are_the_package_s():
    from openadapt.pipeline import PARAMS
    cell = next(c for c in cells("nbs/pipeline/01_design.ipynb") if "parameters" in c["metadata"].get("tags", []))
    given = {t.id: ast.literal_eval(a.value) for a in ast.parse("".join(cell["source"])).body for t in a.targets}
    assert given.pop("run") and given == PARAMS


@pytest.mark.parametrize("path", ROOMS)
def test_imports_lower_numbers_only(path):
    number = {m: int(Path(nb).name[:2]) for nb in ROOMS for m in modules(nb)}
    used = set()
    for src in code(path):
        for node in ast.walk(ast.parse(TransformerManager().transform_cell(src))):
            if isinstance(node, ast.Import): used |= {a.name for a in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"relative import in {path}: nbdev makes them itself"
                used |= {f"openadapt.{a.name}" for a in node.names} if node.module == "openadapt" else {node.module}
    for name in sorted(n for n in used if n.startswith("openadapt.")):
        name = name.removeprefix("openadapt.")
        if by_hand(f"openadapt/{name.split('.')[0]}/") or name in modules(path): continue
        assert name in number, f"{path} imports openadapt.{name}, which no notebook exports"
        assert number[name] < int(Path(path).name[:2]), f"{path} imports openadapt.{name} of notebook {number[name]:02}"


@notebooks
def test_notebook_is_a_small_clean_chapter(path):
    first = cells(path)[0]
    assert first["cell_type"] == "markdown" and re.match(r"# \S.*\n(\s*\n)*> \S", text(first["source"])), "begin with `# Title`, then `> summary`"
    assert (ROOT / path).stat().st_size <= 300_000
    for c in cells(path):
        assert c.get("execution_count") is None
        for o in c.get("outputs", []):
            assert o.get("execution_count") is None
            assert o["output_type"] != "error", f"an error is stored: {o.get('ename')}: {o.get('evalue')}"


MACHINE = re.compile(r"(?<![\w.~])/(?:wor[k]|roo[t]|far[m])/|(?<![\w.])/home/\w|/tm[p]/(?:tmp|bash_|pytest-|ipykernel_|pip-)\w")


def texts(path):
    "The readable text of a file; of a notebook its sources and its outputs, so that JSON escapes hide nothing."
    if path in NOTEBOOKS:
        for c in cells(path):
            yield text(c["source"])
            for o in c.get("outputs", []):
                yield text(o.get("text", "")) + "\n".join(o.get("traceback", []))
                yield from (text(v) for k, v in o.get("data", {}).items() if k.startswith("text/"))
    else:
        raw = (ROOT / path).read_bytes()
        if b"\0" not in raw: yield raw.decode("utf-8", errors="replace")


def test_no_paths_of_one_machine():
    found = [f"{f}: ...{t[max(0, m.start() - 20):m.end() + 40]!r}" for f in files() for t in texts(f) for m in MACHINE.finditer(t)]
    assert not found, "\n".join(found[:20])


# --- settings, pins, README


def settings():
    ini = ConfigParser(delimiters=["="], interpolation=None)
    ini.read(ROOT / "settings.ini", encoding="utf-8")
    cfg = dict(ini["DEFAULT"])
    return cfg, lambda key: [line for line in cfg[key].split("\n") if line]


def same(requirements): return sorted((canonicalize_name(r.name), str(r.specifier)) for r in requirements)


def test_settings_agree_with_the_installed_package():
    cfg, lines = settings()
    dist = metadata.distribution("openadapt")
    assert (dist.metadata["Name"], dist.version) == (cfg["name"], cfg["version"]), "run `make test` again: the installed package is older"
    assert dist.metadata["Requires-Python"] == f">={cfg['min_python']}"
    required = [Requirement(r) for r in dist.requires]
    assert same(r for r in required if not r.marker) == same(map(Requirement, lines("requirements")))
    for extra in ("dev", "lora", "gpu"):
        assert same(r for r in required if r.marker and r.marker.evaluate({"extra": extra})) == same(map(Requirement, lines(f"{extra}_requirements")))
    scripts = {f"{e.name}={e.value}" for e in dist.entry_points if e.group == "console_scripts"}
    assert scripts == set(lines("console_scripts"))


def test_pyproject_repeats_nothing():
    cfg, _ = settings()
    toml = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "project" not in toml, "name, version and requirements stand in settings.ini"
    assert toml["tool"]["nbdev"]["lib_path"] == cfg["name"]
    assert toml["tool"]["nbdev"]["allowed_cell_metadata_keys"] == ["tags"], "or nbdev_clean deletes papermill's tag"
    assert toml["tool"]["ruff"]["target-version"] == "py" + cfg["min_python"].replace(".", "")
    assert f"## {cfg['version']}" in (ROOT / "CHANGELOG.md").read_text()


def test_every_requirement_is_pinned():
    _, lines = settings()
    pins = [Requirement(line) for line in (ROOT / "constraints.txt").read_text().splitlines() if line and not line.startswith("#")]
    assert all(re.fullmatch(r"==[\w.]+", str(p.specifier)) for p in pins), "exact versions, no local builds"
    version = {canonicalize_name(p.name): str(p.specifier)[2:] for p in pins}
    assert len(version) == len(pins), "pinned twice"
    for r in map(Requirement, lines("requirements") + lines("dev_requirements") + lines("lora_requirements")):
        assert canonicalize_name(r.name) in version, f"{r.name} is not pinned"
        assert r.specifier.contains(version[canonicalize_name(r.name)], prereleases=True), f"{r} against {version[canonicalize_name(r.name)]}"


def test_readme_is_the_rendered_index():
    assert (ROOT / "README.md").read_text(encoding="utf-8") == render(ROOT / "nbs/index.ipynb"), "run `make prepare`"


def test_ci_runs_the_command_of_the_readme():
    ci = ROOT / ".ci/run"
    assert os.access(ci, os.X_OK)
    assert ci.read_text().splitlines()[-1] == "exec make test" and "\nmake test\n" in (ROOT / "README.md").read_text()


# --- the built package


@pytest.mark.slow
def test_wheel_and_sdist(tmp_path):
    repo, dist, clean = copy_to(tmp_path / "repo"), tmp_path / "dist", tmp_path / "venv"
    call(sys.executable, "-m", "build", "--no-isolation", "--outdir", dist, cwd=repo)  # the wheel is built from the sdist
    wheel, = dist.glob("*.whl")
    sdist, = dist.glob("*.tar.gz")
    packed = {n for n in zipfile.ZipFile(wheel).namelist() if n.startswith("openadapt/")}
    assert packed == {f for f in files() if f.startswith("openadapt/")}, "the wheel carries the package and its data, no more, no less"
    call(sys.executable, "-m", "venv", clean, cwd=tmp_path)
    python = clean / "bin/python"
    call(python, "-m", "pip", "install", "--no-index", "--no-deps", wheel, cwd=tmp_path)
    # the dependencies come from this environment; the package must not
    here = call(python, "-c", "import openadapt, openadapt.core; print(openadapt.__file__, openadapt.__version__)",
                cwd=tmp_path, PYTHONPATH=sysconfig.get_path("purelib")).split()
    assert here == [str(next(clean.glob("lib/*/site-packages/openadapt/__init__.py"))), settings()[0]["version"]]
    assert (clean / "bin/openadapt").exists()
    call(python, "-m", "pip", "install", "--no-index", "--no-deps", "--no-build-isolation", "--force-reinstall", sdist, cwd=tmp_path,
         PYTHONPATH=sysconfig.get_path("purelib"))
