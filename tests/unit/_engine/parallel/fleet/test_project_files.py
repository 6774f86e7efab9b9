"""What a cluster is sent of a project: what git would keep, without secrets, and nothing without end."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest

from ordeal._engine.parallel.fleet import project_files
from ordeal._engine.parallel.fleet.project_files import pack
from ordeal.errors import ConfigError

STORE = "redis://:sesame@host:6379/0"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "my project"
    folder.mkdir()
    (folder / "test_cart.py").write_text("CART = 1\n")
    return folder


def names(project: Path, store: str = STORE) -> list[str]:
    file = project.parent / "project.zip"
    pack(project, file, store)
    with ZipFile(file) as packed:
        return sorted(packed.namelist())


def git(folder: Path, *words: str) -> None:
    own = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", *own, *words], cwd=folder, check=True, capture_output=True)


def write(project: Path, *paths: str, text: str = "") -> None:
    for path in paths:
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(text)


@pytest.mark.parametrize("is_repository", [True, False])
def test_what_gitignore_names_is_left_out_at_all_depths(project: Path, *, is_repository: bool) -> None:
    write(project, ".gitignore", text="data/\n*.log\n!keep.log\n")
    write(project, "src/.gitignore", text="/local.py\n")
    write(project, "data/large.bin", "a.log", "keep.log", "src/local.py", "src/cart.py", "src/deep/local.py")
    if is_repository:
        git(project, "init")
    expected = [".gitignore", "keep.log", "src/.gitignore", "src/cart.py", "src/deep/local.py", "test_cart.py"]
    assert names(project) == expected


def test_what_git_keeps_is_sent_though_gitignore_names_it(project: Path) -> None:
    write(project, ".gitignore", text="*.bin\n")
    write(project, "model.bin", "other.bin")
    git(project, "init")
    git(project, "add", "--force", "model.bin")
    assert names(project) == [".gitignore", "model.bin", "test_cart.py"]


def test_what_git_leaves_out_for_this_clone_alone_is_not_sent(project: Path) -> None:
    git(project, "init")
    write(project, ".git/info/exclude", text="mine.txt\n")
    write(project, "mine.txt")
    assert names(project) == ["test_cart.py"]


def test_a_folder_of_a_larger_repository_is_sent_alone(project: Path) -> None:
    git(project, "init")
    write(project, ".gitignore", text="*.tmp\n")
    write(project, "part/a.py", "part/a.tmp", "part/ä ö.py")
    assert names(project / "part") == ["a.py", "ä ö.py"]


def test_repositories_in_it_are_sent_as_well(project: Path) -> None:
    write(project, "inner/a.py", "inner/b.log", "inner/.gitignore", text="*.log\n")
    git(project / "inner", "init")
    git(project, "init")
    assert names(project) == ["inner/.gitignore", "inner/a.py", "test_cart.py"]


def test_environments_and_caches_are_not_sent_and_a_package_named_build_is(project: Path) -> None:
    write(project, "env/pyvenv.cfg", "env/lib/a.py", "deep/env/pyvenv.cfg", "deep/env/lib/b.py", ".tox/c.py")
    write(project, "build/d.py", "src/build/__init__.py", "src/__pycache__/e.pyc", "web/node_modules/f.js")
    assert names(project) == ["src/build/__init__.py", "test_cart.py"]


SECRETS = (
    *(".env", ".env.local", "conf/.envrc", ".netrc", ".pypirc", ".npmrc", ".git-credentials", ".pgpass"),
    *(".ssh/config", ".aws/credentials", ".kube/config", ".docker/config.json", "deploy/id_rsa", "id_ed25519"),
    *(".streamlit/secrets.toml", "credentials.json", "terraform.tfstate", "certificate.pfx", "vault.kdbx"),
)


def test_files_that_hold_secrets_are_not_sent_even_if_git_keeps_them(project: Path) -> None:
    write(project, *SECRETS, "id_rsa.pub", "environment.py", "secrets.py", "tests/tls/key.pem")
    git(project, "init")
    git(project, "add", "--force", ".")
    assert set(pack(project, project.parent / "p.zip", STORE)) == set(SECRETS)
    assert names(project) == ["environment.py", "id_rsa.pub", "secrets.py", "test_cart.py", "tests/tls/key.pem"]


def test_a_link_to_a_secret_is_not_sent_under_another_name(project: Path) -> None:
    write(project.parent, "home/.netrc", text="sesame")
    (project / "settings").symlink_to(project.parent / "home/.netrc")
    assert names(project) == ["test_cart.py"]


def test_a_file_with_the_address_of_the_store_is_not_sent_if_that_holds_a_password(project: Path) -> None:
    write(project, "ordeal.toml", text=f'[fleet]\nstore = "{STORE}"\n')
    assert names(project) == ["test_cart.py"]
    assert names(project, "redis://host:6379/0") == ["ordeal.toml", "test_cart.py"]


def test_links_are_followed_and_never_in_circles(project: Path) -> None:
    write(project.parent, "shared/helper.py", "shared/deep/more.py")
    (project / "shared").symlink_to(project.parent / "shared")
    for name in ("a", "b"):
        (project / name).symlink_to(project)
    (project.parent / "shared/back").symlink_to(project)
    (project / "gone").symlink_to(project / "nowhere")
    os.mkfifo(project / "pipe")
    assert names(project) == ["shared/deep/more.py", "shared/helper.py", "test_cart.py"]


def test_a_file_that_cannot_be_named_or_read_is_left_out(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(os.fsdecode(os.fsencode(project) + b"/\xff.py")).touch()
    assert names(project) == ["test_cart.py"]


def test_the_same_project_is_the_same_package(project: Path) -> None:
    write(project, "b.py", "a.py")
    one, other = project.parent / "one.zip", project.parent / "other.zip"
    assert pack(project, one, STORE) == pack(project, other, STORE) == ()
    assert one.read_bytes() == other.read_bytes()


def test_a_large_folder_counts_unless_it_is_ignored(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_files, "SIZE_MAX", 2**20)
    write(project, "data/large.bin", text="x" * 2**20)
    with pytest.raises(ConfigError, match="1 MiB") as caught:
        names(project)
    assert ".gitignore" in str(caught.value.hint)
    assert "data" in caught.value.message
    write(project, ".gitignore", text="data\n")
    assert names(project) == [".gitignore", "test_cart.py"]


def test_too_many_files_are_refused(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_files, "FILES_MAX", 10)
    write(project, *(f"data/{each}" for each in range(11)))
    with pytest.raises(ConfigError, match="more than 10 files"):
        names(project)


def test_without_git_a_project_is_refused(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(project.parent))
    with pytest.raises(ConfigError, match="git") as caught:
        names(project)
    assert "--project none" in str(caught.value.hint)


def test_what_git_hooks_set_does_not_lead_elsewhere(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project.parent, "other/x.py")
    git(project.parent / "other", "init")
    monkeypatch.setenv("GIT_DIR", str(project.parent / "other/.git"))
    assert names(project) == ["test_cart.py"]
