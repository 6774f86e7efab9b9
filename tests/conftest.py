"""Has all tests run alike wherever they run: Hypothesis behaves otherwise where it sees a continuous integration."""

from __future__ import annotations

import os

from hypothesis import settings

# What tells Hypothesis of one: it then draws the same in each run and keeps no examples. Child processes inherit it.
for _name in (
    "BUILDKITE", "CI", "CIRCLECI", "CIRRUS_CI", "CODEBUILD_BUILD_ID", "GITHUB_ACTIONS", "GITLAB_CI",
    "HEROKU_TEST_RUN_ID", "TEAMCITY_VERSION", "TF_BUILD", "__TOX_ENVIRONMENT_VARIABLE_ORIGINAL_CI", "bamboo.buildKey",
):  # fmt: skip
    os.environ.pop(_name, None)
settings.load_profile("default")
