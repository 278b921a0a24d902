"""Motions in 3-D, in a notebook or a file."""

import html
from os import PathLike, fspath
from pathlib import Path

from . import _stiction


class View:
    """A page that plays a motion in 3-D: a notebook shows it, `save` writes it. It loads nothing from elsewhere.

    >>> X = scene.rollout(scene.x0, steps=200)
    >>> scene.view(X)
    """

    def __init__(self, page: str) -> None:
        self.page = page

    def save(self, path: "str | PathLike[str]") -> None:
        """Writes the page, to open in a browser."""
        Path(fspath(path)).write_text(self.page, encoding="utf-8")

    def _repr_html_(self) -> str:
        # A document of its own, so that neither reaches into the other.
        return f'<iframe srcdoc="{html.escape(self.page)}" style="width: 100%; height: 34rem; border: 0"></iframe>'

    def __repr__(self) -> str:
        return f"<stiction.View, {len(self.page)} bytes: `save` writes it, a notebook shows it>"


def view(self, X=None, title=None) -> View:
    """The states X (N, nq + nv), one a step, as a page that plays them in 3-D; where the scene starts if left out."""
    states = [self.x0] if X is None else X
    return View(_stiction._page(self, states, self.name if title is None else title))
