
// How the interactive view draws: a curve with its band, or a map.

// The ends of an axis for all values, a little apart.
function span(low, high) {
  if (!(high > low)) return [low - (Math.abs(low) / 20 || 1), low + (Math.abs(low) / 20 || 1)];
  return [low - 0.05 * (high - low), high + 0.05 * (high - low)];
}

// The ends over all times, so that a slider moves the curve and not its axis.
function heights(view) {
  let low = Infinity, high = -Infinity;
  const { mean, band, error } = view.values();
  for (let i = 0; i < view.count; i++) {
    if (!Number.isFinite(mean[i] + band[i])) continue;
    const reach = view.around ? 1.4 * band[i] : band[i], middle = view.around ? 0 : mean[i], exact = middle + (error?.[i] ?? 0);
    low = Math.min(low, middle - reach, exact);
    high = Math.max(high, middle + reach, exact);
  }
  if (!view.around) for (const [, value] of view.data.sensors[view.field]) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return low <= high ? span(low, high) : [0, 1];
}

// A line through what is finite.
function line(points) {
  let pen = "M";
  return points.map(([x, y]) => {
    const part = Number.isFinite(y) ? `${pen}${x.toFixed(1)} ${y.toFixed(1)}` : "";
    pen = part ? "L" : "M";
    return part;
  }).join("");
}

function showCurve(view, width) {
  const height = Math.round(Math.min(Math.max(width * 0.5, 260), 420));
  const box = { left: 62, right: width - 14, top: width < 480 ? 46 : 26, bottom: height - 44 };
  const axis = view.data.across[0], { low, high, number, name } = view.axes[axis];
  const [x, y] = (view.scales = [view.scale(low, high, box.left, box.right), view.scale(...heights(view), box.bottom, box.top)]);
  const field = view.data.fields[view.field], { mean, band, error } = view.values();
  const clip = view.put("clipPath", { id: `${view.name}clip` });
  view.put("rect", { x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top }, clip);
  const inside = view.put("g", { "clip-path": `url(#${view.name}clip)` });

  const indices = Array.from({ length: number }, (_, k) => k), at = indices.map((k) => view.point({ [axis]: k }));
  const middle = (i) => (view.around ? 0 : mean[i]);
  const curve = (value) => indices.map((k) => [x(view.coordinate(axis, k)), at[k] < 0 ? NaN : y(value(at[k]))]);
  const [upper, lower] = [1, -1].map((sign) => curve((i) => middle(i) + sign * band[i]));
  for (let k = 0, begin = 0; k <= number; k++) {
    if (k < number && Number.isFinite(upper[k][1])) continue;
    if (k > begin) view.put("path", { class: "band", d: `${line([...upper.slice(begin, k), ...lower.slice(begin, k).reverse()])}Z` }, inside);
    begin = k + 1;
  }
  if (error !== null) view.put("path", { class: "exact", d: line(curve((i) => middle(i) + error[i])) }, inside);
  view.put("path", { class: "mean", d: line(curve(middle)) }, inside);
  if (view.draw) view.put("path", { class: "single", d: line(curve((i) => middle(i) + view.away(i))) }, inside);
  if (!view.around) {
    for (const [place, value] of view.data.sensors[view.field]) {
      view.put("circle", { class: "sensor", cx: x(place), cy: y(value), r: 2.5 }, inside);
    }
  }
  view.frame(width, height, box, [name, view.around ? `${field} − mean` : field]);
  legend(view, box, error !== null);
}

// What is drawn how, at the right above the curves.
function legend(view, box, exact) {
  const entries = [["mean", "mean"], ["band", "± 2σ"], ["exact", "exact"], ["single", `draw ${view.draw}`]];
  const shown = entries.filter(([kind]) => (kind !== "exact" || exact) && (kind !== "single" || view.draw));
  shown.reverse().forEach(([kind, text], i) => {
    const left = box.right - 68 * (i + 1), mark = kind === "band" ? "v-8h18v8Z" : "m0 -4h18";
    view.put("path", { class: kind, d: `M${left} ${box.top - 8}${mark}` });
    view.put("text", { x: left + 23, y: box.top - 8 }, undefined, text);
  });
}

// The values of a map, its colours, and what they are.
function mapped(view) {
  const { mean, band, error } = view.values(), colours = view.data.colours[view.field], name = view.data.fields[view.field];
  if (view.quantity === "band") return [(i) => band[i], colours.band, `± 2σ of ${name}`];
  if (view.quantity === "error") return [(i) => Math.abs(error[i]), colours.error, `absolute error of ${name}`];
  if (view.draw) return [(i) => mean[i] + view.away(i), colours.mean, `draw ${view.draw} of ${name}`];
  return [(i) => mean[i], colours.mean, `mean of ${name}`];
}

// A pixel for every point of the grid, as an address; outside the domain those next to it, if it is cut along its outline.
function pixels(view, value, { stops, low, high }) {
  const [across, up] = view.data.across, [n, m] = [view.axes[across].number, view.axes[up].number];
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [n, m];
  const context = canvas.getContext("2d"), image = context.createImageData(n, m);
  const set = (k, j, colour) => image.data.set([...colour, 255], 4 * ((m - 1 - j) * n + k));
  const get = (k, j) => (k < 0 || j < 0 || k >= n || j >= m ? [0, 0, 0, 0] : image.data.slice(4 * ((m - 1 - j) * n + k)).slice(0, 4));
  const empty = [];
  for (let j = 0; j < m; j++) {
    for (let k = 0; k < n; k++) {
      const i = view.point({ [across]: k, [up]: j });
      if (i >= 0 && Number.isFinite(value(i))) set(k, j, colourAt(stops, (value(i) - low) / (high - low)));
      else if (view.data.outlines.length) empty.push([k, j]);
    }
  }
  for (let pass = 0; pass < 2; pass++) {
    const near = [-1, 0, 1].flatMap((k) => [-1, 0, 1].map((j) => [k, j]));
    const found = empty.map(([k, j]) => [k, j, near.map(([a, b]) => get(k + a, j + b)).filter((colour) => colour[3])]);
    for (const [k, j, some] of found) {
      if (some.length && !get(k, j)[3]) set(k, j, [0, 1, 2].map((c) => some.reduce((sum, one) => sum + one[c], 0) / some.length));
    }
  }
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

function showMap(view, width) {
  const room = Math.min(width - 62 - 92, 620), tall = Math.min(room * view.data.proportion, 460);
  const wide = tall / view.data.proportion;
  const box = { left: 62, right: 62 + wide, top: 26, bottom: 26 + tall };
  const [a, b] = view.data.across.map((axis) => view.axes[axis]);
  const [x, y] = (view.scales = [view.scale(a.low, a.high, box.left, box.right), view.scale(b.low, b.high, box.bottom, box.top)]);
  const [value, colours, title] = mapped(view);

  const clip = view.put("clipPath", { id: `${view.name}clip` });
  const frame = `M${box.left} ${box.top}V${box.bottom}H${box.right}V${box.top}Z`;
  const rings = view.data.outlines.map((ring) => `${line(ring.map(([p, q]) => [x(p), y(q)]))}Z`).join("");
  view.put("path", { d: rings || frame, "clip-rule": "evenodd" }, clip);
  const [halfA, halfB] = [a.step / 2, b.step / 2];
  const image = view.put("image", {
    x: x(a.low - halfA),
    y: y(b.high + halfB),
    width: x(a.high + halfA) - x(a.low - halfA),
    height: y(b.low - halfB) - y(b.high + halfB),
    preserveAspectRatio: "none",
    "clip-path": `url(#${view.name}clip)`,
  });
  image.setAttribute("href", pixels(view, value, colours));
  if (rings) view.put("path", { class: "outline", d: rings });
  for (const [p, q] of view.data.sensors[view.field]) view.put("circle", { class: "sensor", cx: x(p), cy: y(q), r: 2.5 });
  view.frame(width, box.bottom + 46, box, [a.name, b.name]);
  view.put("text", { class: "title", x: box.left + 20, y: box.top - 8 }, undefined, title);

  const gradient = view.put("linearGradient", { id: `${view.name}bar`, x1: 0, y1: 1, x2: 0, y2: 0 });
  colours.stops.forEach((stop, k) => view.put("stop", { offset: k / (colours.stops.length - 1), "stop-color": stop }, gradient));
  view.put("rect", { x: box.right + 16, y: box.top, width: 14, height: tall, fill: `url(#${view.name}bar)` });
  const bar = view.scale(colours.low, colours.high, box.bottom, box.top);
  const axes = view.put("g", { class: "axes" });
  for (const [at, text] of ticks(colours.low, colours.high, Math.max(2, tall / 60))) {
    view.put("text", { x: box.right + 36, y: bar(at) + 4 }, axes, text);
  }
}
