"""Whether programs that have imported much used packages can be simulated: modules may be other than they say.

usage: python benchmarks/imported_packages.py [--only NAME...]

The packages are installed into a folder of their own, as far as they can be. For each of them a process imports its
modules and then runs a coroutine in a simulation; a last process does so with all of them that can be imported.
"""

import argparse
import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

from harness.peers import PeerError, interpreter_with
from harness.report import command, host

PACKAGES = [
    "aiobotocore",
    "aiohttp",
    "aiosignal",
    "annotated-types",
    "anyio",
    "asgiref",
    "asn1crypto",
    "asyncpg",
    "attrs",
    "azure-core",
    "babel",
    "bcrypt",
    "beautifulsoup4",
    "boto3",
    "botocore",
    "cachetools",
    "celery",
    "certifi",
    "cffi",
    "chardet",
    "charset-normalizer",
    "click",
    "cloudpickle",
    "colorama",
    "contourpy",
    "cryptography",
    "cycler",
    "dask",
    "decorator",
    "dill",
    "distlib",
    "distro",
    "django",
    "dnspython",
    "docutils",
    "email-validator",
    "exceptiongroup",
    "execnet",
    "fastapi",
    "filelock",
    "flask",
    "fonttools",
    "frozenlist",
    "fsspec",
    "gitpython",
    "google-api-core",
    "google-auth",
    "googleapis-common-protos",
    "greenlet",
    "grpcio",
    "h11",
    "h2",
    "hpack",
    "httpcore",
    "httptools",
    "httpx",
    "huggingface-hub",
    "idna",
    "importlib-metadata",
    "iniconfig",
    "ipython",
    "isodate",
    "itsdangerous",
    "jedi",
    "jinja2",
    "jiter",
    "jmespath",
    "joblib",
    "jsonschema",
    "kiwisolver",
    "kombu",
    "lazy-loader",
    "lxml",
    "mako",
    "markdown",
    "markdown-it-py",
    "markupsafe",
    "marshmallow",
    "matplotlib",
    "mdurl",
    "more-itertools",
    "msal",
    "msgpack",
    "multidict",
    "mypy-extensions",
    "networkx",
    "nltk",
    "numpy",
    "oauthlib",
    "openai",
    "openpyxl",
    "opentelemetry-api",
    "orjson",
    "packaging",
    "pandas",
    "paramiko",
    "pathspec",
    "pexpect",
    "pillow",
    "platformdirs",
    "pluggy",
    "prompt-toolkit",
    "propcache",
    "proto-plus",
    "protobuf",
    "psutil",
    "psycopg",
    "psycopg2-binary",
    "pyarrow",
    "pyasn1",
    "pycparser",
    "pycryptodome",
    "pydantic",
    "pydantic-core",
    "pygments",
    "pyjwt",
    "pymongo",
    "pymysql",
    "pynacl",
    "pyopenssl",
    "pyparsing",
    "pysocks",
    "pytest",
    "python-dateutil",
    "python-dotenv",
    "python-multipart",
    "pytz",
    "pyyaml",
    "redis",
    "referencing",
    "regex",
    "requests",
    "rich",
    "rpds-py",
    "rsa",
    "ruamel.yaml",
    "s3fs",
    "s3transfer",
    "scikit-image",
    "scikit-learn",
    "scipy",
    "sentry-sdk",
    "setuptools",
    "shapely",
    "simplejson",
    "six",
    "sniffio",
    "soupsieve",
    "sqlalchemy",
    "starlette",
    "sympy",
    "tabulate",
    "tenacity",
    "threadpoolctl",
    "toml",
    "tomlkit",
    "tornado",
    "tqdm",
    "traitlets",
    "typing-extensions",
    "tzdata",
    "ujson",
    "urllib3",
    "uvicorn",
    "uvloop",
    "virtualenv",
    "watchfiles",
    "websocket-client",
    "websockets",
    "werkzeug",
    "wheel",
    "wrapt",
    "xmltodict",
    "yarl",
    "zipp",
    "zstandard",
]

_TRY = """
import asyncio, importlib, sys
sys.path.append({site!r})
imported = []
for name in {modules!r}:
    try:
        importlib.import_module(name)
        imported.append(name)
    except BaseException as error:
        print("import", name, type(error).__name__, error, file=sys.stderr)
from ordeal import simulate

async def main():
    await asyncio.sleep(1)
    return "went well"

async def child():
    await asyncio.create_task(main())

simulate.explore(child, runs=3, faults=[simulate.stall()])
if imported:
    print(simulate.run(main), *imported)
"""


def modules_of(distribution: importlib.metadata.Distribution) -> list[str]:
    """The public top-level modules of a package."""
    paths = [Path(str(path)) for path in distribution.files or ()]
    names = {path.parts[0].removesuffix(".py") for path in paths if path.suffix == ".py" and path.parts[0] != ".."}
    return sorted(name for name in names if name.isidentifier() and not name.startswith("_"))


def tried(site: Path, modules: list[str]) -> tuple[str, list[str]]:
    """What is wrong with a simulation after these imports, empty if nothing, and what was imported."""
    code = _TRY.format(site=str(site), modules=modules)
    environment = os.environ | {"MPLBACKEND": "agg", "DJANGO_SETTINGS_MODULE": ""}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    said = done.stdout.splitlines()[-1:]
    if said and said[0].startswith("went well"):
        return "", said[0].split()[2:]
    reason = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
    return ("" if reason.startswith("import ") and not done.returncode else reason), []


def installed(wanted: list[str]) -> tuple[Path, list[str]]:
    """Where the packages are that can be installed, and which these are."""
    python = interpreter_with("pip")
    site = next(python.parents[1].glob("lib/python*/site-packages"))
    names = []
    for name in wanted:
        folders = [each.metadata["Name"].lower() for each in importlib.metadata.distributions(path=[str(site)])]
        pip = [str(python), "-m", "pip", "install", "--quiet", "--only-binary", ":all:", name]
        if name in folders or not subprocess.run(pip, capture_output=True, check=False).returncode:
            names.append(name)
    return site, names


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="+", default=PACKAGES)
    try:
        site, names = installed(parser.parse_args().only)
    except PeerError as error:
        raise SystemExit(f"nothing can be installed: {error}") from error
    known = {each.metadata["Name"].lower(): each for each in importlib.metadata.distributions(path=[str(site)])}
    imported: list[str] = []
    failed = 0
    for name in names:
        reason, modules = tried(site, modules_of(known[name]) if name in known else [name])
        imported += modules
        failed += bool(reason)
        if reason:
            print(f"{name}: {reason}")
    reason, together = tried(site, imported)
    print(host(), command(), sep="\n\n")
    print(f"\n{len(names)} packages, {len(imported)} modules that can be imported: simulations failed after {failed}.")
    print(f"All {len(together)} modules in one process: {reason or 'a simulation works'}.")


if __name__ == "__main__":
    main()
