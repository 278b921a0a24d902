"use strict";

// Line charts as SVG: `chart({ x, y, series, ... })` gives an element. All text is set as text.

const SVG = "http://www.w3.org/2000/svg";

function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Round numbers from low to high, about `count` of them. */
function ticks(low, high, count) {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find(k => k * power >= rough * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return { found, step };
}

/** Ticks as text, and the power of ten they are given in where they are very small or large. */
function tickTexts({ found, step }) {
  const size = Math.max(...found.map(Math.abs)), exponent = Math.floor(Math.log10(size || 1));
  const power = exponent < -3 || exponent > 4 ? exponent : 0;
  const digits = Math.max(0, Math.min(8, power - Math.floor(Math.log10(step) + 1e-9)));
  const raised = [...String(power)].map(c => c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]).join("");
  return {
    texts: found.map(v => v === 0 ? "0" : (v / 10 ** power).toFixed(digits).replace("-", "−")),
    power: power === 0 ? "" : "×10" + raised,
  };
}

/**
 * x, y: { label, log?, zero? }; series: [{ x, y, kind: "line" | "dots" | "band", low, high, class }];
 * levels: [{ y, class }] horizontal lines; marks: [{ x, class }] vertical ones; rug: [x] short ones
 * at the axis; counts: { x, n } how many there are at x, said under the ticks; width: of a height of 210, or of `height`.
 * `point(x)` of the element shows where x is.
 */
function chart({ x, y, series, levels = [], marks = [], rug = [], counts = null, width = 360, height = 210 }) {
  const right = 10, top = 10, bottom = counts ? 54 : 40;
  const finite = numbers => numbers.filter(v => v !== null && Number.isFinite(v) && !(y.log && v <= 0));
  const xs = series.flatMap(s => s.x).filter(Number.isFinite);
  const ys = finite(series.flatMap(s => s.kind === "band" ? [...s.low, ...s.high] : s.y).concat(levels.map(l => l.y)));
  if (!xs.length || !ys.length) return Object.assign(svg("svg", { class: "chart" }), { point() {} });
  let [x0, x1] = [Math.min(...xs), Math.max(...xs)];
  if (x0 === x1) [x0, x1] = [x0 - 0.5, x1 + 0.5];
  const forward = y.log ? Math.log10 : v => v;
  let [y0, y1] = [Math.min(...ys), Math.max(...ys)];
  if (y.zero) [y0, y1] = [Math.min(y0, 0), Math.max(y1, 0)];
  [y0, y1] = [forward(y0), forward(y1)];
  const margin = (y1 - y0 || Math.abs(y1) || 1) * (y1 > y0 ? 0.06 : 0.5);
  if (!(y.zero && y0 === 0)) y0 -= margin;
  y1 += margin;
  let up, beside;
  if (y.log && y1 - y0 > 1) {
    const every = Math.ceil((y1 - y0) / 5), steps = y1 - y0 < 2.5 ? [1, 2, 5] : [1];
    up = { found: [] };
    for (let k = Math.floor(y0); k <= y1; k++)
      for (const step of k % every === 0 ? steps : []) up.found.push(step * 10 ** k);
    up.found = up.found.filter(v => Math.log10(v) >= y0 && Math.log10(v) <= y1);
    const text = v => v >= 0.009 && v < 2e4 ? String(Number(v.toPrecision(1))) : v.toExponential(0).replace("e+", "e").replace("-", "−");
    beside = { texts: up.found.map(text), power: "" };
  } else {
    const [low, high] = y.log ? [10 ** y0, 10 ** y1] : [y0, y1];
    up = ticks(low, high, 5);
    beside = tickTexts(up);
  }
  // Beside the label of the axis, whatever its numbers are.
  const left = Math.max(56, 30 + 6.4 * Math.max(...beside.texts.map(text => text.length)));
  const px = v => left + (width - left - right) * (v - x0) / (x1 - x0);
  const py = v => height - bottom - (height - top - bottom) * (forward(v) - y0) / (y1 - y0);
  const made = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${y.label} against ${x.label}` });

  const across = ticks(x0, x1, width / 72), along = tickTexts(across);
  across.found.forEach((v, k) => {
    made.append(svg("line", { class: "axis", x1: px(v), x2: px(v), y1: height - bottom, y2: height - bottom + 4 }));
    made.append(svg("text", { x: px(v), y: height - bottom + 16, "text-anchor": "middle" }, along.texts[k]));
    if (!counts) return;
    const last = Math.max(counts.x.findLastIndex(t => t <= v + 1e-9), 0);
    made.append(svg("text", { class: "count", x: px(v), y: height - bottom + 30, "text-anchor": "middle" }, (k ? "" : "n = ") + counts.n[last]));
  });
  up.found.forEach((v, k) => {
    made.append(svg("line", { class: "rule", x1: left, x2: width - right, y1: py(v), y2: py(v) }));
    made.append(svg("text", { x: left - 6, y: py(v) + 4, "text-anchor": "end" }, beside.texts[k]));
  });
  made.append(svg("text", { x: left + 4, y: top + 2 }, beside.power));
  made.append(svg("text", { x: width - right, y: height - 6, "text-anchor": "end" }, along.power));
  made.append(svg("path", { class: "axis", d: `M${left} ${top}V${height - bottom}H${width - right}` }));
  made.append(svg("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, x.label));
  const middle = (top + height - bottom) / 2;
  made.append(svg("text", { x: 11, y: middle, "text-anchor": "middle", transform: `rotate(-90 11 ${middle})` }, y.label));

  for (const level of levels)
    made.append(svg("line", { class: level.class, x1: left, x2: width - right, y1: py(level.y), y2: py(level.y) }));
  for (const mark of marks)
    if (mark.x >= x0 && mark.x <= x1)
      made.append(svg("line", { class: mark.class, x1: px(mark.x), x2: px(mark.x), y1: top, y2: height - bottom }));
  for (const v of rug)
    if (v >= x0 && v <= x1)
      made.append(svg("line", { class: "rug", x1: px(v), x2: px(v), y1: height - bottom - 5, y2: height - bottom }));
  const cursor = svg("line", { class: "cursor", y1: top, y2: height - bottom, visibility: "hidden" });
  made.append(cursor);
  /** Puts the cursor where x is so much. */
  made.point = v => {
    const at = px(Math.min(Math.max(v, x0), x1));
    cursor.setAttribute("x1", at);
    cursor.setAttribute("x2", at);
    cursor.setAttribute("visibility", "visible");
  };
  const path = (xs, ys) => {
    let d = "", open = false;
    xs.forEach((v, k) => {
      const good = finite([ys[k]]).length;
      if (good) d += `${open ? "L" : "M"}${px(v).toFixed(1)} ${py(ys[k]).toFixed(1)}`;
      open = good;
    });
    return d;
  };
  for (const s of series) {
    const style = s.class || "";
    if (s.kind === "band") {
      const forth = s.x.map((v, k) => `${px(v).toFixed(1)} ${py(s.high[k]).toFixed(1)}`);
      const back = s.x.map((v, k) => `${px(v).toFixed(1)} ${py(s.low[k]).toFixed(1)}`).reverse();
      made.append(svg("path", { class: "band " + style, d: "M" + forth.concat(back).join("L") + "Z" }));
    } else {
      if (s.kind !== "dots") made.append(svg("path", { class: "line " + style, d: path(s.x, s.y) }));
      if (s.kind === "dots" || s.x.length <= 40 && style !== "plain")
        s.x.forEach((v, k) => {
          if (!finite([s.y[k]]).length) return;
          const dot = svg("circle", { class: "dot " + style, cx: px(v), cy: py(s.y[k]), r: 2.2 });
          dot.append(svg("title", {}, `${Number(v.toPrecision(6))}, ${Number(s.y[k].toPrecision(6))}`));
          made.append(dot);
        });
    }
  }
  return made;
}
