"""Scenes as shared libraries for CasADi."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import tempfile
from os import PathLike

from . import _stiction


def export_casadi(self, path: str | PathLike[str]) -> None:
    """Writes a shared library with x_next = f(x, u) and its Jacobian for CasADi (3.6 or later, on Linux).

    f = casadi.external("stiction_f", "./libstep.so"), and casadi.external("stiction_start", "./libstep.so")() has x and u at
    the start. u are the selected inputs; parameters are those that are set. The file is a copy of this module that carries the scene and
    needs nothing beside it, Python neither, so that other programs and machines load it too. One that was loaded stays
    what it was: export again under another name.
    """
    if sys.platform != "linux":
        raise _stiction.Error(f"{os.fspath(path)}: libraries for CasADi are written on Linux, this is {sys.platform}")
    # The file that a link leads to.
    path = os.path.realpath(os.fspath(path))
    contents = _stiction._casadi_library(self, _stiction.__file__)
    # Whole or not at all; who has loaded the file that was there keeps it.
    try:
        if os.path.exists(path):
            mode = os.stat(path).st_mode & 0o777
            if not os.access(path, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        else:
            mask = os.umask(0)
            os.umask(mask)
            mode = 0o777 & ~mask
        place, temporary = tempfile.mkstemp(dir=os.path.dirname(path) or ".")
        try:
            with os.fdopen(place, "wb") as file:
                file.write(contents)
            os.chmod(temporary, mode)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.remove(temporary)
            raise
    except OSError as error:
        raise _stiction.Error(f"{path}: {error.strerror}") from error
