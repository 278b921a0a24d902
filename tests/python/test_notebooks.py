"""The notebooks of `examples/notebooks`, cell by cell, with what they assert."""

import json
import tempfile
from pathlib import Path

import pytest
from conftest import optional

optional("matplotlib").use("Agg")

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "examples/notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_cells_run(path, monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert all(not cell.get("outputs") for cell in cells), "outputs are left out of the repository"
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert len(code) > 4
    if "import casadi" in "\n".join(code):
        optional("casadi")
    names = {"__name__": "__main__"}
    for number, source in enumerate(code):
        # Messages have the cell in the place of the file.
        exec(compile(source, f"{path.name}, code cell {number}", "exec"), names)
