"use strict";
watch(async (seen, frames) => {
  /** Waits until something holds. */
  const until = async (what, holds) => {
    for (let k = 0; k < 600; k++) {
      if (holds()) return;
      await frames(1);
    }
    throw new Error(what + " did not happen");
  };
  const root = document.querySelector(".player"), canvas = root.querySelector("canvas"), { player } = root;
  canvas.setPointerCapture = () => {};
  const button = name => [...document.querySelectorAll("button")].find(b => b.textContent === name);
  const box = name => root.querySelector(".key." + name).parentElement.querySelector("input");
  const height = () => player.position(0, 0)[2];
  const number = name => document.querySelector(`aside input[type=number][aria-label="${name}"]`);
  const put = (name, value) => {
    const field = number(name);
    field.value = value;
    field.dispatchEvent(new Event("change", { bubbles: true }));
  };
  seen.title = document.querySelector("h1").textContent;
  seen.parameters = document.querySelectorAll("aside details .number").length;
  seen.motors = document.querySelectorAll("aside > .number").length;

  // What it makes of the steps of the test. A module is compiled in real time, which the virtual one does not wait for.
  let first = null, spent = 0;
  window.live.ask({ inputs: { "motor/u": 0.7 }, steps: 150 }).then(reply => { first = reply; });
  while (!first) {
    for (let k = 0; k < 1e7; k++) spent += Math.sqrt(k);
    await frames(1);
  }
  seen.first = first.poses;
  seen.spent = spent > 0;
  await window.live.ask({ restart: true });

  // One step, then on and on.
  button("Step").click();
  await until("a step", () => player.time > 0);
  seen.time_of_a_step = player.time;
  // None of several clicks is lost, however long an answer takes.
  for (let k = 0; k < 4; k++) button("Step").click();
  await until("all steps", () => player.time > 0.02);
  await frames(5);
  seen.time_of_clicks = player.time;
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: " ", bubbles: true, cancelable: true }));
  await until("a run", () => player.time > 0.2);
  seen.health = document.querySelector(".health").textContent;
  seen.height_at_rest = height();

  // The crate is where its name is.
  box("names").click();
  await frames(3);
  const label = root.querySelector(".labels span");
  seen.label = label.textContent;
  const [x, y] = label.style.transform.match(/-?[0-9.]+/g).map(Number);
  const { left, top } = canvas.getBoundingClientRect();
  const pointer = (type, dy) => canvas.dispatchEvent(new PointerEvent(type,
    { pointerId: 1, clientX: left + x, clientY: top + y + dy, button: 0, buttons: 1, bubbles: true }));
  // To touch is not to pull.
  player.pause();
  pointer("pointerdown", 0);
  pointer("pointerup", 0);
  await frames(3);
  seen.at_rest_by_a_click = !player.playing;
  pointer("pointerdown", 0);
  pointer("pointermove", -40);
  pointer("pointermove", -80);
  await until("a pull", () => height() > seen.height_at_rest + 0.05);
  const held = window.live.last.pull;
  seen.pulled_up = held[5] > 0;
  const begun = player.time;
  await until("rest in the hand", () => player.time > begun + 2);
  seen.height_held = height();
  pointer("pointerup", -80);
  await until("a fall", () => height() < seen.height_at_rest + 1e-3);
  seen.let_go = window.live.last.pull === null;

  // Motors and parameters act.
  const angle = () => window.live.last.poses[12];
  const before = angle();
  put("motor/u", 1);
  await until("a turn", () => Math.abs(angle() - before) > 0.05);
  put("motor/u", 0);
  put("gravity/z", 3);
  await until("a rise", () => height() > 1);
  put("crate/mass", -1);
  await until("a message", () => document.querySelector(".trouble").textContent !== "");
  seen.trouble = document.querySelector(".trouble").textContent;
  seen.stopped = !player.playing;
  seen.box = number("crate/mass").value;
  // What has the same names as the scene's numbers is drawn anew with them.
  put("crate/half_extents/x", 0.3);
  await until("another drawing", () => window.live.last.drawing);
  seen.wide = Math.max(...window.live.last.drawing.shapes[0].surface.vertices);
  button("As in the scene").click();
  await until("the scene's numbers", () => number("gravity/z").value === "-9.81");
  button("Restart").click();
  await until("a start", () => player.time === 0);
  seen.height_restarted = height();
});
