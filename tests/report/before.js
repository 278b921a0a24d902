"use strict";
window.messages = [];
for (const level of ["error", "warn"]) console[level] = (...words) => messages.push(level + ": " + words.join(" "));
addEventListener("error", event => messages.push("uncaught: " + event.message));
addEventListener("unhandledrejection", event => messages.push("rejected: " + event.reason));
addEventListener("securitypolicyviolation", event => messages.push("policy: " + event.violatedDirective + " " + event.blockedURI));
window.alert = words => messages.push("alert: " + words);
// Dark or light at the will of the test.
window.dark = false;
const listeners = [];
window.matchMedia = () => ({ get matches() { return dark; }, addEventListener: (_, action) => listeners.push(action) });
// The clock of the test is virtual and does not wait for frames of the screen: timers stand for them.
window.requestAnimationFrame = action => setTimeout(() => action(performance.now()), 16);
// Does what a test does in a page, and writes down what it saw: `action(seen, frames)`, where `frames(count)` waits for so many.
window.watch = async action => {
  const seen = { failed: null };
  const frames = async count => {
    for (let k = 0; k < count; k++) await new Promise(resolve => requestAnimationFrame(resolve));
  };
  try {
    await action(seen, frames);
  } catch (error) {
    seen.failed = String(error.stack || error);
  }
  seen.messages = messages;
  seen.loaded = performance.getEntriesByType("resource").map(entry => entry.name).filter(name => !name.startsWith("data:"));
  const told = document.createElement("pre");
  told.id = "seen";
  told.textContent = JSON.stringify(seen);
  document.body.append(told);
};
