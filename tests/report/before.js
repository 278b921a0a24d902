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
