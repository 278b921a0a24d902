"use strict";

// The page of `stiction view`: a player whose frames are simulated as they are asked for, beside all numbers that can be
// changed. `window.ask(request)` gives a promise of the reply; see `view::LiveRequest` and `view::LiveReply`.
{
  const data = JSON.parse(document.getElementById("data").textContent);
  const page = document.getElementById("page");

  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  /** The reply, with the time that its making took as `taken`, ms. */
  const ask = window.ask || (async request => {
    const answer = await fetch(data.ask, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(request),
    });
    if (!answer.ok) throw new Error(`the program answers ${answer.status}`);
    const reply = await answer.json();
    const timing = /dur=([0-9.]+)/.exec(answer.headers.get("Server-Timing") || "");
    return { ...reply, taken: timing ? Number(timing[1]) : 0 };
  });
  const GONE = data.ask === undefined ? "Reload the page, or try a newer browser."
    : "Start the program again and open its new address.";

  /** How long an answer may take, ms: of slower scenes the motion is slow, and the page is not. */
  const PATIENCE = 25;

  // What waits to be asked. Changes go with the next request, steps add up while one is under way.
  let waiting = {}, pull = null, owed = 0, single = 0, busy = false, perStep = 0.1, speed = null, player = null;
  const trouble = element("p", { class: "trouble", role: "alert" });

  /** Adds to what is asked next; what starts over takes back what waits and is older. */
  function change(part) {
    if (part.reset) delete waiting.parameters;
    if (part.restart || part.keyframe) {
      for (const older of ["inputs", "restart", "keyframe"]) delete waiting[older];
      single = 0;
    }
    for (const [key, value] of Object.entries(part))
      waiting[key] = value && typeof value === "object" ? { ...waiting[key], ...value } : value;
    send(0);
  }

  async function send(running) {
    const steps = running + single;
    if (busy || (!steps && !Object.keys(waiting).length)) return;
    busy = true;
    single = 0;
    const request = { ...waiting, steps };
    if (pull && steps) request.pull = pull;
    waiting = {};
    let reply = null;
    try {
      reply = await ask(request);
    } catch (error) {
      player.pause();
      trouble.textContent = `The simulation is gone: ${error.message}. ${GONE}`;
    }
    busy = false;
    if (!reply) return;
    // Of the steps alone: what is slow on the way here makes no slower motion.
    if (steps) perStep = 0.8 * perStep + 0.2 * reply.taken / steps;
    reply.changed = Object.keys(request).some(key => key !== "steps" && key !== "pull");
    show(reply, steps);
    if (single || Object.keys(waiting).length) send(0);
  }

  function show(reply, steps) {
    // What was refused is told until something else is asked for than steps.
    if (reply.error || reply.changed) trouble.textContent = reply.error || "";
    if (reply.error) player.pause();
    if (!reply.poses) return;
    if (reply.drawing) player.redraw(reply.drawing);
    if (reply.controls) fill(reply.controls);
    // Between steps the last forces stay, and what the solver said.
    if (!steps && reply.time > 0) Object.assign(reply, { forces: last.forces, solver: last.solver });
    last = reply;
    player.put(reply);
    tell(reply);
  }
  let last = { forces: [] };

  const live = {
    weight: data.weight,
    /** Goes on by so many seconds, as far as that is possible in time. */
    run(seconds) {
      owed += seconds;
      const due = Math.floor(owed / data.time_step + 1e-9);
      if (busy || !due) return;
      const steps = Math.min(due, Math.max(1, Math.floor(PATIENCE / perStep)));
      // What cannot be made in time is not made up for.
      if (seconds > 0) speed = 0.9 * (speed === null ? 1 : speed) + 0.1 * steps / due;
      owed = due > steps ? 0 : owed - steps * data.time_step;
      send(steps);
    },
    once(count) {
      single += count;
      send(0);
    },
    restart() {
      speed = null;
      owed = 0;
      change({ restart: true });
    },
    pull(given) { pull = given; },
    pace: () => speed !== null && speed < 0.9 ? ` · ${(100 * speed).toFixed(0)} % of the speed` : "",
  };

  // The numbers.
  const rows = new Map();
  const digits = x => Number(x.toPrecision(6));

  function row(kind, { name, value, lower, upper }) {
    const id = `${kind} ${name}`, whole = upper - lower;
    const box = element("input", { type: "number", step: "any", "aria-label": name, value: digits(value) });
    const slider = element("input", { type: "range", min: lower, max: upper, step: "any", id, value });
    const made = element("div", { class: "number" }, element("label", { for: id }, name), box, slider);
    if (!(whole > 0)) slider.disabled = true;
    const first = digits(value);
    let known = value;
    const put = x => {
      known = x;
      box.value = digits(x);
      slider.value = x;
      made.classList.toggle("changed", digits(x) !== first);
    };
    const took = x => {
      if (Number.isNaN(x)) return put(known);
      put(x);
      change({ [kind]: { [name]: x } });
    };
    slider.addEventListener("input", () => took(slider.valueAsNumber));
    box.addEventListener("change", () => took(box.valueAsNumber));
    rows.set(id, put);
    return made;
  }

  /** Numbers as they are now. */
  function fill({ inputs, parameters }) {
    for (const [kind, list] of [["inputs", inputs], ["parameters", parameters]])
      for (const { name, value } of list) rows.get(`${kind} ${name}`)(value);
  }

  const panel = element("aside", { "aria-label": "numbers" });
  const health = element("dl", { class: "health" });
  const heading = text => element("h2", {}, text);
  if (data.keyframes.length) {
    const choice = element("select", { "aria-label": "start" }, element("option", { value: "" }, "the scene's start"));
    data.keyframes.forEach(name => choice.append(element("option", {}, name)));
    choice.addEventListener("change", () => change(choice.value ? { keyframe: choice.value } : { restart: true }));
    panel.append(heading("Start"), choice);
  }
  panel.append(heading("Solver"), health, trouble);
  const { inputs, parameters } = data.controls;
  if (inputs.length) panel.append(heading("Motors and pushes"), ...inputs.map(number => row("inputs", number)));
  if (parameters.length) {
    const back = element("button", { type: "button" }, "As in the scene");
    back.addEventListener("click", () => change({ reset: true }));
    const search = element("input", { type: "search", placeholder: "find a parameter, such as mu", "aria-label": "find a parameter" });
    panel.append(heading("Parameters"), search);
    // By what they are of; friction first, as one looks for it first.
    const groups = new Map();
    const first = ["mu", "mu_static", "restitution"];
    for (const number of parameters) {
      const words = number.name.split("/");
      const group = first.includes(words[words.length - 1]) ? "contacts" : words[0];
      if (!groups.has(group)) groups.set(group, []);
      groups.get(group).push(number);
    }
    const order = [...groups.keys()].sort((a, b) => (b === "contacts") - (a === "contacts"));
    const made = [];
    for (const group of order) {
      const own = groups.get(group).map(number => ({ name: number.name, line: row("parameters", number) }));
      const folded = element("details", {}, element("summary", {}, `${group} (${own.length})`), ...own.map(({ line }) => line));
      folded.open = group === "contacts" && own.length <= 12;
      made.push({ folded, own, open: folded.open });
      panel.append(folded);
    }
    search.addEventListener("input", () => {
      const wanted = search.value.trim().toLowerCase();
      for (const { folded, own, open } of made) {
        let found = 0;
        for (const { name, line } of own) {
          line.hidden = !name.toLowerCase().includes(wanted);
          line.style.display = line.hidden ? "none" : "";
          found += !line.hidden;
        }
        folded.style.display = found ? "" : "none";
        folded.open = wanted ? found > 0 : open;
      }
    });
    panel.append(back);
  }

  function tell({ solver, kinetic_energy, potential_energy }) {
    const energy = x => x === null ? "not finite" : `${Math.abs(x) < 1e-12 ? 0 : Number(x.toPrecision(4))} J`;
    const both = kinetic_energy === null || potential_energy === null ? null : kinetic_energy + potential_energy;
    const lines = [["energy of motion", energy(kinetic_energy)], ["and of the weight", energy(both)]];
    if (solver) {
      lines.unshift(
        ["contact points", solver.contacts], ["status", solver.status, solver.unsolved > 0],
        ["iterations", solver.iterations], ["largest residual", solver.residual === null ? "not finite" : solver.residual.toExponential(1), solver.unsolved > 0],
      );
      if (solver.unsolved) lines.push(["not solved", solver.unsolved, true]);
    }
    health.replaceChildren(...lines.flatMap(([name, value, bad]) =>
      [element("dt", {}, name), element("dd", bad ? { class: "bad" } : {}, String(value))]));
    health.title = solver ? solver.warnings.join("\n") : "";
  }

  const title = element("h1");
  title.textContent = data.title;
  const figure = element("figure");
  page.append(element("header", {}, title, element("span", {}, `${data.program} · steps of ${digits(1000 * data.time_step)} ms`)),
    element("div", { class: "stage" }, figure, panel));
  player = createPlayer(figure, data.playback, document, live);
  if (player) player.put({ time: 0, poses: data.playback.clips[0].tracks[0].poses[0] || [], forces: [], pull: null });
  window.live = { ask, get last() { return last; } };
}
