"""Packages that are not required."""

import importlib


def require(name, package=None):
    """The module `name`; without it an error that names the package to install."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        message = f"stiction.{name} needs the package {package or name}: pip install {package or name}"
        raise ModuleNotFoundError(message, name=name) from error
