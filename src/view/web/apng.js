"use strict";

// Pictures as one animated PNG (W3C PNG, third edition, 11.3.6): `apng(images, seconds)` takes the bytes of PNGs of one size and kind,
// as one canvas makes them, and how long each is shown; it returns the bytes of the file.
const apng = (() => {
  const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
    for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
    return n;
  });

  function checksum(bytes) {
    let c = 0xffffffff;
    for (const byte of bytes) c = TABLE[(c ^ byte) & 255] ^ (c >>> 8);
    return (c ^ 0xffffffff) >>> 0;
  }

  const word = n => [n >>> 24, n >>> 16 & 255, n >>> 8 & 255, n & 255];
  const short = n => [n >>> 8 & 255, n & 255];

  function chunk(kind, ...parts) {
    const size = parts.reduce((sum, part) => sum + part.length, 0), bytes = new Uint8Array(12 + size);
    bytes.set(word(size));
    bytes.set([...kind].map(c => c.charCodeAt(0)), 4);
    let at = 8;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.length;
    }
    bytes.set(word(checksum(bytes.subarray(4, at))), at);
    return bytes;
  }

  /** Kind and data of all chunks. */
  function chunks(png) {
    const found = [], view = new DataView(png.buffer, png.byteOffset, png.length);
    for (let at = 8; at + 12 <= png.length;) {
      const size = view.getUint32(at);
      found.push([String.fromCharCode(...png.subarray(at + 4, at + 8)), png.subarray(at + 8, at + 8 + size)]);
      at += 12 + size;
    }
    return found;
  }

  return (images, seconds) => {
    const head = chunks(images[0]), first = head.findIndex(([kind]) => kind === "IDAT");
    const size = head[0][1].subarray(0, 8), parts = [images[0].subarray(0, 8)];
    for (const [kind, data] of head.slice(0, first)) parts.push(chunk(kind, data));
    parts.push(chunk("acTL", word(images.length), word(0)));
    let number = 0;
    images.forEach((image, k) => {
      // All of the frame, in the place of the one before.
      parts.push(chunk("fcTL", word(number++), size, word(0), word(0), short(Math.round(1000 * seconds)), short(1000), [0, 0]));
      for (const [kind, data] of chunks(image))
        if (kind === "IDAT") parts.push(k ? chunk("fdAT", word(number++), data) : chunk("IDAT", data));
    });
    parts.push(chunk("IEND"));
    return parts;
  };
})();
