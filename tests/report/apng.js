"use strict";
watch(async (seen, frames) => {
  const root = document.querySelector(".player"), { player } = root;
  const button = [...root.querySelectorAll("button")].find(b => b.textContent === "APNG");
  // The time of the test is virtual, and does not wait for files: what would be saved is taken where it is made.
  let saved = null, name = null, parts = null;
  window.Blob = class { constructor(given) { parts = given; } };
  URL.createObjectURL = () => "blob:picture";
  URL.revokeObjectURL = () => {};
  HTMLAnchorElement.prototype.click = function () { [saved, name] = [this.href, this.download]; };
  player.seek(0.5 * player.duration);
  seen.time_before = player.time;
  // Stopped, it saves nothing.
  button.click();
  await frames(2);
  button.click();
  for (let k = 0; k < 100 && button.textContent !== "APNG"; k++) await frames(1);
  seen.stopped = saved === null && button.textContent === "APNG";
  button.click();
  for (let k = 0; k < 300 && !saved; k++) await frames(1);
  seen.name = name;
  seen.picture = btoa(parts.map(part => Array.from(part, byte => String.fromCharCode(byte)).join("")).join(""));
  await frames(2);
  seen.time_after = player.time;
  seen.duration = player.duration;
});
