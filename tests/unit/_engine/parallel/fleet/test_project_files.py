"""What a cluster is sent of a project: what git would keep, without secrets, and nothing without end."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
from pathlib import Path
from urllib.parse import quote

import pytest

from ordeal._engine.parallel.fleet import project_files
from ordeal._engine.parallel.fleet.project_files import pack, unpack
from ordeal.errors import ConfigError

STORE = "redis://:sesame@host:6379/0"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "my project"
    folder.mkdir()
    (folder / "test_cart.py").write_text("CART = 1\n")
    return folder


def names(project: Path, store: str = STORE) -> list[str]:
    sent, folder = pack(project, store), project.parent / "sent"
    unpack(sent.data, folder)
    found = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    shutil.rmtree(folder, ignore_errors=True)
    assert found == sorted(sent.files)
    return found


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


def test_environments_and_caches_are_not_sent_and_a_package_named_build_is(project: Path) -> None:
    write(project, "env/pyvenv.cfg", "env/lib/a.py", "deep/env/pyvenv.cfg", "deep/env/lib/b.py", ".tox/c.py")
    write(project, "build/d.py", "src/build/__init__.py", "src/__pycache__/e.pyc", "web/node_modules/f.js")
    assert names(project) == ["src/build/__init__.py", "test_cart.py"]


SECRETS = (
    *(".env", ".env.local", "prod.env", "conf/.envrc", ".netrc", ".pypirc", ".npmrc", ".git-credentials", ".pgpass"),
    *(".ssh/config", ".aws/credentials", ".kube/config", ".docker/config.json", "deploy/id_rsa", "id_ed25519"),
    *("host_ecdsa", ".streamlit/secrets.toml", "secrets.ini", "secrets.prod.yaml", "credentials.json", "credentials"),
    *("terraform.tfstate", "prod.tfvars", "certificate.pfx", "store.p12", "tls/server.key", "server.pem", "Server.KEY"),
    *(".env-prod", ".env~", "app.env.local", "id_rsa.bak", "id_ecdsa_sk", "server.key.old", "prod.env.gpg", "cert.der"),
    *("AuthKey_7.p8", "client_secret.json", "secret.yaml", "config/secrets/db.txt", ".secrets", ".databrickscfg"),
    *("vault.kdbx", "krb5.keytab", "service-account.json", "my-Service_Account-7.json", "release.keystore"),
)
HARMLESS = ("id_rsa.pub", "environment.py", "keys.py", "credentials.py", "monkey.txt")


def test_files_that_hold_secrets_by_their_names_are_not_sent_even_if_git_keeps_them(project: Path) -> None:
    write(project, *SECRETS, *HARMLESS)
    git(project, "init")
    git(project, "add", "--force", ".")
    assert set(pack(project, STORE).left_out) == set(SECRETS)
    assert names(project) == sorted([*HARMLESS, "test_cart.py"])


PASSWORD = 's3cret/"P w'
SPELLED = {
    "plain.py": f"REDIS_PASSWORD = '{PASSWORD}'",
    "url.toml": 'store = "redis://:s3cret%2F%22P%20w@host/0"',
    "lower.cfg": "redis://:s3cret%2f%22P%20w@host/0",
    "settings.json": '{"password": "s3cret/\\"P w"}',
    "large.log": "x" * 2**21 + PASSWORD,
    "every.txt": "".join(f"%{byte:02X}" for byte in PASSWORD.encode()),
    "plus.txt": "s3cret%2F%22P+w",
    "slash.json": '{"password": "s3cret\\/\\u0022P w"}',
    "bytes.py": "s3cret/\\x22P w",
    "run.sh": 'export REDIS=s3cret/\\"P\\ w',
    "web.xml": "<password>s3cret/&quot;P w</password>",
    "secret_of_a_cluster.yaml": base64.b64encode(PASSWORD.encode()).decode(),
    "wide.txt": PASSWORD.encode("utf-16-le").decode(),
    **{
        f"address_{before}.txt": base64.b64encode(f"{before}redis://:s3cret%2F%22P%20w@host".encode()).decode()
        for before in ("", "x", "xy")
    },
}


@pytest.mark.parametrize("name", SPELLED)
def test_a_file_in_which_the_password_of_the_store_stands_is_not_sent(name: str, project: Path) -> None:
    write(project, name, text=SPELLED[name])
    sent = pack(project, "redis://:s3cret%2F%22P%20w@host:6379/0")
    assert sent.left_out == {name: "the password of the store stands in it"}
    assert sent.files == ("test_cart.py",)


def test_a_password_with_other_letters_is_found_in_each_encoding(project: Path) -> None:
    word = "gehe\u00fcm"
    spelled = {
        "u8": word.encode(),
        "latin": word.encode("latin-1"),
        "py": ascii(word).encode(),
        "b": repr(word.encode()).encode(),
    }
    for name, content in spelled.items():
        (project / name).write_bytes(content)
    assert pack(project, f"redis://:{quote(word)}@host:6379/0").left_out.keys() == spelled.keys()


def test_a_short_password_counts_in_an_address_alone(project: Path) -> None:
    write(project, "a.toml", text="redis://:cart@host/0")
    assert list(pack(project, "redis://:cart@host:6379/0").left_out) == ["a.toml"]
    assert list(pack(project, "redis://host:6379/0").left_out) == []


def test_private_keys_are_known_by_their_content(project: Path) -> None:
    write(project, "gcp.json", text='{"type": "service_account", "private_key": "x"}')
    write(project, "mail.asc", text="-----BEGIN PGP PRIVATE KEY BLOCK-----")
    write(project, "deploy/host", text="-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA")
    write(project, "tests/test_tls.py", text='KEY = "-----BEGIN PRIVATE KEY-----"')
    assert set(pack(project, STORE).left_out.values()) == {"a private key stands in it"}
    assert names(project) == ["test_cart.py", "tests/test_tls.py"]


def test_a_link_to_a_secret_is_not_sent_under_another_name(project: Path) -> None:
    write(project.parent, "home/.netrc", text="sesame")
    (project / "settings").symlink_to(project.parent / "home/.netrc")
    assert names(project) == ["test_cart.py"]


def test_a_link_to_a_folder_and_another_repository_are_left_out_and_named(project: Path) -> None:
    write(project.parent, "shared/helper.py")
    (project / "shared").symlink_to(project.parent / "shared")
    (project / "round").symlink_to(project)
    (project / "gone").symlink_to(project / "nowhere")
    write(project, "inner/a.py")
    git(project / "inner", "init")
    git(project, "init")
    os.mkfifo(project / "pipe")
    assert names(project) == ["test_cart.py"]
    assert pack(project, STORE).left_out.keys() == {"shared", "round", "inner"}


def test_a_strange_name_and_the_mode_of_a_file_arrive(project: Path) -> None:
    strange = Path(os.fsdecode(os.fsencode(project) + b"/\xff.sh"))
    strange.touch(mode=0o755)
    unpack(pack(project, STORE).data, project.parent / "sent")
    assert (project.parent / "sent" / strange.name).stat().st_mode & 0o100


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
