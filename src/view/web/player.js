"use strict";

// A 3-D playback: triangles with poses over time, by WebGL 2. `createPlayer(root, playback)` fills the
// element `root` (keys may come from a larger one); the playback is what `view::Playback` serialises. Lengths in m, times in s, forces in N;
// z points up. Afterwards `root.player` has: duration, time, frame, playing, seek(time), play(), pause(),
// show(clip), position(track, body). With `live` the frames are not there yet: it is asked for them by run(seconds), and
// may give them to root.player.put({ time, poses, forces, pull }); it has weight (N), restart(), once() and pace(), and is told
// what is pulled by the mouse by pull({ body, point, to }) or pull(null).

const createPlayer = (() => {
  // --- 3-vectors, and 4x4 matrices by columns ---
  const add = (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const cross = (a, b) =>
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const length = a => Math.hypot(a[0], a[1], a[2]);
  const scaled = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
  const unit = a => scaled(a, 1 / (length(a) || 1));

  function multiply(a, b) {
    const c = new Float32Array(16);
    for (let j = 0; j < 4; j++)
      for (let i = 0; i < 4; i++)
        c[4 * j + i] = a[i] * b[4 * j] + a[4 + i] * b[4 * j + 1] + a[8 + i] * b[4 * j + 2] + a[12 + i] * b[4 * j + 3];
    return c;
  }

  function frameMatrix(x, y, z, origin) {
    return new Float32Array([...x, 0, ...y, 0, ...z, 0, ...origin, 1]);
  }

  const IDENTITY = frameMatrix([1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]);

  function poseMatrix([x, y, z, qw, qx, qy, qz]) {
    return new Float32Array([
      1 - 2 * (qy * qy + qz * qz), 2 * (qx * qy + qw * qz), 2 * (qx * qz - qw * qy), 0,
      2 * (qx * qy - qw * qz), 1 - 2 * (qx * qx + qz * qz), 2 * (qy * qz + qw * qx), 0,
      2 * (qx * qz + qw * qy), 2 * (qy * qz - qw * qx), 1 - 2 * (qx * qx + qy * qy), 0,
      x, y, z, 1,
    ]);
  }

  function perspective(angle, aspect, near, far) {
    const f = 1 / Math.tan(angle / 2);
    return new Float32Array([
      f / aspect, 0, 0, 0, 0, f, 0, 0,
      0, 0, (far + near) / (near - far), -1, 0, 0, 2 * far * near / (near - far), 0,
    ]);
  }

  function lookAt(eye, target, up) {
    const back = unit(add(eye, target, -1));
    const right = unit(cross(up, back));
    const over = cross(back, right);
    return new Float32Array([
      right[0], over[0], back[0], 0, right[1], over[1], back[1], 0, right[2], over[2], back[2], 0,
      -dot(right, eye), -dot(over, eye), -dot(back, eye), 1,
    ]);
  }

  /** Flattens the world along `light` onto the plane normal . x = offset. */
  function flatten(normal, offset, light) {
    const s = 1 / dot(normal, light);
    const m = new Float32Array(16);
    for (let j = 0; j < 3; j++) {
      for (let i = 0; i < 3; i++) m[4 * j + i] = (i === j ? 1 : 0) - s * light[i] * normal[j];
      m[12 + j] = s * light[j] * offset;
    }
    m[15] = 1;
    return m;
  }

  /** A point after a movement by a matrix. */
  const moved = (m, p) => [0, 1, 2].map(i => m[i] * p[0] + m[4 + i] * p[1] + m[8 + i] * p[2] + m[12 + i]);

  /** The corners of a box. */
  const cornersOf = (low, high) =>
    [0, 1, 2, 3, 4, 5, 6, 7].map(k => [0, 1, 2].map(i => (k >> i & 1 ? high : low)[i]));

  /** Two unit vectors that complete a normal. */
  function tangents(normal) {
    const axis = Math.abs(normal[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0];
    const first = unit(add(axis, normal, -dot(axis, normal)));
    return [first, cross(normal, first)];
  }

  // --- surfaces ---
  const CREASE = Math.cos(35 * Math.PI / 180);

  const corner = (vertices, k) => [vertices[3 * k], vertices[3 * k + 1], vertices[3 * k + 2]];

  /** Of each triangle its normal times twice its area. */
  function areas(triangles, vertices) {
    const found = [];
    for (let t = 0; t < triangles.length; t += 3) {
      const [a, b, c] = [0, 1, 2].map(k => corner(vertices, triangles[t + k]));
      found.push(cross(add(b, a, -1), add(c, a, -1)));
    }
    return found;
  }

  /** Of each corner the triangles it is smooth with, the vertices of the creases, and those of all edges. */
  function folds(triangles, vertices) {
    const normals = areas(triangles, vertices).map(unit), around = new Map(), sides = new Map();
    triangles.forEach((vertex, k) => {
      const t = Math.floor(k / 3), next = triangles[3 * t + (k + 1) % 3];
      if (!around.has(vertex)) around.set(vertex, []);
      around.get(vertex).push(t);
      const key = Math.min(vertex, next) + "," + Math.max(vertex, next);
      if (!sides.has(key)) sides.set(key, [vertex, next, []]);
      sides.get(key)[2].push(t);
    });
    const smooth = triangles.map((vertex, k) =>
      around.get(vertex).filter(t => dot(normals[t], normals[Math.floor(k / 3)]) > CREASE));
    const creases = [], edges = [];
    for (const [a, b, faces] of sides.values()) {
      edges.push(a, b);
      if (faces.length !== 2 || dot(normals[faces[0]], normals[faces[1]]) < CREASE) creases.push(a, b);
    }
    return { triangles, smooth, creases, edges };
  }

  /** Corners with normals. */
  function shaded({ triangles, smooth }, vertices) {
    const own = areas(triangles, vertices), corners = new Float32Array(6 * triangles.length);
    triangles.forEach((vertex, k) => {
      const sum = smooth[k].reduce((sum, t) => add(sum, own[t]), [0, 0, 0]);
      corners.set([...corner(vertices, vertex), ...unit(sum)], 6 * k);
    });
    return corners;
  }

  const ends = (lines, vertices) => new Float32Array(lines.flatMap(vertex => corner(vertices, vertex)));

  /** Corners with normals that are smooth except at creases, and the creases themselves. */
  function surface({ vertices, triangles }) {
    const folded = folds(triangles, vertices);
    return { corners: shaded(folded, vertices), lines: ends(folded.creases, vertices) };
  }

  /** The numbers of 16 bits in a text in base64. */
  function unpacked(text) {
    const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
    return Uint16Array.from({ length: bytes.length / 2 }, (_, k) => bytes[2 * k] + 256 * bytes[2 * k + 1]);
  }

  /** The mesh of a look: its vertices, triangles and corners with normals that are smooth except at creases. */
  function unpackedMesh({ low, size, vertices: places, triangles: corners }) {
    const vertices = Float32Array.from(unpacked(places), (x, k) => low[k % 3] + x / 65535 * size[k % 3]);
    const triangles = unpacked(corners), count = triangles.length / 3, normals = new Float32Array(3 * count), sizes = new Float32Array(count);
    for (let t = 0; t < count; t++) {
      const [a, b, c] = [0, 1, 2].map(k => corner(vertices, triangles[3 * t + k]));
      const normal = cross(add(b, a, -1), add(c, a, -1));
      sizes[t] = length(normal);
      normals.set(unit(normal), 3 * t);
    }
    // The triangles around each vertex, one vertex after the other.
    const first = new Uint32Array(vertices.length / 3 + 1), around = new Uint32Array(triangles.length);
    for (const vertex of triangles) first[vertex + 1]++;
    for (let k = 1; k < first.length; k++) first[k] += first[k - 1];
    const next = first.slice();
    triangles.forEach((vertex, k) => { around[next[vertex]++] = Math.floor(k / 3); });
    const shaded = new Float32Array(6 * triangles.length);
    triangles.forEach((vertex, k) => {
      const own = 3 * Math.floor(k / 3);
      let x = 0, y = 0, z = 0;
      for (let at = first[vertex]; at < first[vertex + 1]; at++) {
        const t = around[at], n = 3 * t;
        if (normals[n] * normals[own] + normals[n + 1] * normals[own + 1] + normals[n + 2] * normals[own + 2] < CREASE) continue;
        x += sizes[t] * normals[n];
        y += sizes[t] * normals[n + 1];
        z += sizes[t] * normals[n + 2];
      }
      const norm = Math.hypot(x, y, z) || 1;
      shaded.set([vertices[3 * vertex], vertices[3 * vertex + 1], vertices[3 * vertex + 2], x / norm, y / norm, z / norm], 6 * k);
    });
    return { vertices, triangles, shaded };
  }

  /** What a profile (radius, height) turned about z leaves, of radius and height 1. */
  function turned(profile) {
    const sides = 16, vertices = [], triangles = [];
    for (const [r, z] of profile)
      for (let k = 0; k < sides; k++) {
        const angle = 2 * Math.PI * k / sides;
        vertices.push(r * Math.cos(angle), r * Math.sin(angle), z);
      }
    for (let ring = 1; ring < profile.length; ring++)
      for (let k = 0; k < sides; k++) {
        const a = (ring - 1) * sides + k, b = (ring - 1) * sides + (k + 1) % sides;
        triangles.push(a, b, b + sides, a, b + sides, a + sides);
      }
    return surface({ vertices, triangles });
  }

  // --- shaders ---
  const SOLID = [`#version 300 es
    layout(location = 0) in vec3 position;
    layout(location = 1) in vec3 normal;
    uniform mat4 view, pose;
    uniform vec3 stretch;
    out vec3 n, local, world;
    void main() {
      vec4 p = pose * vec4(position * stretch, 1.0);
      n = mat3(pose) * (normal / stretch);
      local = position;
      world = p.xyz;
      gl_Position = view * p;
    }`, `#version 300 es
    precision highp float;
    in vec3 n, local, world;
    uniform vec4 color;
    uniform vec3 eye, light;
    uniform float pattern;
    out vec4 result;
    void main() {
      vec3 m = normalize(n), toEye = normalize(eye - world);
      if (dot(m, toEye) < 0.0) m = -m;
      float key = max(dot(m, light), 0.0), sky = 0.5 + 0.5 * m.z;
      float shade = 0.50 + 0.16 * sky + 0.38 * key;
      vec3 s = step(vec3(0.0), local) * 2.0 - 1.0;
      shade *= 1.0 - pattern * 0.22 * step(0.0, s.x * s.y * s.z);
      float shine = pow(max(dot(m, normalize(light + toEye)), 0.0), 40.0) * 0.10;
      result = vec4(color.rgb * shade + shine, 1.0) * color.a;
    }`];
  const FLAT = [`#version 300 es
    layout(location = 0) in vec3 position;
    uniform mat4 view, pose;
    void main() { gl_Position = view * pose * vec4(position, 1.0); }`, `#version 300 es
    precision highp float;
    uniform vec4 color;
    out vec4 result;
    void main() { result = vec4(color.rgb, 1.0) * color.a; }`];
  // Lines at multiples of the spacing, every tenth stronger; fading out with distance.
  const GROUND = [`#version 300 es
    layout(location = 0) in vec2 corner;
    uniform mat4 view;
    uniform vec3 middle, first, second;
    uniform vec2 anchor;
    uniform float extent;
    out vec2 offset, plane;
    void main() {
      offset = corner * extent;
      plane = anchor + offset;
      gl_Position = view * vec4(middle + first * offset.x + second * offset.y, 1.0);
    }`, `#version 300 es
    precision highp float;
    in vec2 offset, plane;
    uniform vec4 color, line;
    uniform float extent, spacing;
    out vec4 result;
    float lines(float spacing, float width) {
      vec2 at = plane / spacing, per = fwidth(at);
      vec2 away = abs(fract(at - 0.5) - 0.5) / max(per, vec2(1e-9));
      float coarse = max(per.x, per.y);
      return (1.0 - smoothstep(width - 0.5, width + 0.5, min(away.x, away.y))) * (1.0 - smoothstep(0.2, 0.5, coarse));
    }
    void main() {
      float fade = 1.0 - smoothstep(0.45, 1.0, length(offset) / extent);
      float strength = max(0.55 * lines(spacing, 0.5), lines(spacing * 10.0, 0.8));
      float alpha = mix(color.a, line.a, strength) * fade;
      result = vec4(mix(color.rgb, line.rgb, strength), 1.0) * alpha;
    }`];

  function program(gl, [vertex, fragment]) {
    const made = gl.createProgram();
    for (const [type, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost())
        throw new Error("shader: " + gl.getShaderInfoLog(shader));
      gl.attachShader(made, shader);
    }
    gl.linkProgram(made);
    const at = {};
    for (let k = 0; k < gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS); k++) {
      const { name } = gl.getActiveUniform(made, k);
      at[name] = gl.getUniformLocation(made, name);
    }
    return { made, at };
  }

  function vertexArray(gl, numbers, sizes) {
    const array = gl.createVertexArray();
    const buffer = gl.createBuffer();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, numbers, gl.STATIC_DRAW);
    const total = sizes.reduce((a, b) => a + b, 0);
    let offset = 0;
    sizes.forEach((size, k) => {
      gl.enableVertexAttribArray(k);
      gl.vertexAttribPointer(k, size, gl.FLOAT, false, 4 * total, 4 * offset);
      offset += size;
    });
    gl.bindVertexArray(null);
    return { array, buffer, count: numbers.length / total };
  }

  /** Puts other numbers, as many, into a vertex array. */
  function refill(gl, { buffer }, numbers) {
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, numbers, gl.DYNAMIC_DRAW);
  }

  function forget(gl, { array, buffer }) {
    gl.deleteVertexArray(array);
    gl.deleteBuffer(buffer);
  }

  // --- the page around it ---
  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  /** A length or force with three digits and a prefix. */
  function quantity(x, unit) {
    if (!(Math.abs(x) > 0)) return "0 " + unit;
    const prefixes = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];
    const [size, prefix] = prefixes.find(([size]) => Math.abs(x) >= 0.9995 * size) || prefixes[6];
    return Number((x / size).toPrecision(3)) + " " + prefix + unit;
  }

  /** 1, 2 or 5 times a power of ten, not above x. */
  function roundBelow(x) {
    const power = 10 ** Math.floor(Math.log10(x));
    return power * (x >= 5 * power ? 5 : x >= 2 * power ? 2 : 1);
  }

  const ANGLE = 32 * Math.PI / 180;
  const LIGHT = unit([0.35, -0.45, 1]);
  /** Of more forces in a frame the largest are drawn. */
  const MOST_ARROWS = 200;
  /** Animated pictures: at most so wide, so many a second, and so many in all. */
  const WIDEST = 640, PICTURES_A_SECOND = 20, MOST_PICTURES = 200;
  const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5];
  const NAMES = { simulation: "simulation", recording: "recording" };

  return function create(root, playback, keys = root, live = null) {
    const { clips } = playback, soft = playback.drawing.soft || [];
    let { drawing } = playback;
    const canvas = element("canvas", { tabindex: "0", "aria-label": "3-D playback" });
    const gl = canvas.getContext("webgl2", { antialias: true, stencil: true, alpha: true, preserveDrawingBuffer: true });
    if (!gl) {
      root.append(element("p", { class: "notice" },
        "The playback needs WebGL 2, which this browser does not offer or has switched off. " +
        "Everything else on this page works without it."));
      return null;
    }
    root.classList.add("player");

    // Controls.
    const choice = element("select", { "aria-label": "motion" });
    clips.forEach((clip, k) => choice.append(element("option", { value: k }, clip.name)));
    const toggles = {};
    const bar = element("div", { class: "bar" });
    if (clips.length > 1) bar.append(choice);
    const toggle = (name, label, on) => {
      const box = element("input", { type: "checkbox" });
      box.checked = on;
      box.addEventListener("change", draw);
      toggles[name] = box;
      bar.append(element("label", {}, box, element("i", { class: "key " + name }), label));
    };
    const roles = ["simulation", "recording"].filter(role => clips.some(c => c.tracks.some(t => t.role === role)));
    if (roles.length > 1) roles.forEach(role => toggle(role, NAMES[role], true));
    if (live || clips.some(c => c.tracks.some(t => t.forces.some(f => f.length)))) toggle("forces", "contact forces", true);
    if (!live) toggle("paths", "paths", roles.length > 1);
    toggle("follow", "follow", false);
    if (drawing.bodies.length) {
      toggle("names", "names", false);
      toggle("frames", "frames", false);
    }
    if ((drawing.axes || []).length) toggle("axes", "joint axes", false);
    if ((drawing.looks || []).length && drawing.shapes.some(shape => shape.covered)) toggle("shapes", "collision shapes", false);
    const picture = element("button", { type: "button", class: "first", title: "Save what is seen as a picture" }, "PNG");
    const animation = element("button", { type: "button", title: "Save the motion as an animated picture" }, "APNG");
    const reset = element("button", { type: "button", title: "Reset the view (R)" }, "Reset view");
    bar.append(picture, ...(live ? [] : [animation]), reset);
    const readout = element("div", { class: "readout" });
    const labels = element("div", { class: "labels", "aria-hidden": "true" });
    const view = element("div", { class: "view" }, canvas, labels, readout);
    const play = element("button", { type: "button", class: "play", "aria-label": "play", title: "Play or pause (space)" });
    play.append(element("span", {}));
    const slider = element("input", { type: "range", min: "0", step: "any", value: "0", "aria-label": "time in s" });
    const strip = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    strip.setAttribute("class", "strip");
    strip.setAttribute("preserveAspectRatio", "none");
    strip.setAttribute("viewBox", "0 0 1000 100");
    const clock = element("output", { class: "clock" });
    const speed = element("select", { "aria-label": "speed", title: "Speed" });
    SPEEDS.forEach(s => speed.append(element("option", { value: s }, s + "×")));
    speed.value = "1";
    const timeline = element("div", { class: "timeline" }, strip, slider);
    const once = element("button", { type: "button", title: "One step (right arrow)" }, "Step");
    const again = element("button", { type: "button", title: "Start over (Home)" }, "Restart");
    const controls = live
      ? element("div", { class: "controls" }, play, once, again, element("span", { class: "gap" }), clock, speed)
      : element("div", { class: "controls" }, play, timeline, clock, speed);
    const caption = element("p", { class: "caption" });
    root.append(bar, view, controls, caption);
    if (drawing.missing) root.append(element("p", { class: "notice" }, "Not shown: " + drawing.missing.join("; ")));

    // What is drawn.
    const solid = program(gl, SOLID), flat = program(gl, FLAT), ground = program(gl, GROUND);
    let shapes = [], looks = [];
    const meshBoxes = drawing.meshes || [], meshes = meshBoxes.map(unpackedMesh);
    const meshFaces = meshes.map(({ shaded }) => vertexArray(gl, shaded, [3, 3]));
    /** What bodies look like, from now on. Who has no looks leaves those there are, and what follows from them. */
    function redraw(given) {
      shapes.forEach(({ faces, lines }) => [faces, lines].forEach(array => forget(gl, array)));
      if (drawing.looks && !given.looks) {
        const before = drawing.shapes;
        given = {
          ...given, looks: drawing.looks, bare: drawing.bare, size: drawing.size,
          shapes: given.shapes.map((shape, k) => ({ ...shape, covered: before[k] && before[k].covered })),
        };
      }
      drawing = given;
      shapes = drawing.shapes.map(({ body, surface: triangles, round, color, covered }) => {
        const { corners, lines } = surface(triangles);
        return { body, round, color, covered, surface: triangles, faces: vertexArray(gl, corners, [3, 3]), lines: vertexArray(gl, lines, [3]) };
      });
      looks = (drawing.looks || []).map(({ body, mesh, pose, color }) =>
        ({ body, mesh, color, round: false, looks: true, at: poseMatrix(pose), faces: meshFaces[mesh], lines: null }));
      labels.replaceChildren(...drawing.bodies.map(name => element("span", {}, name)));
    }
    redraw(drawing);
    const shaft = vertexArray(gl, turned([[0, 0], [1, 0], [1, 1]]).corners, [3, 3]);
    const head = vertexArray(gl, turned([[0, 0], [1, 0], [0, 1]]).corners, [3, 3]);
    const quad = vertexArray(gl, new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]), [2]);
    const string = vertexArray(gl, new Float32Array(6), [3]), crosses = vertexArray(gl, new Float32Array(6), [3]);

    let clip = null, time = 0, playing = false, last = null, colors = null, framed = null, requested = false;
    let paths = [], softs = [], forceScale = 1, spacing = 1, weight = 0, seen = null, pull = null, pulling = null;
    const camera = { yaw: -1.05, pitch: 0.38, distance: 1, target: [0, 0, 0] };

    function readColors() {
      const style = getComputedStyle(root);
      const color = (name, alpha) => {
        const hex = style.getPropertyValue("--" + name).trim();
        return [1, 3, 5].map(k => parseInt(hex.slice(k, k + 2), 16) / 255).concat(alpha);
      };
      colors = {
        bodies: [0, 1, 2, 3, 4, 5].map(k => color("body-" + k, 1)),
        world: color("world", 1), edge: color("edge", 0.75), mesh: color("edge", 0.25), recording: color("recording", 0.28),
        recordingEdge: color("recording", 0.95), force: color("force", 1), ground: color("ground", 0.75),
        grid: color("grid", 0.9), axes: ["axis-x", "axis-y", "axis-z"].map(name => color(name, 1)), shadow: color("shadow", Number(style.getPropertyValue("--shadow-strength"))),
      };
    }

    const shown = track => !toggles[track.role] || toggles[track.role].checked;
    const duration = () => Math.max(1e-9, ...clip.tracks.map(track => track.times[track.times.length - 1] || 0));

    /** The track whose frames are counted: the first that has any. */
    const counted = () => clip.tracks.find(track => track.times.length) || { times: [0] };

    /** The frame at or before a time. */
    function frameAt(track, t) {
      let low = 0, high = track.times.length - 1;
      while (low < high) {
        const middle = Math.ceil((low + high) / 2);
        if (track.times[middle] <= t + 1e-9) low = middle; else high = middle - 1;
      }
      return low;
    }

    /** All poses between two frames: seven numbers a body. */
    function posesAt(track, t) {
      const k = frameAt(track, t), here = track.poses[k], there = track.poses[k + 1];
      if (!here) return null;
      const part = there ? (t - track.times[k]) / (track.times[k + 1] - track.times[k]) : 0;
      if (!(part > 0)) return here;
      const poses = new Array(here.length);
      for (let b = 0; b < here.length; b += 7) {
        for (let i = b; i < b + 3; i++) poses[i] = here[i] + part * (there[i] - here[i]);
        let sign = 0, norm = 0;
        for (let i = b + 3; i < b + 7; i++) sign += here[i] * there[i];
        sign = sign < 0 ? -1 : 1;
        for (let i = b + 3; i < b + 7; i++) norm += (poses[i] = here[i] + part * (sign * there[i] - here[i])) ** 2;
        for (let i = b + 3; i < b + 7; i++) poses[i] /= Math.sqrt(norm);
      }
      return poses;
    }

    /** The surfaces of all soft bodies between two frames. */
    const surfacesAt = (track, t) => between(track, t, track.surfaces);

    /** Of points in each frame, where they are between two frames. */
    function between(track, t, frames) {
      const k = frameAt(track, t), here = frames[k], there = frames[k + 1];
      const part = there ? (t - track.times[k]) / (track.times[k + 1] - track.times[k]) : 0;
      if (!(part > 0)) return here;
      return here.map((vertices, s) => vertices.map((x, i) => x + part * (there[s][i] - x)));
    }

    /** The middle of some vertices. */
    function middleOf(vertices) {
      let sum = [0, 0, 0];
      for (let k = 0; k < vertices.length; k += 3) sum = add(sum, [vertices[k], vertices[k + 1], vertices[k + 2]]);
      return scaled(sum, 3 / (vertices.length || 1));
    }

    /** Where bodies are, and after them soft bodies. */
    function places(track, t) {
      const poses = posesAt(track, t), found = [];
      for (let b = 0; poses && b < poses.length; b += 7) found.push(poses.slice(b, b + 3));
      if (poses && track.surfaces) found.push(...surfacesAt(track, t).map(middleOf));
      return found;
    }

    /** A ball that holds all motions of the clip, or where there are none the shapes. */
    function bounds() {
      const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
      const hold = (p, margin) => {
        for (let i = 0; i < 3; i++) {
          low[i] = Math.min(low[i], p[i] - margin);
          high[i] = Math.max(high[i], p[i] + margin);
        }
      };
      // Of each body a box around what is seen of it, and how far that reaches.
      const boxes = drawing.bodies.map(() => [[Infinity, Infinity, Infinity], [-Infinity, -Infinity, -Infinity]]);
      const reach = drawing.bodies.map(() => 0);
      const still = [];
      const enclose = (body, p) => {
        if (body === null) {
          still.push(p);
          return;
        }
        reach[body] = Math.max(reach[body], length(p));
        for (let i = 0; i < 3; i++) {
          boxes[body][0][i] = Math.min(boxes[body][0][i], p[i]);
          boxes[body][1][i] = Math.max(boxes[body][1][i], p[i]);
        }
      };
      /** The corners of what does not move, thing by thing. */
      const fixtures = [];
      drawing.shapes.forEach(({ body, covered, surface: { vertices } }) => {
        for (let k = 0; k < vertices.length && !covered; k += 3) enclose(body, [vertices[k], vertices[k + 1], vertices[k + 2]]);
        if (still.length) fixtures.push(still.splice(0));
      });
      looks.forEach(({ body, mesh, at }) => {
        for (const p of lookCorners(mesh)) enclose(body, moved(at, p));
        if (still.length) fixtures.push(still.splice(0));
      });
      for (const track of clip.tracks) {
        const floor = bottom(track, reach);
        track.poses.forEach((poses, k) => {
          for (let b = 0; b < drawing.bodies.length; b++) {
            if (k && poses[7 * b + 2] < floor) continue;
            const m = poseMatrix(poses.slice(7 * b, 7 * b + 7));
            if (reach[b] > 0) cornersOf(...boxes[b]).forEach(p => hold(moved(m, p), 0));
            else hold(poses.slice(7 * b, 7 * b + 3), 0);
          }
        });
        for (const vertices of (track.surfaces || []).flat())
          for (let k = 0; k < vertices.length; k += 3) hold([vertices[k], vertices[k + 1], vertices[k + 2]], 0);
      }
      // Of what does not move what is small beside that, and near: the foot of an arm, and not the hall it stands in.
      const alone = !drawing.bodies.length && !soft.length, size = alone ? Infinity : length(add(high, low, -1));
      const near = [low.map(x => x - size), high.map(x => x + size)];
      for (const points of fixtures) {
        const [from, to] = [Math.min, Math.max].map(of => [0, 1, 2].map(i => points.reduce((x, p) => of(x, p[i]), points[0][i])));
        const beside = alone || (from.every((x, i) => x <= near[1][i]) && to.every((x, i) => x >= near[0][i]));
        if (beside && (alone || length(add(to, from, -1)) <= 1.5 * size)) [from, to].forEach(p => hold(p, 0));
      }
      if (!(low[0] <= high[0])) return { middle: [0, 0, 0], radius: drawing.size || 1 };
      return { middle: scaled(add(low, high), 0.5), radius: Math.max(0.5 * length(add(high, low, -1)), 1e-6) };
    }

    /** The corners of the box around the mesh of a look. */
    const lookCorners = mesh => cornersOf(meshBoxes[mesh].low, add(meshBoxes[mesh].low, meshBoxes[mesh].size));

    /** Bodies below this height have fallen out of the scene, which has something that does not move, and are left alone. */
    function bottom(track, reach) {
      let low = Infinity;
      for (const { normal, offset } of drawing.grounds) if (normal[2] > 0.5) low = Math.min(low, offset / normal[2]);
      drawing.shapes.forEach(({ body, surface: { vertices } }) => {
        for (let k = 2; body === null && k < vertices.length; k += 3) low = Math.min(low, vertices[k]);
      });
      for (const { body, mesh, at } of looks)
        if (body === null) lookCorners(mesh).forEach(p => { low = Math.min(low, moved(at, p)[2]); });
      if (low === Infinity) return -Infinity;
      const start = track.poses[0] || [];
      reach.forEach((r, b) => { low = Math.min(low, start[7 * b + 2] - r); });
      return low - 2 * Math.max(drawing.size, ...reach);
    }

    function frameView() {
      framed = bounds();
      camera.yaw = -1.05;
      camera.pitch = 0.38;
      const radius = toggles.follow.checked ? 2.5 * (drawing.size || framed.radius) : framed.radius;
      camera.target = toggles.follow.checked ? [0, 0, 0] : framed.middle;
      const aspect = Math.min(1, (canvas.clientWidth || 1) / (canvas.clientHeight || 1));
      camera.distance = radius / Math.sin(ANGLE / 2) / aspect;
      spacing = 1;
    }

    /** Where the camera looks: with `follow`, relative to the middle of all bodies. */
    function focus() {
      if (!toggles.follow.checked) return camera.target;
      const track = clip.tracks.find(shown) || clip.tracks[0];
      const found = track ? places(track, time) : [];
      // Of soft bodies not their markers.
      const all = found.length > drawing.bodies.length ? found.slice(drawing.bodies.length) : found;
      return all.reduce((target, place) => add(target, place, 1 / all.length), camera.target);
    }

    function show(k) {
      clip = clips[k];
      choice.value = k;
      paths.forEach(path => forget(gl, path.line));
      softs.flat().forEach(({ faces, lines }) => [faces, lines].forEach(array => forget(gl, array)));
      paths = [];
      softs = clip.tracks.map(track => (track.surfaces && track.surfaces[0] || []).map((vertices, s) => {
        const folded = folds(soft[s].triangles, vertices);
        return {
          folded, body: drawing.bodies.length + s, round: false,
          faces: vertexArray(gl, shaded(folded, vertices), [3, 3]), lines: vertexArray(gl, ends(folded.edges, vertices), [3]),
        };
      }));
      const sizes = [];
      for (const track of clip.tracks) {
        for (let b = 0; b < drawing.bodies.length; b++) {
          const line = new Float32Array(track.poses.flatMap(poses => poses.slice(7 * b, 7 * b + 3)));
          paths.push({ track, body: b, line: vertexArray(gl, line, [3]) });
        }
        if (track.surfaces) soft.forEach((_, s) => {
          const line = new Float32Array(track.surfaces.flatMap(surfaces => middleOf(surfaces[s])));
          paths.push({ track, body: drawing.bodies.length + s, line: vertexArray(gl, line, [3]) });
        });
        for (const forces of track.forces) for (const f of forces) sizes.push(length(f.slice(3)));
      }
      // The median force is as long as a body, at one of many vertices a part of that; what is longer than three bodies is cut.
      sizes.sort((a, b) => a - b);
      weight = sizes[Math.floor(sizes.length / 2)] || 1;
      const crowd = Math.max(1, ...clip.tracks.flatMap(track => track.forces.map(forces => forces.length)));
      if (live) weight = live.weight || 1;
      forceScale = (drawing.size || 1) / weight / (soft.length ? Math.max(3, Math.sqrt(crowd)) : 1);
      slider.max = duration();
      drawStrip();
      frameView();
      seek(0);
    }

    /** The sum of the sizes of all contact forces of a frame, N. */
    const load = forces => forces.reduce((sum, f) => sum + length(f.slice(3)), 0);

    function drawStrip() {
      strip.replaceChildren();
      const track = clip.tracks.find(t => t.forces.some(f => f.length));
      if (!track) return;
      const loads = track.forces.map(load), most = Math.max(...loads), end = duration();
      let path = "M0 100";
      track.times.forEach((t, k) => { path += `L${(1000 * t / end).toFixed(1)} ${(100 - 96 * Math.sqrt(loads[k] / most)).toFixed(1)}`; });
      const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
      line.setAttribute("d", path + "L1000 100Z");
      const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
      title.textContent = "Contact forces, sum of sizes (square root); peak " + quantity(most, "N");
      strip.append(title, line);
    }

    function draw() {
      if (!requested) {
        requested = true;
        requestAnimationFrame(render);
      }
    }

    function set(shader, values) {
      gl.useProgram(shader.made);
      for (const [name, value] of Object.entries(values)) {
        const at = shader.at[name];
        if (at === undefined) continue;
        if (typeof value === "number") gl.uniform1f(at, value);
        else if (value.length === 16) gl.uniformMatrix4fv(at, false, value);
        else gl["uniform" + value.length + "fv"](at, value);
      }
    }

    function emit(mode, { array, count }) {
      gl.bindVertexArray(array);
      gl.drawArrays(mode, 0, count);
    }

    function render(now) {
      requested = false;
      if (gl.isContextLost()) return;
      if (playing) {
        const elapsed = last === null ? 0 : Math.min(0.1, (now - last) / 1000);
        last = now;
        if (live) {
          live.run(elapsed * Number(speed.value));
        } else {
          time += elapsed * Number(speed.value);
          if (time >= duration()) {
            time = duration();
            pause();
          }
          slider.value = time;
        }
        draw();
      }
      if (!colors) readColors();
      const ratio = Math.min(window.devicePixelRatio || 1, 2);
      const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
      const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
      if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
      gl.viewport(0, 0, width, height);
      gl.clearColor(0, 0, 0, 0);
      gl.stencilMask(255);
      gl.depthMask(true);
      gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
      gl.enable(gl.DEPTH_TEST);
      gl.depthFunc(gl.LEQUAL);
      gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
      gl.disable(gl.BLEND);

      const target = focus(), { yaw, pitch, distance } = camera;
      const away = [Math.cos(pitch) * Math.cos(yaw), Math.cos(pitch) * Math.sin(yaw), Math.sin(pitch)];
      const eye = add(target, away, distance);
      seen = { eye, away, right: unit(cross([0, 0, 1], away)), aspect: width / height };
      seen.over = cross(away, seen.right);
      const far = distance + 12 * framed.radius + length(add(target, framed.middle, -1));
      const projection = perspective(ANGLE, width / height, 0.02 * distance, far);
      const look = multiply(projection, lookAt(eye, target, [0, 0, 1]));
      const tracks = clip.tracks.filter(shown).map(track => ({ track, poses: posesAt(track, time) })).filter(t => t.poses);
      tracks.forEach(t => {
        t.matrices = drawing.bodies.map((_, b) => poseMatrix(t.poses.slice(7 * b, 7 * b + 7)));
        t.soft = softs[clip.tracks.indexOf(t.track)];
        const surfaces = t.soft.length ? surfacesAt(t.track, time) : [];
        t.soft.forEach(({ folded, faces, lines }, s) => {
          refill(gl, faces, shaded(folded, surfaces[s]));
          refill(gl, lines, ends(folded.edges, surfaces[s]));
        });
      });
      const solids = tracks.filter(t => t.track.role === "simulation");
      const ghosts = tracks.filter(t => t.track.role !== "simulation");
      // A recording alone is drawn as a simulation.
      const opaque = solids.length ? solids : ghosts;
      const lit = { view: look, eye, light: LIGHT, stretch: [1, 1, 1] };

      const present = presentNow(), plain = toggles.shapes && toggles.shapes.checked;
      const opacity = shape => shape.color && !plain ? shape.color[3] : 1;
      const placed = (shape, pose) => shape.at ? multiply(pose, shape.at) : pose;
      const solidly = shape => opacity(shape) > 0.95;
      const each = (t, action, which = solidly) => {
        present.forEach(shape => { if (shape.body !== null && which(shape)) action(shape, placed(shape, t.matrices[shape.body])); });
        t.soft.forEach(shape => action(shape, IDENTITY));
      };
      const fixed = action =>
        present.forEach(shape => { if (shape.body === null && solidly(shape)) action(shape, placed(shape, IDENTITY)); });

      // Solids with their edges.
      gl.enable(gl.POLYGON_OFFSET_FILL);
      gl.polygonOffset(1, 1);
      const body = color => (shape, pose) => {
        set(solid, { ...lit, pose, color: color(shape), pattern: shape.round ? 1 : 0 });
        emit(gl.TRIANGLES, shape.faces);
      };
      const own = shape => shape.color ? [shape.color[0], shape.color[1], shape.color[2], 1]
        : shape.body === null ? colors.world : colors.bodies[shape.body % colors.bodies.length];
      fixed(body(own));
      opaque.forEach(t => each(t, body(own)));
      gl.disable(gl.POLYGON_OFFSET_FILL);
      gl.enable(gl.BLEND);
      const outline = color => (shape, pose) => {
        if (!shape.lines) return;
        set(flat, { view: look, pose, color });
        emit(gl.LINES, shape.lines);
      };
      fixed(outline(colors.edge));
      // The mesh of soft bodies, faintly, shows how they turn and give way.
      opaque.forEach(t => each(t, (shape, pose) => outline(shape.folded ? colors.mesh : colors.edge)(shape, pose)));

      // Grounds, and shadows on them.
      gl.depthMask(false);
      spacing = roundBelow(distance * Math.tan(ANGLE / 2) / 4);
      for (const { normal, offset } of drawing.grounds) {
        const [first, second] = tangents(normal);
        const middle = add(target, normal, offset - dot(normal, target));
        gl.enable(gl.POLYGON_OFFSET_FILL);
        gl.polygonOffset(1, 1);
        set(ground, {
          view: look, middle, first, second, extent: 3 * Math.max(distance * 0.6, framed.radius), spacing,
          anchor: [dot(first, middle), dot(second, middle)], color: colors.ground, line: colors.grid,
        });
        emit(gl.TRIANGLE_STRIP, quad);
        gl.disable(gl.POLYGON_OFFSET_FILL);
        if (dot(normal, LIGHT) < 0.3 || dot(normal, eye) < offset) continue;
        // Each pixel once, however many triangles fall on it.
        gl.enable(gl.STENCIL_TEST);
        gl.clear(gl.STENCIL_BUFFER_BIT);
        gl.stencilFunc(gl.EQUAL, 0, 255);
        gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
        const shadow = multiply(look, flatten(normal, offset, LIGHT));
        opaque.forEach(t => each(t, (shape, pose) => {
          set(flat, { view: shadow, pose, color: colors.shadow });
          emit(gl.TRIANGLES, shape.faces);
        }));
        gl.disable(gl.STENCIL_TEST);
      }

      if (toggles.paths && toggles.paths.checked)
        for (const { track, body, line } of paths) {
          if (!shown(track)) continue;
          const own = track.role === "simulation" ? colors.bodies[body % colors.bodies.length] : colors.recordingEdge;
          set(flat, { view: look, pose: IDENTITY, color: [own[0], own[1], own[2], 0.8] });
          emit(gl.LINE_STRIP, line);
        }

      // What one sees through, without its back.
      const clear = shape => opacity(shape) > 0.02 && opacity(shape) <= 0.95;
      if (present.some(clear)) {
        gl.depthMask(false);
        const glass = body(shape => [shape.color[0], shape.color[1], shape.color[2], opacity(shape)]);
        for (const shape of present.filter(clear))
          if (shape.body === null) glass(shape, placed(shape, IDENTITY));
          else opaque.forEach(t => glass(shape, placed(shape, t.matrices[shape.body])));
      }

      // What is recorded, translucent: depth first, so that only its nearest surface shows.
      if (solids.length)
        ghosts.forEach(t => {
          gl.depthMask(true);
          gl.colorMask(false, false, false, false);
          gl.enable(gl.POLYGON_OFFSET_FILL);
          gl.polygonOffset(1, 1);
          each(t, body(() => colors.recording), () => true);
          gl.colorMask(true, true, true, true);
          gl.depthMask(false);
          each(t, body(() => colors.recording), () => true);
          gl.disable(gl.POLYGON_OFFSET_FILL);
          each(t, outline(colors.recordingEdge));
        });

      /** A round stick from a point along a unit vector. */
      const stick = (from, along, size, radius, color) => {
        const [first, second] = tangents(along);
        set(solid, { ...lit, pose: frameMatrix(first, second, along, from), stretch: [radius, radius, size], color, pattern: 0 });
        emit(gl.TRIANGLES, shaft);
      };
      // Frames, of bodies without shapes always; x red, y green, z blue.
      gl.depthMask(true);
      const bare = new Set(drawing.bare || []), triad = 0.5 * (drawing.size || 1);
      for (const { matrices } of tracks)
        matrices.forEach((m, b) => {
          if (!bare.has(b) && !(toggles.frames && toggles.frames.checked)) return;
          for (let k = 0; k < 3; k++)
            stick([m[12], m[13], m[14]], [m[4 * k], m[4 * k + 1], m[4 * k + 2]], triad, 0.02 * triad, colors.axes[k]);
        });
      if (toggles.axes && toggles.axes.checked)
        for (const { matrices } of tracks)
          for (const { body, point, direction } of drawing.axes) {
            const m = matrices[body], size = 1.2 * (drawing.size || 1);
            const turned = v => [0, 1, 2].map(i => m[i] * v[0] + m[4 + i] * v[1] + m[8 + i] * v[2]);
            const along = turned(direction), at = add([m[12], m[13], m[14]], turned(point));
            stick(add(at, along, -size / 2), along, size, 0.015 * size, colors.edge);
          }
      /** A line through points. */
      function line(at) {
        for (let k = 1; k < at.length; k++) {
          const way = add(at[k], at[k - 1], -1), size = Math.hypot(...way);
          if (size > 0) stick(at[k - 1], way.map(x => x / size), size, 0.012 * (drawing.size || 1), colors.edge);
        }
      }
      for (const { track, matrices } of tracks) {
        for (const { points } of drawing.tendons || [])
          line(points.map(([body, p]) => {
            const m = body === null ? IDENTITY : matrices[body];
            return [0, 1, 2].map(i => m[i] * p[0] + m[4 + i] * p[1] + m[8 + i] * p[2] + m[12 + i]);
          }));
        for (const points of track.cables ? between(track, time, track.cables) : [])
          line(Array.from({ length: points.length / 3 }, (_, k) => points.slice(3 * k, 3 * k + 3)));
        // Points that were seen are small crosses, where they were in the frame.
        const points = track.points ? track.points[frameAt(track, time)] : [], ends = [], arm = 0.025 * (drawing.size || 1);
        for (let k = 0; k < points.length; k += 3)
          for (let axis = 0; axis < 3; axis++)
            for (const side of [-arm, arm])
              ends.push(...points.slice(k, k + 3).map((x, i) => i === axis ? x + side : x));
        if (!ends.length) continue;
        refill(gl, crosses, new Float32Array(ends));
        // As forces, bright where nothing is before them, faint where something is.
        for (const [depth, alpha] of [[gl.GREATER, 0.4], [gl.LEQUAL, 1]]) {
          gl.depthFunc(depth);
          set(flat, { view: look, pose: IDENTITY, color: [...colors.force.slice(0, 3), alpha] });
          emit(gl.LINES, { array: crosses.array, count: ends.length / 3 });
        }
      }
      if (pull) {
        gl.disable(gl.DEPTH_TEST);
        refill(gl, string, new Float32Array([...pull.at, ...pull.to]));
        set(flat, { view: look, pose: IDENTITY, color: colors.force });
        emit(gl.LINES, string);
        gl.enable(gl.DEPTH_TEST);
      }

      // Forces: bright where nothing is before them, faint where something is.
      let total = null;
      for (const { track } of tracks) {
        const forces = track.forces[frameAt(track, time)];
        if (!forces || !track.forces.some(f => f.length)) continue;
        total = load(forces);
        if (!toggles.forces || !toggles.forces.checked) continue;
        gl.depthMask(true);
        const drawn = forces.length <= MOST_ARROWS ? forces
          : [...forces].sort((a, b) => length(b.slice(3)) - length(a.slice(3))).slice(0, MOST_ARROWS);
        for (const [depth, alpha] of [[gl.GREATER, 0.4], [gl.LEQUAL, 1]]) {
          gl.depthFunc(depth);
          gl.depthMask(depth === gl.LEQUAL);
          for (const [x, y, z, ...force] of drawn) {
            const size = Math.min(forceScale * length(force), 3 * drawing.size), along = unit(force);
            const [first, second] = tangents(along);
            const radius = Math.min(0.032 * drawing.size, 0.1 * size), tip = 6 * radius;
            const color = [colors.force[0], colors.force[1], colors.force[2], alpha];
            const part = (from, stretch, mesh) => {
              const pose = frameMatrix(first, second, along, add([x, y, z], along, from));
              set(solid, { ...lit, pose, stretch, color, pattern: 0 });
              emit(gl.TRIANGLES, mesh);
            };
            part(0, [radius, radius, size - tip], shaft);
            part(size - tip, [2.6 * radius, 2.6 * radius, tip], head);
          }
        }
        gl.depthFunc(gl.LEQUAL);
      }
      gl.depthMask(true);
      gl.bindVertexArray(null);
      const named = toggles.names && toggles.names.checked && tracks.length;
      labels.hidden = !named;
      if (named)
        tracks[0].matrices.forEach((m, b) => {
          const p = [m[12], m[13], m[14], 1], [x, y, w] = [0, 1, 3].map(i => p.reduce((sum, c, j) => sum + look[4 * j + i] * c, 0));
          const label = labels.children[b];
          label.hidden = w <= 0;
          label.style.transform = `translate(${(0.5 + 0.5 * x / w) * canvas.clientWidth}px, ${(0.5 - 0.5 * y / w) * canvas.clientHeight}px)`;
        });
      tell(total);
    }

    function tell(total) {
      const digits = duration() < 0.1 ? 5 : 3;
      clock.textContent = live ? `${time.toFixed(3)} s${live.pace()}`
        : `${time.toFixed(digits)} s · frame ${frameAt(counted(), time) + 1}/${counted().times.length}`;
      const parts = [];
      if (drawing.grounds.length) parts.push("grid " + quantity(spacing, "m"));
      if (total !== null) parts.push("contact forces " + (total > 0 ? quantity(total, "N") : "none"));
      for (const { role, times } of clip.tracks) {
        const end = times.length ? times[times.length - 1] : 0;
        if (end < 0.999 * duration() && time > end) parts.push(`the ${NAMES[role]} ends at ${end.toFixed(digits)} s`);
      }
      readout.textContent = parts.join("  ·  ");
      play.setAttribute("aria-label", playing ? "pause" : "play");
      play.classList.toggle("on", playing);
      root.dispatchEvent(new Event("seen"));
    }

    function seek(t) {
      time = Math.min(Math.max(t, 0), duration());
      slider.value = time;
      last = null;
      draw();
    }

    function start() {
      if (playing) return;
      if (!live && time >= duration()) time = 0;
      playing = true;
      last = null;
      draw();
    }

    function pause() {
      playing = false;
      last = null;
      draw();
    }

    /** So many frames on. */
    function step(count) {
      pause();
      if (live) {
        if (count > 0) live.once(count);
        return;
      }
      const { times } = counted();
      const index = Math.min(Math.max(frameAt(counted(), time) + count, 0), times.length - 1);
      seek(times[index]);
    }

    // Input.
    play.addEventListener("click", () => { if (playing) pause(); else start(); });
    slider.addEventListener("input", () => { pause(); seek(Number(slider.value)); });
    choice.addEventListener("change", () => { pause(); show(Number(choice.value)); });
    reset.addEventListener("click", () => { frameView(); draw(); });
    toggles.follow.addEventListener("change", () => {
      const { yaw, pitch } = camera;
      frameView();
      Object.assign(camera, { yaw, pitch });
    });
    once.addEventListener("click", () => step(1));
    again.addEventListener("click", () => live.restart());
    picture.addEventListener("click", () => {
      render(performance.now());
      const link = element("a", { download: "stiction.png", href: canvas.toDataURL("image/png") });
      link.click();
    });
    let recording = false, stopped = false;
    animation.addEventListener("click", async () => {
      stopped = recording;
      if (recording) return;
      recording = true;
      animation.textContent = "0 %";
      const begin = time, scale = Math.min(1, WIDEST / canvas.width), shot = element("canvas", {});
      [shot.width, shot.height] = [canvas.width, canvas.height].map(x => Math.max(1, Math.round(scale * x)));
      const paper = shot.getContext("2d"), lasts = duration() / Number(speed.value);
      const count = Math.max(2, Math.min(MOST_PICTURES, Math.round(lasts * PICTURES_A_SECOND) + 1)), images = [];
      pause();
      try {
        for (let k = 0; k < count && !stopped; k++) {
          seek(duration() * k / (count - 1));
          render(performance.now());
          paper.fillStyle = getComputedStyle(document.body).backgroundColor;
          paper.fillRect(0, 0, shot.width, shot.height);
          paper.drawImage(canvas, 0, 0, shot.width, shot.height);
          images.push(Uint8Array.from(atob(shot.toDataURL("image/png").split(",")[1]), c => c.charCodeAt(0)));
          animation.textContent = `${Math.round(100 * (k + 1) / count)} %`;
          // The page is seen, and heard, in between.
          await new Promise(resolve => requestAnimationFrame(resolve));
        }
        if (!stopped) {
          const file = new Blob(apng(images, lasts / (count - 1)), { type: "image/png" }), href = URL.createObjectURL(file);
          element("a", { download: "stiction.png", href }).click();
          setTimeout(() => URL.revokeObjectURL(href), 60000);
        }
      } finally {
        recording = false;
        animation.textContent = "APNG";
        seek(begin);
      }
    });
    keys.addEventListener("keydown", event => {
      if (event.ctrlKey || event.altKey || event.metaKey || event.target instanceof HTMLSelectElement) return;
      if (event.target instanceof HTMLInputElement && event.target.type !== "checkbox" && event.target !== slider) return;
      const count = event.shiftKey ? 10 : 1;
      const native = ["checkbox", "button"].includes(event.target.type) || event.target.tagName === "SUMMARY";
      const act = {
        " ": native ? null : () => { if (playing) pause(); else start(); },
        ArrowLeft: () => step(-count), ArrowRight: () => step(count),
        Home: () => { if (live) live.restart(); else { pause(); seek(0); } },
        End: live ? null : () => { pause(); seek(duration()); },
        r: () => { frameView(); draw(); },
      }[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    });

    /** What is seen: what bodies look like, or the shapes that touch and what has none. */
    function presentNow() {
      if (!(toggles.shapes && toggles.shapes.checked)) return [...shapes.filter(shape => !shape.covered), ...looks];
      return [...shapes, ...looks.filter(look => !shapes.some(shape => shape.body === look.body))];
    }

    /** Where the ray through a place of the window goes. */
    function rayAt(event) {
      const box = canvas.getBoundingClientRect(), half = Math.tan(ANGLE / 2);
      const x = (2 * (event.clientX - box.left) / box.width - 1) * half * seen.aspect;
      const y = (1 - 2 * (event.clientY - box.top) / box.height) * half;
      return add(add(scaled(seen.away, -1), seen.right, x), seen.over, y);
    }

    /** The nearest body along a ray, the point of it in its frame, and in the world. */
    function hit(ray) {
      const poses = posesAt(clip.tracks[0], time);
      let found = null, nearest = Infinity;
      presentNow().forEach(({ body, mesh, surface, at = IDENTITY }) => {
        const { vertices, triangles } = surface || meshes[mesh];
        const posed = body === null ? IDENTITY : poseMatrix(poses.slice(7 * body, 7 * body + 7)), m = multiply(posed, at);
        const back = v => [0, 1, 2].map(j => m[4 * j] * v[0] + m[4 * j + 1] * v[1] + m[4 * j + 2] * v[2]);
        const from = back(add(seen.eye, [m[12], m[13], m[14]], -1)), along = back(ray);
        for (let t = 0; t < triangles.length; t += 3) {
          // Moeller and Trumbore 1997
          const [a, b, c] = [0, 1, 2].map(k => corner(vertices, triangles[t + k]));
          const ab = add(b, a, -1), ac = add(c, a, -1), p = cross(along, ac), det = dot(ab, p);
          if (Math.abs(det) < 1e-18) continue;
          const s = add(from, a, -1), u = dot(s, p) / det, q = cross(s, ab), v = dot(along, q) / det, far = dot(ac, q) / det;
          if (u < 0 || v < 0 || u + v > 1 || far <= 0 || far >= nearest) continue;
          nearest = far;
          const point = moved(at, add(from, along, far));
          found = body === null ? null : { body, point, at: add(seen.eye, ray, far) };
        }
      });
      // Of a body that is seen as its frame, the frame.
      const near = 0.25 * (drawing.size || 1);
      for (const body of drawing.bare || []) {
        const at = poses.slice(7 * body, 7 * body + 3), far = dot(add(at, seen.eye, -1), ray) / dot(ray, ray);
        if (far > 0 && far < nearest && length(add(add(seen.eye, ray, far), at, -1)) < near) {
          nearest = far;
          found = { body, point: [0, 0, 0], at };
        }
      }
      return found;
    }

    /** Pulls what is held towards the ray through a place of the window, in the plane in which it was taken. */
    function drag(event) {
      const ray = rayAt(event), far = dot(add(pulling.at, seen.eye, -1), seen.away) / dot(ray, seen.away);
      pulling.to = add(seen.eye, ray, far);
      live.pull({ body: pulling.body, point: pulling.point, to: pulling.to });
    }

    const touches = new Map();
    canvas.addEventListener("pointerdown", event => {
      canvas.setPointerCapture(event.pointerId);
      if (live && !touches.size && event.button === 0 && !event.shiftKey && seen) {
        pulling = hit(rayAt(event));
        if (pulling) pulling.pointer = event.pointerId;
      }
      touches.set(event.pointerId, [event.clientX, event.clientY]);
      canvas.focus({ preventScroll: true });
    });
    for (const name of ["pointerup", "pointercancel"])
      canvas.addEventListener(name, event => {
        touches.delete(event.pointerId);
        if (pulling && pulling.pointer === event.pointerId) live.pull(pulling = null);
      });
    canvas.addEventListener("contextmenu", event => event.preventDefault());
    canvas.addEventListener("dblclick", () => { frameView(); draw(); });

    function zoom(factor) {
      const size = drawing.size || framed.radius;
      camera.distance = Math.min(Math.max(camera.distance * factor, 0.3 * size), 40 * Math.max(framed.radius, size));
    }

    function pan(dx, dy) {
      const { yaw, pitch, distance } = camera;
      const perPixel = 2 * distance * Math.tan(ANGLE / 2) / (canvas.clientHeight || 1);
      const right = [-Math.sin(yaw), Math.cos(yaw), 0];
      const over = [-Math.sin(pitch) * Math.cos(yaw), -Math.sin(pitch) * Math.sin(yaw), Math.cos(pitch)];
      camera.target = add(add(camera.target, right, -dx * perPixel), over, dy * perPixel);
    }

    canvas.addEventListener("pointermove", event => {
      const before = touches.get(event.pointerId);
      if (!before) return;
      const here = [event.clientX, event.clientY];
      const [dx, dy] = [here[0] - before[0], here[1] - before[1]];
      if (pulling) {
        if (pulling.pointer === event.pointerId) {
          drag(event);
          start();
        }
      } else if (touches.size === 2) {
        const [other] = [...touches].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
        const spread = at => Math.max(1, Math.hypot(at[0] - other[0], at[1] - other[1]));
        zoom(spread(before) / spread(here));
        pan(dx / 2, dy / 2);
      } else if (event.buttons & 2 || event.buttons & 4 || event.shiftKey) {
        pan(dx, dy);
      } else {
        camera.yaw -= 0.008 * dx;
        camera.pitch = Math.min(Math.max(camera.pitch + 0.008 * dy, -1.5), 1.55);
      }
      touches.set(event.pointerId, here);
      draw();
    });
    canvas.addEventListener("wheel", event => {
      event.preventDefault();
      zoom(Math.exp(0.0015 * event.deltaY * (event.deltaMode ? 20 : 1)));
      draw();
    }, { passive: false });
    canvas.addEventListener("webglcontextlost", () => { readout.textContent = "The graphics context was lost: reload the page."; });

    // At once, so that nothing is painted stretched.
    new ResizeObserver(() => render(performance.now())).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { colors = null; draw(); });

    const hints = live ? "Drag a body to pull it; drag beside bodies to turn the view, with the right button or Shift to move, wheel " +
      "to zoom; space runs and pauses, the right arrow makes a step (Shift: ten), Home starts over, R resets the view." : "Drag to turn, with the right button or Shift to move, wheel to zoom; space plays, " +
      "arrow keys step (Shift: ten frames), R resets the view.";
    caption.textContent = hints +
      (toggles.forces ? " Arrows: mean contact force since the frame before, on " +
        (soft.length ? "each vertex." : "the second body of each pair.") : "");
    if (clips.length) show(0);

    root.player = {
      get duration() { return duration(); },
      get time() { return time; },
      get frame() { return frameAt(counted(), time); },
      get playing() { return playing; },
      get clip() { return clips.indexOf(clip); },
      seek, pause, play: start, show, redraw: given => { redraw(given); draw(); },
      put(frame) {
        Object.assign(clip.tracks[0], { times: [frame.time], poses: [frame.poses], forces: [frame.forces] });
        time = frame.time;
        pull = frame.pull ? { at: frame.pull.slice(0, 3), to: pulling ? pulling.to : frame.pull.slice(0, 3) } : null;
        draw();
      },
      position: (track, b) => places(clip.tracks[track], time)[b],
    };
    return root.player;
  };
})();
