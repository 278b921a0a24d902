"use strict";
watch(async (seen, frames) => {
  const text = selector => [...document.querySelectorAll(selector)].map(e => e.textContent);
  seen.title = text("h1")[0];
  seen.headings = text("h2");
  seen.notice = text(".notice")[0];
  const charts = [...document.querySelectorAll("svg.chart")];
  seen.charts = charts.length;
  seen.bad_charts = charts.filter(c => !c.childNodes.length || c.outerHTML.includes("NaN") || c.outerHTML.includes("Infinity")).length;
  const root = document.querySelector(".player");
  if (root) {
    seen.player_top = root.getBoundingClientRect().top / innerHeight;
    seen.canvas_bottom = root.querySelector("canvas").getBoundingClientRect().bottom / innerHeight;
  }
  seen.counts = text(".count");
  // Text of a chart that lies over other text of it.
  const apart = (a, b) => a.right < b.left + 1 || b.right < a.left + 1 || a.bottom < b.top + 2 || b.bottom < a.top + 2;
  seen.overlaps = charts.flatMap(chart => {
    const labels = [...chart.querySelectorAll("text")].filter(t => t.textContent).map(t => [t.textContent, t.getBoundingClientRect()]);
    return labels.flatMap(([a, at], k) => labels.slice(k + 1).filter(([, other]) => !apart(at, other)).map(([b]) => `${a} | ${b}`));
  });
  const signals = document.getElementById("signals");
  if (signals) {
    const cursors = () => [...signals.querySelectorAll(".cursor")].map(line => Number(line.getAttribute("x1")));
    await frames(3);
    root.player.seek(0);
    await frames(3);
    const begin = cursors();
    root.player.seek(root.player.duration);
    await frames(3);
    seen.signals = signals.querySelectorAll("figure").length;
    seen.cursors_move = begin.length === 2 * seen.signals && cursors().every((x, k) => x > begin[k] + 100);
    const clip = root.player.clip;
    root.player.show(clip + 1);
    await frames(3);
    seen.other_clip = root.player.clip === clip + 1 && signals.querySelectorAll("figure").length > 0;
    root.player.show(clip);
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: " ", bubbles: true, cancelable: true }));
    seen.space_plays = root.player.playing;
    root.player.pause();
    root.player.seek(0);
    await frames(3);
  }
  if (root) await use(root, seen);
  const table = document.getElementById("recordings");
  if (table) {
    const column = k => [...table.querySelectorAll("tbody tr")].map(row => Number(row.children[k].textContent));
    seen.rows = table.querySelectorAll("tbody tr").length;
    const before = column(3);
    const ordered = (numbers, sign) => numbers.every((x, k) => k === 0 || sign * (x - numbers[k - 1]) >= 0);
    table.querySelectorAll("th button")[4].click();
    const down = column(4);
    table.querySelectorAll("th button")[4].click();
    seen.sorted = ordered(before, -1) && ordered(down, -1) && ordered(column(4), 1);
    const row = [...table.querySelectorAll("tbody tr")].filter(r => r.querySelector("button")).pop();
    row.querySelector("button").click();
    await frames(3);
    const select = root.querySelector("select");
    seen.shown_by_row = select.options[select.selectedIndex].textContent.startsWith(row.children[0].textContent) && root.player.playing;
  }

  async function use(root, seen) {
    const canvas = root.querySelector("canvas"), gl = canvas.getContext("webgl2");
    const slider = root.querySelector("input[type=range]"), clock = root.querySelector(".clock");
    const pixels = async () => {
      await frames(3);
      const numbers = new Uint8Array(4 * canvas.width * canvas.height);
      gl.readPixels(0, 0, canvas.width, canvas.height, gl.RGBA, gl.UNSIGNED_BYTE, numbers);
      return new Uint32Array(numbers.buffer);
    };
    const difference = (a, b) => a.length !== b.length ? Math.max(a.length, b.length) : a.reduce((n, x, k) => n + (x !== b[k]), 0);
    const slide = to => {
      slider.value = to;
      slider.dispatchEvent(new Event("input", { bubbles: true }));
    };
    const press = key => root.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    const { player } = root;
    seen.duration = player.duration;

    slide(0);
    const start = await pixels();
    seen.colors = new Set(start).size;
    seen.clock_at_start = clock.textContent;
    const from = player.position(0, 0);
    slide(0.6 * Number(slider.max));
    const middle = await pixels();
    seen.clock_at_middle = clock.textContent;
    const to = player.position(0, 0);
    seen.moved_by_timeline = Math.hypot(...from.map((x, k) => x - to[k]));
    seen.changed_by_timeline = difference(start, middle);
    slide(0);
    seen.repainted = difference(start, await pixels());

    // Of all instants, the one with the most contacts.
    const toggled = async name => {
      const box = root.querySelector(".key." + name).parentElement.querySelector("input");
      let most = 0;
      for (const part of [0.3, 0.6, 0.8, 0.95]) {
        slide(part * Number(slider.max));
        const on = await pixels();
        box.click();
        most = Math.max(most, difference(on, await pixels()));
        box.click();
      }
      return most;
    };
    seen.changed_by_forces = await toggled("forces");
    if (root.querySelector(".key.recording")) seen.changed_by_recording = await toggled("recording");

    const before = await pixels();
    const pointer = (type, x, y) => canvas.dispatchEvent(new PointerEvent(type, { pointerId: 1, clientX: x, clientY: y, buttons: 1, bubbles: true }));
    canvas.setPointerCapture = () => {};
    pointer("pointerdown", 100, 100);
    pointer("pointermove", 160, 120);
    pointer("pointerup", 160, 120);
    const turned = await pixels();
    seen.changed_by_drag = difference(before, turned);
    canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: -300, bubbles: true, cancelable: true }));
    seen.changed_by_zoom = difference(turned, await pixels());
    press("r");
    const style = document.documentElement.style;
    for (const name of ["ground", "grid", "body-0"]) style.setProperty("--" + name, "#223344");
    listeners.forEach(action => action());
    seen.changed_by_dark = difference(before, await pixels());

    slide(0);
    root.querySelector(".play").click();
    await frames(10);
    seen.time_played = player.time;
    seen.playing = player.playing;
    press(" ");
    await frames(2);
    seen.paused_by_space = !player.playing;
    const frame = player.frame;
    press("ArrowRight");
    await frames(2);
    seen.frames_by_arrow = player.frame - frame;
    player.play();
    await frames(Math.ceil(70 * player.duration));
    seen.time_after_end = player.time;
  }
});
