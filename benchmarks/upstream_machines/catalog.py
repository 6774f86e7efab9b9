"""The projects whose machines are run: their pinned releases, the test files, and what these need besides."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Project:
    """A release, the files of its sdist that hold machines, and what is installed for them.

    ``folder`` is where in the sdist its tests are run, ``only`` what pytest selects by name. At most ``machines_max``
    are run. ``redis_port`` is where the tests expect a server. Folders of the sdist that are ``hidden`` would hide the
    package that is installed, with what is compiled in it.
    """

    name: str
    version: str
    files: tuple[str, ...]
    only: str = ""
    folder: str = "."
    needs: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    machines_max: int = 8
    redis_port: int = 0
    hidden: tuple[str, ...] = ()


PROJECTS = (
    Project("pyrsistent", "0.20.0", ("tests/hypothesis_vector_test.py",)),
    Project("priority", "2.0.0", ("test/test_priority.py",), only="Stateful"),
    Project("interlock-cb", "2.8.2", ("tests/test_state_machine_model.py",), needs=("pytest-asyncio",)),
    Project("cachebox", "6.2.10", ("tests/test_policy_model.py",), needs=("pytest-asyncio",), hidden=("cachebox",)),
    Project("py-evm", "0.9.0b1", ("tests/database/test_journal_db.py",)),
    Project("xarray", "2026.9.0", ("properties/test_index_manipulation.py",), options=("--run-slow-hypothesis",)),
    Project(
        "zarr",
        "3.4.2",
        ("tests/test_store/test_stateful.py", "tests/test_array_stateful.py", "tests/test_store/test_zip.py"),
        only="stateful or hierarchy or lifecycle or zarr_store",
        needs=("pytest-asyncio",),
        options=("--run-slow-hypothesis",),
    ),
    Project(
        "icechunk",
        "2.3.0",
        (
            "tests/test_stateful_repo_ops.py",
            "tests/test_stateful_parallel_sessions.py",
            "tests/test_zarr/test_stateful.py",
        ),
        folder="icechunk-python",
        needs=("pytest-asyncio", "boto3", "mypy_boto3_s3", "xarray", "pytest-mock"),
    ),
    Project(
        "schemathesis",
        "4.32.5",
        ("test/specs/openapi/stateful/test_stateful.py",),
        needs=(
            *("flask", "fastapi", "httpx", "httpx2", "uvicorn", "strawberry-graphql[fastapi]", "syrupy", "tomli-w"),
            *("trustme", "pytest-asyncio", "pytest-timeout", "coverage"),
        ),
    ),
    Project(
        "fakeredis",
        "2.40.0",
        ("test/test_hypothesis",),
        needs=("valkey", "pytest-asyncio", "pytest-mock", "lupa"),
        machines_max=14,
        redis_port=6390,
    ),
    Project(
        "vdirsyncer",
        "0.21.0",
        ("tests/unit/sync/test_sync.py", "tests/unit/utils/test_vobject.py"),
        only="Machine",
        needs=("pytest-asyncio", "aioresponses", "trustme"),
    ),
    Project(
        "qiskit",
        "2.6.2",
        ("test/randomized/test_transpiler_equivalence.py",),
        needs=("qiskit-aer", "ddt"),
        hidden=("qiskit",),
    ),
)
