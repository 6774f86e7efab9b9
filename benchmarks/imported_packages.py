"""Whether programs that have imported much used packages can be simulated: modules may be other than they say.

usage: python benchmarks/imported_packages.py [--only NAME...]

The packages are installed into an environment of their own, as far as they can be. One process imports their modules,
and simulates a small program after those of each package.
"""

import argparse
import asyncio
import importlib
import importlib.metadata
import os
import subprocess
import sys
import warnings
from pathlib import Path

from harness.peers import PeerError, interpreter_with
from harness.report import command, host

from ordeal import simulate

PACKAGES = """
aiobotocore aiohttp aiosignal annotated-types anyio asgiref asn1crypto asyncpg attrs azure-core babel bcrypt
beautifulsoup4 boto3 botocore cachetools celery certifi cffi chardet charset-normalizer click cloudpickle colorama
contourpy cryptography cycler dask decorator dill distlib distro django dnspython docutils email-validator
exceptiongroup execnet fastapi filelock flask fonttools frozenlist fsspec gitpython google-api-core google-auth
googleapis-common-protos greenlet grpcio h11 h2 hpack httpcore httptools httpx huggingface-hub idna importlib-metadata
iniconfig ipython isodate itsdangerous jedi jinja2 jiter jmespath joblib jsonschema kiwisolver kombu lazy-loader lxml
mako markdown markdown-it-py markupsafe marshmallow matplotlib mdurl more-itertools msal msgpack multidict mypy-
extensions networkx nltk numpy oauthlib openai openpyxl opentelemetry-api orjson packaging pandas paramiko pathspec
pexpect pillow platformdirs pluggy prompt-toolkit propcache proto-plus protobuf psutil psycopg psycopg2-binary pyarrow
pyasn1 pycparser pycryptodome pydantic pydantic-core pygments pyjwt pymongo pymysql pynacl pyopenssl pyparsing pysocks
pytest python-dateutil python-dotenv python-multipart pytz pyyaml redis referencing regex requests rich rpds-py rsa
ruamel.yaml s3fs s3transfer scikit-image scikit-learn scipy sentry-sdk setuptools shapely simplejson six sniffio
soupsieve sqlalchemy starlette sympy tabulate tenacity threadpoolctl toml tomlkit tornado tqdm traitlets typing-
extensions tzdata ujson urllib3 uvicorn uvloop virtualenv watchfiles websocket-client websockets werkzeug wheel wrapt
xmltodict yarl zipp zstandard
"""


def installed(wanted: list[str]) -> Path:
    """Where the packages are that can be installed."""
    python = interpreter_with("pip")
    site = next(python.parents[1].glob("lib/python*/site-packages"))
    for name in wanted:
        if name not in known_at(site):
            pip = [str(python), "-m", "pip", "install", "--quiet", "--only-binary", ":all:", name]
            subprocess.run(pip, capture_output=True, check=False)
    return site


def known_at(site: Path) -> dict[str, importlib.metadata.Distribution]:
    found = importlib.metadata.distributions(path=[str(site)])
    return {each.metadata["Name"].lower().replace("_", "-"): each for each in found}


def imported(distribution: importlib.metadata.Distribution) -> int:
    """Import the public top-level modules of a package, as far as they can be; return how many could."""
    paths = [Path(str(path)) for path in distribution.files or ()]
    names = {path.parts[0].partition(".")[0] for path in paths if path.suffix in (".py", ".so")}
    count = 0
    for name in sorted(name for name in names if name.isidentifier() and not name.startswith("_")):
        try:
            importlib.import_module(name)
            count += 1
        except BaseException as error:  # noqa: BLE001 - whatever the package does
            print(f"import {name}: {type(error).__name__}: {error:.100}" if str(error) else f"import {name}")
    return count


async def sleeper() -> int:
    await asyncio.sleep(1)
    return 1


async def program() -> None:
    assert await asyncio.create_task(sleeper()) == 1


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="+", default=PACKAGES.split())
    wanted = parser.parse_args().only
    warnings.simplefilter("ignore")
    os.environ["MPLBACKEND"] = "agg"
    try:
        site = installed(wanted)
    except PeerError as error:
        raise SystemExit(f"nothing can be installed: {error}") from error
    sys.path.append(str(site))
    known = known_at(site)
    modules = failed = 0
    for name in wanted:
        modules += imported(known[name]) if name in known else 0
        try:
            simulate.explore(program, runs=3, faults=[simulate.stall()])
        except Exception as error:  # noqa: BLE001 - what is counted
            failed += 1
            print(f"{name}: {type(error).__name__}: {error}")
    packages = sum(name in known for name in wanted)
    print(host(), command(), sep="\n\n")
    print(
        f"\nSimulations failed after {failed} of {packages} packages: {modules} modules, {len(sys.modules):,} in all."
    )


if __name__ == "__main__":
    main()
