"use strict";

// The report of an identification: `view::Report` as a page. Text goes in as text, never as HTML.

{
  const report = JSON.parse(document.getElementById("data").textContent);
  const page = document.getElementById("page");

  function make(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children.filter(child => child !== null));
    return made;
  }

  const missing = x => x === null || x === undefined || !Number.isFinite(x);
  /** A number with so many digits; a dash where there is none. */
  function text(x, digits = 4, least = 2) {
    if (missing(x)) return "–";
    if (x === 0) return "0";
    const size = Math.abs(x);
    if (size >= 1e6 || size < 1e-5) return x.toExponential(digits - 1).replace("e+", "e").replace("-", "−").replace("e-", "e−");
    return x.toLocaleString("en", { maximumSignificantDigits: digits, minimumSignificantDigits: Math.min(digits, least), useGrouping: false }).replace("-", "−");
  }
  /** A given number as it was given, nearly. */
  const plain = x => missing(x) ? "–" : String(Number(x.toPrecision(6))).replaceAll("-", "−");
  /** A number whose digits end where those of its error do. */
  function textWith(x, error) {
    if (missing(x)) return "–";
    if (missing(error) || !(error > 0)) return plain(x);
    const decimals = 1 - Math.floor(Math.log10(error));
    if (Math.abs(x) < 1e-5 || Math.abs(x) >= 1e6 || decimals > 9) return text(x, 5);
    return x.toFixed(Math.max(0, decimals)).replace("-", "−");
  }
  const percent = x => missing(x) ? "–" : (100 * x).toFixed(1) + " %";
  const many = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;

  function section(title, ...children) {
    const made = make("section", {}, make("h2", {}, title), ...children);
    page.append(made);
    return made;
  }

  function table(head, rows, attributes = {}) {
    const cell = (tag, { value, style }) => make(tag, style ? { class: style } : {}, ...[value].flat());
    return make("div", { class: "scroll" }, make("table", attributes,
      make("thead", {}, make("tr", {}, ...head.map(h => cell("th", h)))),
      make("tbody", {}, ...rows.map(row => make("tr", {}, ...row.map(c => cell("td", c)))))));
  }
  const n = value => ({ value, style: "number" });
  const w = value => ({ value });

  function key(entries) {
    return make("div", { class: "key-row" }, ...entries.map(([style, words]) => {
      const mark = style === "band" ? svg("rect", { class: style, width: 22, height: 10 })
        : style.startsWith("dot") ? svg("circle", { class: style, cx: 11, cy: 5, r: 3.5 })
        : svg("path", { class: style, d: "M0 5H22" });
      return make("span", {}, svg("svg", { viewBox: "0 0 22 10" }, mark), words);
    }));
  }
  const captioned = (caption, ...children) => make("figure", {}, make("figcaption", {}, caption), ...children);
  
  // --- header ---
  const fair = report.status !== "converged";
  page.append(make("header", {},
    make("div", { class: "title" },
      make("h1", {}, report.experiment),
      make("span", { class: "status " + (fair ? "fair" : "good") }, report.status.replaceAll("_", " "))),
    make("p", { class: "soft" }, `Identification by ${report.program} · seed ${report.seed}`),
    fair && report.status_text ? make("p", {}, report.status_text[0].toUpperCase() + report.status_text.slice(1) + ".") : null));
  if (report.result.length) page.append(make("p", { class: "result" }, report.result.join(" ")));
  if (report.warnings.length) page.append(make("p", {}, make("a", { href: "#warnings" }, many(report.warnings.length, "warning")), "."));

  // --- playback, which is what people look at first ---
  let player = null, figure = null;
  if (report.playback && report.playback.clips.length) {
    figure = make("figure", { id: "player" });
    const shown = report.playback.clips.length, all = report.recording_count;
    section("Data against simulation", figure, shown < all
      ? make("p", { class: "soft", id: "left-out" }, `${shown} of ${all} recordings are on this page: the median, the best and the worst ones.`) : "");
    player = createPlayer(figure, report.playback);
    // Space plays wherever nothing else takes it.
    document.addEventListener("keydown", event => {
      if (event.key !== " " || event.target !== document.body || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      if (player.playing) player.pause(); else player.play();
    });
  }

  // --- how it went ---
  const fact = (name, value, note) => value === null ? null
    : make("div", {}, make("dt", {}, name), make("dd", {}, value, note ? make("span", { class: "soft" }, " " + note) : ""));
  page.append(make("dl", { class: "facts" },
    fact("Loss (1 is noise alone)", text(report.loss)),
    fact("at the start", text(report.loss_at_start)),
    fact("of the scene", text(report.loss_of_scene)),
    fact("Recordings", String(report.recording_count), report.window_count > report.recording_count ? `in ${report.window_count} windows` : ""),
    fact("Time step", text(1000 * report.time_step), "ms"),
    fact("Iterations", String(report.iterations)),
    missing(report.rollouts) ? null : fact("Work", text(report.rollouts), "rollouts"),
    missing(report.seconds) ? null : fact("Wall time", text(report.seconds, 3), "s")));
  if (report.warnings.length)
    page.append(make("div", { class: "warnings", id: "warnings", role: "note" }, make("h3", {}, report.warnings.length === 1 ? "Warning" : "Warnings"),
      make("ul", {}, ...report.warnings.map(warning => make("li", {}, warning)))));

  // --- parameters ---
  /** Where the estimate is between its bounds. */
  function intervalPicture(p) {
    const { lower: low, upper: high } = p;
    if (missing(low) || missing(high)) return "";
    const at = x => (4 + 142 * Math.min(Math.max((x - low) / (high - low), 0), 1)).toFixed(1);
    const made = svg("svg", { class: "interval", viewBox: "0 0 150 16", role: "img", "aria-label": "interval within the bounds" });
    made.append(svg("path", { class: "axis", d: "M4 8H146" }));
    if (p.interval) made.append(svg("path", { class: "line", d: `M${at(p.interval[0])} 8H${at(p.interval[1])}` }));
    made.append(svg("path", { class: "start", d: `M${at(p.start)} 3V13` }));
    if (!missing(p.truth)) made.append(svg("path", { class: "truth", d: `M${at(p.truth)} 0V16` }));
    made.append(svg("circle", { class: "dot", cx: at(p.value), cy: 8, r: 3.5 }));
    return made;
  }
  function remarks(p) {
    const said = [];
    const flag = (words, bad) => said.push(make("span", { class: bad ? "flag bad" : "flag" }, words), " ");
    if (p.fixed) said.push(make("span", { class: "soft" }, "fixed"), " ");
    else if (!p.observable) flag("unobservable", true);
    else if (p.at_bound) flag("at its bound");
    if (p.interval && !missing(p.truth) && (p.truth < p.interval[0] || p.truth > p.interval[1])) flag("truth outside the interval");
    return said;
  }
  const anyTruth = report.parameters.some(p => !missing(p.truth));
  const bounds = p => `${missing(p.lower) ? "−∞" : plain(p.lower)} … ${missing(p.upper) ? "∞" : plain(p.upper)}`;
  if (report.parameters.length)
    section("Parameters",
      table(
        [w("Parameter"), n("Value"), n("Std. error"), n("95 % interval"), w("Unit"), n("Start"), ...(anyTruth ? [n("Truth")] : []), n("Bounds"), w("In the bounds")],
        report.parameters.map(p => [
          { style: "name", value: [p.name, " ", ...remarks(p), ...(p.tied.length ? [make("small", {}, "tied: " + p.tied.join(", "))] : []),
            ...(p.prior ? [make("small", {}, `prior: ${plain(p.prior[0])} ± ${plain(p.prior[1])}`)] : [])] },
          n(make("strong", {}, textWith(p.value, p.standard_error))),
          n(missing(p.standard_error) ? "–" : text(p.standard_error, 2)),
          n(p.interval ? p.interval.map(x => textWith(x, p.standard_error)).join(" … ") : "–"), w(p.unit || "–"),
          n(plain(p.start)), ...(anyTruth ? [n(plain(p.truth))] : []), n(bounds(p)), w(intervalPicture(p)),
        ])),
      key([["dot", "value"], ["line", "95 % interval"], ["start", "start"], ...(anyTruth ? [["truth", "truth"]] : [])]));

  // --- numbers over time ---
  if (player && report.signals.some(clip => clip.groups.length)) {
    const choice = make("select", { "aria-label": "what is shown over time" });
    const charts = make("div", { class: "charts", id: "signals" }), left = make("p", { class: "soft" });
    let shown = null, drawn = [];
    const fill = () => {
      const clip = report.signals[shown], group = clip.groups[Number(choice.value)] || clip.groups[0];
      drawn = [];
      charts.replaceChildren(...(group ? group.signals : []).map(s => {
        const recorded = s.recorded || s.simulated.map((x, k) => missing(x) || missing(s.apart[k]) ? null : x - s.apart[k]);
        const x = { label: "time (s)" }, label = s.unit ? `${s.name} (${s.unit})` : s.name;
        const both = chart({ x: { label: "" }, y: { label }, height: 170, series: [
          { x: clip.times, y: s.simulated, class: "plain" }, { x: clip.times, y: recorded, kind: "dots", class: "given" }] });
        const apart = chart({ x, y: { label: "difference", zero: true }, height: 120, series: [{ x: clip.times, y: s.apart, class: "plain apart" }] });
        drawn.push(both, apart);
        return make("figure", {}, both, apart);
      }));
      left.textContent = clip.left_out ? `${many(clip.left_out, "more number")} of this recording ${clip.left_out === 1 ? "is" : "are"} not shown.` : "";
      point();
    };
    const point = () => drawn.forEach(c => c.point(player.time));
    const follow = () => {
      const clip = player.clip;
      if (clip === shown || !report.signals[clip]) return point();
      const before = choice.selectedOptions[0] ? choice.selectedOptions[0].textContent : null;
      shown = clip;
      choice.replaceChildren(...report.signals[clip].groups.map((g, k) => make("option", { value: k }, g.name)));
      const again = report.signals[clip].groups.findIndex(g => g.name === before);
      choice.value = Math.max(again, 0);
      fill();
    };
    choice.addEventListener("change", fill);
    figure.addEventListener("seen", follow);
    section("Over time", make("div", { class: "mask-row" }, choice,
      key([["dot given", "recorded"], ["line", "simulated"], ["line apart", "simulated less recorded"], ["line cursor", "the time that is played"]])), left, charts);
    follow();
  }

  // --- learned terms ---
  /** Values over two quantities, by colour. */
  function map(f, k) {
    const [xs, ys] = f.axes, values = f.values[k].filter(v => !missing(v));
    const low = Math.min(...values), high = Math.max(...values), width = 360, height = 300, left = 56, right = 70, top = 10, bottom = 40;
    const made = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${f.outputs[k]} over ${f.of.join(" and ")}` });
    const half = axis => (axis[1] - axis[0]) / 2;
    const scale = (axis, from, to) => x => from + (to - from) * (x - axis[0] + half(axis)) / (axis[axis.length - 1] - axis[0] + 2 * half(axis));
    const px = scale(xs, left, width - right), py = scale(ys, height - bottom, top);
    const shade = v => `color-mix(in oklab, var(--plus) ${Math.round(100 * (high > low ? (v - low) / (high - low) : 0.5))}%, var(--minus))`;
    const cell = [px(xs[1]) - px(xs[0]), py(ys[0]) - py(ys[1])];
    ys.forEach((y, j) => xs.forEach((x, i) => {
      const v = f.values[k][j * xs.length + i];
      if (missing(v)) return;
      const box = svg("rect", { x: px(x) - cell[0] / 2, y: py(y) - cell[1] / 2, width: cell[0] + 0.3, height: cell[1] + 0.3, style: `fill: ${shade(v)}` });
      const error = f.half_widths.length ? ` ± ${text(f.half_widths[k][j * xs.length + i], 2)}` : "";
      box.append(svg("title", {}, `${text(x, 3)}, ${text(y, 3)}: ${text(v)}${error}`));
      made.append(box);
    }));
    for (const [x, y] of f.visited)
      made.append(svg("circle", { class: "rug", cx: px(x), cy: py(y), r: 1 }));
    const label = (x, y, anchor, words) => made.append(svg("text", { x, y, "text-anchor": anchor }, words));
    ticks(xs[0], xs[xs.length - 1], 4).found.forEach(v => label(px(v), height - bottom + 16, "middle", plain(v)));
    ticks(ys[0], ys[ys.length - 1], 4).found.forEach(v => label(left - 6, py(v) + 4, "end", plain(v)));
    label((left + width - right) / 2, height - 6, "middle", f.of[0]);
    const middle = (top + height - bottom) / 2;
    made.append(svg("text", { x: 11, y: middle, "text-anchor": "middle", transform: `rotate(-90 11 ${middle})` }, f.of[1]));
    [0, 0.25, 0.5, 0.75, 1].forEach(share => {
      const y = height - bottom - share * (height - top - bottom - 12);
      made.append(svg("rect", { x: width - right + 10, y: y - 10, width: 12, height: 12, style: `fill: ${shade(low + share * (high - low))}` }));
      label(width - right + 26, y, "start", text(low + share * (high - low), 3));
    });
    return made;
  }
  for (const f of report.learned) {
    const banded = f.half_widths.length > 0;
    // Where nobody has been the band may be very wide.
    const within = k => {
      const values = f.values[k].filter(v => !missing(v)), low = Math.min(...values), high = Math.max(...values);
      const room = Math.max(high - low, 1e-12);
      return v => Math.min(Math.max(v, low - room), high + room);
    };
    const curve = k => chart({
      width: 540, x: { label: f.of[0] }, y: { label: f.outputs[k] }, rug: f.visited.map(([x]) => x),
      series: [...(banded ? [{ kind: "band", x: f.axes[0], low: f.values[k].map((v, i) => within(k)(v - f.half_widths[k][i])), high: f.values[k].map((v, i) => within(k)(v + f.half_widths[k][i])) }] : []),
        { x: f.axes[0], y: f.values[k], class: "plain" }],
    });
    section(`Learned: ${f.name}`,
      make("p", { class: "soft" }, `A ${f.kind} of ${many(f.weights, "weight")}. It is known where recordings have been; elsewhere it is what the network makes of that.`
        + (f.kind === "potential" ? " A potential is known up to a constant, and shown by its force." : "")
        + (f.held.length ? ` Held in the middle of what was visited: ${f.held.join(", ")}.` : "")),
      f.axes.length > 1 ? "" : key([["line", "value"], ...(banded ? [["band", "95 %"]] : []), ["rug", "recorded"]]),
      make("div", { class: "charts wide" }, ...f.outputs.map((words, k) => captioned(words, f.axes.length > 1 ? map(f, k) : curve(k)))));
  }

  // --- what cameras saw ---
  const png = data => "data:image/png;base64," + data;
  function maskClip(clip) {
    const [width, height] = clip.size, zoom = Math.min(3, 520 / width);
    const picture = make("img", { class: "mask", width: Math.round(width * zoom), height: Math.round(height * zoom), alt: `${clip.name}: recorded and fit, one over the other` });
    const slider = make("input", { type: "range", min: 0, max: clip.times.length - 1, value: 0, "aria-label": "frame" });
    const words = make("span", { class: "soft" });
    const show = () => {
      const k = Number(slider.value);
      picture.src = png(clip.pictures[k]);
      words.textContent = ` ${clip.times[k].toFixed(3)} s, frame ${k + 1} of ${clip.times.length}: off by ${text(clip.differences[k], 2)} of a pixel`;
    };
    let timer = null;
    const button = make("button", { type: "button" }, "Play");
    const stop = () => { clearInterval(timer); timer = null; button.textContent = "Play"; };
    button.addEventListener("click", () => {
      if (timer !== null) return stop();
      button.textContent = "Pause";
      timer = setInterval(() => { slider.value = (Number(slider.value) + 1) % clip.times.length; show(); }, 120);
    });
    slider.addEventListener("input", () => { stop(); show(); });
    show();
    return make("figure", {}, make("figcaption", {}, clip.name), picture, make("div", { class: "mask-row" }, button, slider, words),
      chart({ width: 540, x: { label: "time (s)" }, y: { label: "difference, root of the mean square", zero: true }, series: [{ x: clip.times, y: clip.differences, class: "plain" }] }));
  }
  if (report.masks.length)
    section("What cameras saw",
      make("p", { class: "soft" }, "Recorded masks and those of the simulation, one over the other: grey where both are, blue where only the recording is, orange where only the fit is."),
      make("div", { class: "charts wide" }, ...report.masks.map(maskClip)),
      ...report.masks.filter(clip => clip.sensitivities.length).map(clip => make("div", {},
        make("h3", {}, `How ${clip.name} changes with each parameter`),
        make("p", { class: "soft" }, "The frame that changes the most: orange is covered more, blue less, where the parameter grows; each picture is scaled to its own largest change."),
        make("div", { class: "charts wide" }, ...clip.sensitivities.map(s => captioned(s.caption,
          make("img", { class: "mask", width: Math.round(clip.size[0] * Math.min(2, 360 / clip.size[0])), alt: s.caption, src: png(s.picture) })))))));

  // --- correlations ---
  const c = report.correlations;
  if (c && c.names.length > 1) {
    const shade = x => missing(x) ? "" : `background: color-mix(in srgb, var(--${x < 0 ? "minus" : "plus"}) ${Math.round(70 * Math.min(1, Math.abs(x)))}%, transparent)`;
    const matrix = make("table", { class: "matrix" },
      make("thead", {}, make("tr", {}, make("th", {}, ""), ...c.names.map((_, k) => make("th", { class: "number" }, String(k + 1))))),
      make("tbody", {}, ...c.names.map((name, i) => make("tr", {}, make("th", { scope: "row" }, `${i + 1}  ${name}`),
        ...c.names.map((_, j) => make("td", { class: "cell", style: shade(c.matrix[i][j]), title: `${name}, ${c.names[j]}` },
          missing(c.matrix[i][j]) ? "–" : c.matrix[i][j].toFixed(2).replace("-", "−")))))));
    section("Correlations of the estimates", make("div", { class: "scroll" }, matrix), ...c.remarks.map(remark => make("p", {}, remark)));
  }

  // --- the search ---
  const v = report.convergence;
  if (v && v.loss.length > 1) {
    // A line for each stage and start, and a mark between stages.
    const pieces = [], marks = [];
    v.loss.forEach((_, k) => {
      const goesOn = k > 0 && v.stage[k] === v.stage[k - 1] && v.start[k] === v.start[k - 1];
      if (k > 0 && v.stage[k] !== v.stage[k - 1]) marks.push({ x: k + 0.5, class: "mark" });
      if (goesOn) pieces[pieces.length - 1].push(k); else pieces.push([k]);
    });
    const curves = of => pieces.map(piece => ({ x: piece.map(k => k + 1), y: piece.map(of) }));
    const positive = v.loss.filter(y => y > 0);
    const log = positive.length > 0 && Math.max(...positive) > 5 * Math.min(...positive);
    const stages = 1 + Math.max(...v.stage), starts = 1 + Math.max(...v.start);
    section("Convergence",
      make("p", { class: "soft" }, [stages > 1 ? `${stages} stages, each with a loss of its own` : "", starts > 1 ? `${starts} starts, one after the other` : ""]
        .filter(words => words).join("; ")),
      key([["line", "value"], ...(marks.length ? [["mark", "next stage"]] : []), ...(anyTruth ? [["truth", "truth"]] : [])]),
      make("div", { class: "charts" },
        captioned("Loss", chart({ x: { label: "iteration" }, y: { label: log ? "loss (logarithmic)" : "loss", log }, series: curves(k => v.loss[k]), marks })),
        ...report.parameters.map((p, i) => p.fixed ? null : captioned(p.name, chart({
          x: { label: "iteration" }, y: { label: p.unit ? `value (${p.unit})` : "value" },
          series: curves(k => v.values[k][i]), marks,
          levels: missing(p.truth) ? [] : [{ y: p.truth, class: "truth" }],
        }))).filter(figure => figure)));
  }
  if (report.starts.length > 1) {
    const moving = report.parameters.map((p, k) => [p, k]).filter(([p]) => !p.fixed);
    const order = report.starts.map((s, k) => [s, k]).sort(([a], [b]) => (missing(a.loss) ? Infinity : a.loss) - (missing(b.loss) ? Infinity : b.loss));
    section("Starts", make("p", { class: "soft" }, "Where the first stage led from each start, best first; the search went on from the best."),
      table([n("Start"), n("Loss"), ...moving.map(([p]) => n(p.unit ? `${p.name} (${p.unit})` : p.name))],
        order.map(([s, k]) => [n(String(k + 1)), n(text(s.loss)),
          ...moving.map(([, i]) => n([make("span", { class: "soft" }, text(s.start[i], 3) + " → "), text(s.values[i])]))])));
  }
  if (report.profiles.length) {
    const fitted = report.profiles.every(profile => profile.others_fitted);
    section("Loss profiles",
      make("p", { class: "soft" }, fitted ? "The other parameters are fitted anew at each value." : "The other parameters keep their identified values."),
      key([["line", "loss"], ["mark", "identified value"], ...(anyTruth ? [["truth", "truth"]] : [])]),
      make("div", { class: "charts" }, ...report.profiles.map(profile => {
        const p = report.parameters[profile.parameter];
        return captioned(p.name, chart({
          x: { label: p.unit ? `value (${p.unit})` : "value" }, y: { label: "loss" }, series: [{ x: profile.values, y: profile.loss }],
          marks: [{ x: p.value, class: "mark" }, ...(missing(p.truth) ? [] : [{ x: p.truth, class: "truth" }])],
        }));
      })));
  }

  if (report.score_tests.length) {
    const claims = report.score_tests.some(test => test.is_claim);
    section("What the scene holds",
      make("p", { class: "soft" }, (claims
        ? "Numbers of the scene that were not searched for, and what freeing them would take off the loss, by a Newton step from the fit."
        : "Numbers of the scene that were not searched for: of none do the recordings say clearly that it is another.")
        + " p: how likely chance makes as much of what is right, all tests together; below 0.05 it is a claim. stiction identify --improve frees what other recordings confirm."),
      table([w("Number"), w("Held at, and about"), n("Loss"), w(""), n("p"), n("Better in"), w("Most in")],
        report.score_tests.map(test => [w(test.is_claim ? make("b", {}, test.name) : test.name),
          w(test.members.map(([name, held, proposed]) => `${test.members.length > 1 ? name.split("/").pop() + " " : ""}${text(held, 4)} → ${text(proposed, 4)}`).join(", ")),
          n(`−${percent(test.gain)}` + (test.part < 0.9 ? ` (first ${percent(test.part)})` : "")),
          w(make("span", { class: "share", style: `width: ${(10 * Math.min(Math.max(test.gain || 0, 0), 1)).toFixed(2)}rem` })),
          n(text(test.p_value, 2)), n(`${test.better[0]} of ${test.better[1]}`), w(test.strongest.slice(0, 2).join(", "))])));
  }

  if (report.errors_from) section("Standard errors", make("p", {}, report.errors_from));

  if (report.improvement.length)
    section("Improving the model", make("ul", {}, ...report.improvement.map(line => make("li", {}, line))));

  // --- residuals ---
  const e = report.errors_over_time;
  if (e && (e.position || e.rotation_deg || e.joint_deg) && e.times.length > 1) {
    const charts = [];
    const curve = (caption, spread, unit, scale) => {
      const by = numbers => numbers.map(x => missing(x) ? null : scale * x);
      const single = report.recordings.length === 1;
      charts.push(captioned(caption, chart({
        width: 540, x: { label: "time since the first frame (s)" }, y: { label: `${caption.toLowerCase()} (${unit})`, zero: true },
        series: [...(single ? [] : [{ kind: "band", x: e.times, low: by(spread.low), high: by(spread.high) }]), { x: e.times, y: by(spread.median) }],
        counts: single ? null : { x: e.times, n: spread.count },
      })));
    };
    if (e.position) {
      const small = Math.max(...e.position.high.filter(x => !missing(x)), 0) < 0.1;
      curve("Position error", e.position, small ? "mm" : "m", small ? 1000 : 1);
    }
    if (e.rotation_deg) curve("Rotation error", e.rotation_deg, "°", 1);
    if (e.joint_deg) curve("Joint error", e.joint_deg, "°", 1);
    section("Errors over time", make("p", { class: "soft" }, report.start_text),
      report.recordings.length > 1 ? key([["line", "median of the recordings that have such an error then, as many as stand under the time"], ["band", "10 % to 90 % of them"]]) : "",
      make("div", { class: "charts wide" }, ...charts));
  }
  if (report.phases.length)
    section("Residuals by phase",
      table([w("Phase"), n("Frames"), n("Mean square"), n("Share of the loss"), w(""), n("Position error (mm)"), n("Rotation error (°)")],
        report.phases.map(p => [w(p.phase), n(String(p.frames)), n(text(p.mean_square, 3, 3)), n(percent(p.share)),
          w(make("span", { class: "share", style: `width: ${(10 * Math.min(Math.max(p.share || 0, 0), 1)).toFixed(2)}rem` })),
          n(missing(p.position) ? "–" : text(1000 * p.position, 3, 3)), n(text(p.rotation_deg, 3, 3))])),
      make("p", { class: "soft" }, "Mean square: of the residuals over their standard deviations; 1 is noise alone."));

  // --- recordings ---
  if (report.recordings.length) {
    const FEW = 50;
    const body = make("tbody");
    let order = "position_percent", down = true, all = false;
    const more = make("button", { type: "button" });
    const columns = [
      ["name", "Recording", false], ["frames", "Frames", true], ["duration", "Duration (s)", true],
      ["position_percent", `Position error (% of ${text(report.length_scale, 3)} m)`, true], ["rotation_deg", "Rotation error (°)", true],
      ...(report.recordings.some(r => !missing(r.joint_deg)) ? [["joint_deg", "Joint error (°)", true]] : []),
    ];
    const value = x => typeof x === "string" ? x : missing(x) ? Infinity : x;
    const compare = (a, b) => a < b ? -1 : a > b ? 1 : 0;
    const heads = columns.map(([field, words, number]) => {
      const button = make("button", { type: "button", title: "Sort" }, words);
      const head = make("th", number ? { class: "number" } : {}, button);
      button.addEventListener("click", () => {
        down = order === field ? !down : field !== "name";
        order = field;
        fill();
      });
      return head;
    });
    function fill() {
      const rows = [...report.recordings].sort((a, b) => (down ? -1 : 1) * compare(value(a[order]), value(b[order])));
      heads.forEach((head, k) => {
        const own = columns[k][0] === order;
        head.setAttribute("aria-sort", own ? (down ? "descending" : "ascending") : "none");
        head.firstChild.textContent = columns[k][1] + (own ? (down ? " ↓" : " ↑") : "");
      });
      body.replaceChildren(...rows.slice(0, all ? rows.length : FEW).map(r => {
        const notes = [];
        if (r.outlier) notes.push(make("span", { class: "flag" }, "outlier"), " ");
        if (r.held_out) notes.push(make("span", { class: "soft" }, "held out"), " ");
        if (!missing(r.clip) && report.playback) {
          const watch = make("button", { type: "button", class: "link" }, "play");
          watch.addEventListener("click", () => {
            if (player) {
              player.show(r.clip);
              player.play();
            }
            figure.scrollIntoView({ behavior: "smooth", block: "center" });
          });
          notes.push(watch);
        }
        return make("tr", {}, make("td", { class: "name" }, r.name), make("td", { class: "number" }, String(r.frames)),
          ...columns.slice(2).map(([field]) => make("td", { class: "number" }, text(r[field], 3, 3))), make("td", {}, ...notes));
      }));
      more.textContent = `Show all ${report.recordings.length}`;
      more.hidden = all || report.recordings.length <= FEW;
    }
    more.addEventListener("click", () => { all = true; fill(); });
    const mean = field => {
      const known = report.recordings.map(r => r[field]);
      return text(known.reduce((sum, x) => sum + (missing(x) ? NaN : x), 0) / known.length, 4);
    };
    const outliers = report.recordings.filter(r => r.outlier).length;
    section("Recordings",
      make("p", {}, `${many(report.recordings.length, "recording")}: mean position error ${mean("position_percent")} %, mean rotation error ${mean("rotation_deg")}°` +
        (outliers ? `; ${many(outliers, "outlier")}, far beyond the others.` : ".")),
      make("p", { class: "soft" }, report.start_text),
      make("div", { class: "scroll" }, make("table", { id: "recordings" }, make("thead", {}, make("tr", {}, ...heads, make("th"))), body)), more);
    fill();
  }

  page.append(make("footer", {}, `${report.program}. This file is complete in itself and loads nothing.`));
}
