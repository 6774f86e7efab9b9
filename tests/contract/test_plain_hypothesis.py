"""What an exploration found, plain pytest finds at once: through Hypothesis' example database, without any option."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from .projects import Project

pytestmark = pytest.mark.slow

VAULT = {
    "vault.py": """
        LIGHT = {"is_on": True}

        class Vault:
            def __init__(self):
                self.turned = 0

            def turn(self, to):
                if self.turned == 0:
                    self.turned = 1 if to == 17 else 0
                elif self.turned == 1:
                    self.turned = 2 if to == 170 else 1
                elif self.turned == 2:
                    self.turned = 3 if to == 71 and not LIGHT["is_on"] else 2
                elif to == 117:
                    raise PermissionError("the vault is open")
    """,
    "test_vault.py": """
        from hypothesis import settings, strategies as st
        from ordeal import ChaosTest, initialize, rule
        from ordeal.faults import LambdaFault

        import vault

        # On a CI server there is no database in the profile that Hypothesis chooses.
        settings.register_profile("brief", settings.get_profile("default"), max_examples=40)
        settings.load_profile("brief")

        class VaultChaos(ChaosTest):
            faults = [
                LambdaFault("noise", lambda: None, lambda: None),
                LambdaFault("night", lambda: vault.LIGHT.update(is_on=False), lambda: vault.LIGHT.update(is_on=True)),
            ]

            @initialize()
            def build(self):
                self.vault = vault.Vault()

            @rule(to=st.integers(0, 200))
            def turn(self, to):
                self.vault.turn(to)

        TestVault = VaultChaos.TestCase
    """,
    "search.py": """
        from ordeal._engine.replay.loading import load_for_replay
        from ordeal._engine.export.example_database import save_to_database
        from ordeal.explore import Explorer

        from test_vault import VaultChaos

        result = Explorer(VaultChaos, target_modules=["vault"], workers=1).run(max_runs=500, steps_per_run=20)
        (failure,) = result.failures
        bench = load_for_replay(failure.trace, VaultChaos)
        print(save_to_database(bench.driver, [bench.tape]))
    """,
}
REPAIRED = {"vault.py": VAULT["vault.py"].replace("elif to == 117:", "elif to == 1_000:")}


def run_pytest(project: Project, *options: str) -> subprocess.CompletedProcess[str]:
    return project.new_python("-m", "pytest", "-q", "-p", "no:cacheprovider", *options)


@pytest.fixture(scope="module")
def explored(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project whose bug is out of the reach of plain pytest, explored; no test changes it."""
    project = Project(tmp_path_factory.mktemp("explored"))
    project.write(VAULT)
    before = run_pytest(project)
    assert before.returncode == 0, before.stdout
    searched = project.python("search.py")
    assert searched.stdout == "DatabaseOutcome(saved=1, reasons=())\n", searched.stderr
    return project


@pytest.fixture
def vault(explored: Project, project: Project) -> Project:
    """What was explored, for a test to do with as it likes."""
    shutil.copytree(explored.root, project.root, dirs_exist_ok=True)
    return project


def test_pytest_finds_what_was_found_until_it_is_repaired(vault: Project) -> None:
    for _ in range(2):
        found = run_pytest(vault, "--hypothesis-show-statistics")
        assert found.returncode == 1, found.stdout
        assert "PermissionError: the vault is open" in found.stdout
        shown = [line.removeprefix("E").strip() for line in found.stdout.splitlines()]
        start = shown.index("state = VaultChaos()")
        program = [line for line in shown[start : start + 9] if line.startswith("state.")]
        program.remove("state.fault('night').activate()")
        assert program == [
            "state.build()",
            "state.turn(to=17)",
            "state.turn(to=170)",
            "state.turn(to=71)",
            "state.turn(to=117)",
            "state.teardown()",
        ]
        assert "Draw 1 (switch fault): 'night'" in shown
        assert "during reuse phase" in found.stdout
        assert "during generate phase" not in found.stdout

    vault.write(REPAIRED)
    passed = run_pytest(vault)
    assert passed.returncode == 0, passed.stdout
    vault.write(VAULT)
    assert run_pytest(vault).returncode == 0, "Hypothesis forgets what does not fail any more"


def test_pytest_finds_it_with_the_profile_of_its_own_settings(vault: Project) -> None:
    vault.write({"conftest.py": "from hypothesis import settings\nsettings.register_profile('few', max_examples=1)\n"})
    found = run_pytest(vault, "--hypothesis-profile=few")
    assert "PermissionError: the vault is open" in found.stdout
