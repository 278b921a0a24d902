"use strict";

// The simulation in the page itself: `window.ask` for live.js, by the WebAssembly module in the data of the page
// (view/live_module.rs).
window.ask = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const begun = (async () => {
    const packed = Uint8Array.from(atob(data.module), c => c.charCodeAt(0));
    const bytes = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
    const { instance: { exports } } = await WebAssembly.instantiate(bytes, {});
    const text = length => new TextDecoder().decode(new Uint8Array(exports.memory.buffer, exports.live_text(), length));
    const call = (action, given) => {
      const written = new TextEncoder().encode(given);
      const place = exports.live_room(written.length);
      new Uint8Array(exports.memory.buffer, place, written.length).set(written);
      return text(action());
    };
    const wrong = call(exports.live_open, data.scene);
    if (wrong) throw new Error(wrong);
    return request => JSON.parse(call(exports.live_answer, JSON.stringify(request)));
  })();
  return async request => {
    const answer = await begun, start = performance.now(), reply = answer(request);
    return { ...reply, taken: performance.now() - start };
  };
})();
