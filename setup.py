"Reads settings.ini, the one place for name, version and requirements."
from configparser import ConfigParser
from pathlib import Path

from setuptools import find_namespace_packages, setup

ini = ConfigParser(delimiters=["="], interpolation=None)
ini.read(Path(__file__).with_name("settings.ini"), encoding="utf-8")
cfg = ini["DEFAULT"]


def lines(key): return cfg[key].split("\n")[1:]


setup(
    name=cfg["name"], version=cfg["version"], description=cfg["description"], keywords=cfg["keywords"].split(),
    author=cfg["author"], license=cfg["license"], license_files=["LICENSE"], python_requires=f">={cfg['min_python']}",
    long_description=Path(__file__).with_name("README.md").read_text(encoding="utf-8"), long_description_content_type="text/markdown",
    packages=find_namespace_packages(include=["openadapt", "openadapt.*"], exclude=["*__pycache__*"]),  # prompts/ and the like have no __init__
    include_package_data=True,  # which files: MANIFEST.in
    data_files=[("share/openadapt/pipeline", [p.as_posix() for p in sorted(Path("nbs/pipeline").glob("*.ipynb"))])],
    install_requires=lines("requirements"),
    extras_require={extra: lines(f"{extra}_requirements") for extra in ("dev", "lora", "gpu")},
    entry_points={"console_scripts": lines("console_scripts"), "nbdev": ["openadapt = openadapt._modidx:d"]},
)
