"""JSON with one entry of the top levels a line; numbers as short as they read back to the same bits."""
import json

import numpy as np


def number(x):
    if isinstance(x, (bool, np.bool_)):
        return "true" if x else "false"
    if isinstance(x, (int, np.integer)):
        return str(int(x))
    x = float(x)
    if not np.isfinite(x):
        raise ValueError("a number that is not finite")
    text = repr(x + 0.0)
    if text.endswith(".0"):
        text = text[:-2]
    return "0" if text == "-0" else text


def text_of(value, lines=0):
    """`lines`: how many levels get a line an entry."""
    separator = ",\n" if lines else ","
    start, end = ("\n", "\n") if lines else ("", "")
    if isinstance(value, np.ndarray):
        value = list(value)
    if isinstance(value, dict):
        entries = separator.join(json.dumps(k) + ":" + text_of(v, max(lines - 1, 0)) for k, v in value.items())
        return "{" + start + entries + end + "}"
    if isinstance(value, (list, tuple)):
        if lines and value and isinstance(value[0], dict):
            return "[" + start + separator.join(text_of(v, lines) for v in value) + end + "]"
        return "[" + ",".join(text_of(v) for v in value) + "]"
    if value is None or isinstance(value, str):
        return json.dumps(value)
    return number(value)


def write(path, value, lines=3):
    text = text_of(value, lines) + "\n"
    json.loads(text)
    path.write_text(text)
    return len(text)
