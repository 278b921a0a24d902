"use strict";
watch(async (seen, frames) => {
  const root = document.querySelector(".player"), canvas = root.querySelector("canvas"), gl = canvas.getContext("webgl2");
  const pixels = async () => {
    await frames(3);
    const numbers = new Uint8Array(4 * canvas.width * canvas.height);
    gl.readPixels(0, 0, canvas.width, canvas.height, gl.RGBA, gl.UNSIGNED_BYTE, numbers);
    return numbers;
  };
  /** How many pixels are of a colour: the others are nearly none of it. */
  const count = (numbers, own) => {
    let found = 0;
    for (let k = 0; k < numbers.length; k += 4)
      if (numbers[k + own] > 90 && [0, 1, 2].every(j => j === own || numbers[k + j] < 0.4 * numbers[k + own])) found++;
    return found;
  };
  const first = await pixels();
  seen.red = count(first, 0);
  seen.green = count(first, 1);
  const box = root.querySelector(".key.shapes").parentElement.querySelector("input");
  box.click();
  const plain = await pixels();
  seen.red_of_shapes = count(plain, 0);
  seen.changed_by_shapes = first.reduce((n, x, k) => n + (x !== plain[k]), 0);
  box.click();
  seen.red_again = count(await pixels(), 0);
  seen.notice = root.querySelector(".notice").textContent;
  const { drawing } = JSON.parse(document.querySelector("script[type='application/json']").textContent).playback;
  delete drawing.looks;
  delete drawing.meshes;
  drawing.shapes.forEach(shape => delete shape.covered);
  root.player.redraw(drawing);
  seen.red_after_redraw = count(await pixels(), 0);
});
