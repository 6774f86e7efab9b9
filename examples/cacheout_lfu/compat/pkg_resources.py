"""The two names of setuptools' former `pkg_resources` that cacheout 0.11.1 imports; newer Pythons come without it."""

from importlib.metadata import Distribution, PackageNotFoundError, distribution

DistributionNotFound = PackageNotFoundError


def get_distribution(name: str) -> Distribution:
    """Return the metadata of an installed distribution.

    Raises:
        DistributionNotFound: there is none of this name.
    """
    return distribution(name)
