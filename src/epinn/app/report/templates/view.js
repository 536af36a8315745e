
// The interactive view: curves over one coordinate or a map of two, sliders for the others and for single draws. What it says
// of a place is that of the nearest point of the grid. Text comes in as text only, so that no name can become markup.
function numbers(text, Kind) {
  return new Kind(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
}

const exponent = (value) => Math.floor(Math.log10(Math.abs(value)));

// A number to the decimal of `unit`, a power of ten; as 1.2e-9 where that would be more decimals than `most`.
function written(value, unit, most = 8) {
  const decimals = Math.max(0, -exponent(unit));
  if (value === 0 || !Number.isFinite(value)) return value === 0 ? "0" : "not a number";
  if (decimals <= most && Math.abs(value) < 1e6) return value.toFixed(decimals);
  return value.toExponential(Math.min(12, Math.max(0, exponent(value) - exponent(unit))));
}

// Round numbers between two ends, about so many.
function ticks(low, high, about) {
  const raw = (high - low) / about, power = 10 ** exponent(raw);
  const off = (factor) => Math.abs(Math.log((factor * power) / raw));
  const step = power * [1, 2, 5, 10].reduce((best, factor) => (off(factor) < off(best) ? factor : best));
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  return Array.from({ length: count }, (_, i) => [(first + i) * step, written((first + i) * step, 10 ** exponent(step * 1.001), 4)]);
}

// The colour at a share of the way from the first stop to the last.
function colourAt(stops, share) {
  const place = Math.min(Math.max(share, 0), 1) * (stops.length - 1), below = Math.min(Math.floor(place), stops.length - 2);
  const [from, to] = [stops[below], stops[below + 1]].map((hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)));
  return from.map((value, i) => Math.round(value + (to[i] - value) * (place - below)));
}

class View {
  constructor(figure, number) {
    this.data = JSON.parse(figure.querySelector("script").textContent);
    this.name = `view${number}`;
    this.controls = figure.querySelector(".controls");
    this.stage = figure.querySelector(".stage");
    this.readout = figure.querySelector(".readout");
    this.svg = this.stage.querySelector("svg");
    this.axes = this.data.coordinates.map((axis) => ({ ...axis, step: (axis.high - axis.low) / (axis.number - 1) }));
    this.isMap = this.data.across.length === 2;
    this.at = this.axes.map((axis) => Math.floor((axis.number - 1) / 2));
    this.places();
    this.enter();
    Object.assign(this, { field: 0, method: 0, quantity: "mean", draw: 0, around: false });
    this.addControls();
    this.listen();
    figure.hidden = false;
    new ResizeObserver(() => this.show()).observe(this.stage);
    this.show();
  }

  // Where the points of the grid are among those that have values: -1 outside the domain.
  places() {
    const total = this.axes.reduce((product, axis) => product * axis.number, 1);
    const bits = this.data.inside === null ? null : numbers(this.data.inside, Uint8Array);
    let count = 0;
    this.place = Int32Array.from({ length: total }, (_, i) => (bits === null || (bits[i >> 3] >> (i & 7)) & 1 ? count++ : -1));
    this.count = count;
  }

  // Begin in the domain, next to its middle.
  enter() {
    const middle = [...this.at];
    let best = Infinity;
    this.place.forEach((i, index) => {
      if (i < 0) return;
      const at = this.axes.map(() => 0);
      for (let axis = at.length - 1, rest = index; axis >= 0; axis--) {
        at[axis] = rest % this.axes[axis].number;
        rest = Math.floor(rest / this.axes[axis].number);
      }
      const away = at.reduce((sum, k, axis) => sum + ((k - middle[axis]) / this.axes[axis].number) ** 2, 0);
      if (away < best) [best, this.at] = [away, at];
    });
  }

  // The values of a field by a method, unpacked when they are first asked for.
  values(method = this.method) {
    const packed = this.data.values[method][this.field];
    packed.unpacked ??= {
      mean: Float64Array.from(numbers(packed.mean, Float32Array), (value) => value + packed.offset),
      band: numbers(packed.band, Float32Array),
      error: packed.error === undefined ? null : numbers(packed.error, Float32Array),
      draws: packed.draws === undefined ? null : numbers(packed.draws, Int16Array),
    };
    return packed.unpacked;
  }

  // What a single draw differs from the mean by.
  away(i) {
    return this.values().draws[(this.draw - 1) * this.count + i] * this.data.values[this.method][this.field].unit;
  }

  // The place among the values of the point where the sliders are, but for the coordinates that are given.
  point(given = {}) {
    return this.place[this.axes.reduce((index, axis, i) => index * axis.number + (given[i] ?? this.at[i]), 0)];
  }

  coordinate(axis, index = this.at[axis]) {
    return this.axes[axis].low + index * this.axes[axis].step;
  }

  said(axis, index) {
    const step = this.axes[axis].step * 1.001, unit = 10 ** exponent(step), rest = step / unit - Math.floor(step / unit);
    return written(this.coordinate(axis, index), rest < 0.02 ? unit : unit / 10);
  }

  // Controls.

  addControls() {
    const { fields, methods, values } = this.data;
    if (fields.length > 1) this.choice("field", fields, (i) => (this.field = i));
    if (methods.length > 1) this.choice("method", methods, (i) => (this.method = i));
    if (this.isMap) {
      const shown = { mean: "mean", band: "± 2σ", ...(values[0][0].error === undefined ? {} : { error: "absolute error" }) };
      this.shown = this.choice("shown", Object.values(shown), (i) => (this.quantity = Object.keys(shown)[i]));
    } else {
      const box = this.add("input", { type: "checkbox" });
      this.label(null, box, this.add("span", {}, "magnified, around the mean"));
      box.addEventListener("change", () => this.show((this.around = box.checked)));
    }
    this.axes.forEach((axis, i) => {
      if (this.data.across.includes(i)) return;
      this.slider(axis.name, 0, axis.number - 1, this.at[i], (index) => this.said(i, index), (index) => (this.at[i] = index));
    });
    const number = Math.min(...values.flat().map((one) => one.number ?? 0));
    const words = (draw) => (draw ? `${draw} of ${number}` : "none");
    if (number) this.slider("single draw", 0, number, 0, words, (draw) => this.chooseDraw(draw));
  }

  // A map shows one thing at a time: a draw in the place of the mean.
  chooseDraw(draw) {
    this.draw = draw;
    if (!this.isMap || !draw) return;
    this.quantity = "mean";
    this.shown.selectedIndex = 0;
  }

  add(tag, attributes, text = "") {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.textContent = text;
    return made;
  }

  label(text, ...parts) {
    const made = this.add("label", {});
    if (text !== null) made.append(this.add("span", {}, text));
    made.append(...parts);
    this.controls.append(made);
  }

  choice(text, options, chosen) {
    const select = this.add("select", {});
    select.append(...options.map((option) => this.add("option", {}, option)));
    select.addEventListener("change", () => this.show(chosen(select.selectedIndex)));
    this.label(text, select);
    return select;
  }

  slider(text, min, max, value, words, moved) {
    const range = this.add("input", { type: "range", min, max, value, step: 1, "aria-valuetext": words(value) });
    const told = this.add("span", { class: "told" }, words(value));
    range.addEventListener("input", () => {
      moved(Number(range.value));
      told.textContent = words(Number(range.value));
      range.setAttribute("aria-valuetext", told.textContent);
      this.show();
    });
    this.label(text, range, told);
  }

  // The cursor, by pointer or keyboard.

  listen() {
    const follow = (event) => {
      const box = this.svg.getBoundingClientRect(), place = [event.clientX - box.left, event.clientY - box.top];
      this.data.across.forEach((axis, i) => {
        const { low, high } = this.axes[axis], value = this.scales[i].back(place[i]);
        this.at[axis] = Math.min(Math.max(Math.round((value - low) / this.axes[axis].step), 0), this.axes[axis].number - 1);
      });
      this.showCursor();
    };
    for (const kind of ["pointermove", "pointerdown"]) this.stage.addEventListener(kind, follow);
    const keys = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowDown: [1, -1], ArrowUp: [1, 1] };
    Object.assign(keys, { Home: [0, -Infinity], End: [0, Infinity] });
    this.stage.addEventListener("keydown", (event) => {
      const [which, by] = keys[event.key] ?? [], axis = this.data.across[which];
      if (axis === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      this.at[axis] = Math.min(Math.max(this.at[axis] + by * (event.shiftKey ? 10 : 1), 0), this.axes[axis].number - 1);
      this.showCursor();
    });
  }

  showCursor() {
    const { mean, band, error } = this.values(), i = this.point(), name = this.data.fields[this.field];
    const where = this.axes.map((axis, at) => `${axis.name} = ${this.said(at)}`).join(", ");
    this.svg.querySelector(".cursor")?.remove();
    if (i < 0) {
      this.readout.textContent = `${where}: outside`;
      return;
    }
    const unit = 10 ** (exponent(band[i] > 0 ? band[i] : mean[i] / 100 || 1) - 1);
    const exact = error === null ? "" : `, exact ${written(mean[i] + error[i], unit)}`;
    const draw = this.draw ? `, draw ${this.draw}: ${written(mean[i] + this.away(i), unit)}` : "";
    this.readout.textContent = `${where}: ${name} = ${written(mean[i], unit)} ± ${written(band[i], unit)} (2σ)${exact}${draw}`;
    const height = this.isMap ? this.coordinate(this.data.across[1]) : this.around ? 0 : mean[i];
    const [x, y] = [this.scales[0](this.coordinate(this.data.across[0])), this.scales[1](height)];
    const made = this.put("g", { class: "cursor" });
    if (!this.isMap) {
      const half = Math.abs(this.scales[1](band[i]) - this.scales[1](0));
      this.put("path", { d: `M${x} ${y - half}V${y + half}` }, made);
    }
    this.put("circle", { cx: x, cy: y, r: 5 }, made);
  }

  // The picture.

  put(tag, attributes, parent = this.svg, text = "") {
    const made = document.createElementNS(this.svg.namespaceURI, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.textContent = text;
    parent.append(made);
    return made;
  }

  show() {
    const width = this.stage.clientWidth;
    if (!width) return;
    this.svg.replaceChildren();
    const name = this.data.fields[this.field], across = this.data.across.map((axis) => this.axes[axis].name);
    this.stage.ariaLabel = `${name} over ${across.join(" and ")}: arrow keys move the cursor`;
    (this.isMap ? showMap : showCurve)(this, width);
    this.showCursor();
  }

  // A linear scale from values to pixels, and back.
  scale(low, high, from, to) {
    const forth = (value) => from + ((value - low) / (high - low)) * (to - from);
    return Object.assign(forth, { low, high, back: (pixel) => low + ((pixel - from) / (to - from)) * (high - low) });
  }

  frame(width, height, box, names) {
    Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` }).forEach(([k, v]) => this.svg.setAttribute(k, v));
    const [x, y] = this.scales;
    const axes = this.put("g", { class: "axes" });
    for (const [value, text] of ticks(x.low, x.high, Math.max(2, (box.right - box.left) / 90))) {
      this.put("path", { d: `M${x(value)} ${box.bottom}v5` }, axes);
      this.put("text", { x: x(value), y: box.bottom + 18, "text-anchor": "middle" }, axes, text);
    }
    for (const [value, text] of ticks(y.low, y.high, Math.max(3, (box.bottom - box.top) / 60))) {
      this.put("path", { d: `M${box.left} ${y(value)}h-5` }, axes);
      this.put("text", { x: box.left - 8, y: y(value) + 4, "text-anchor": "end" }, axes, text);
    }
    this.put("path", { d: `M${box.left} ${box.top}V${box.bottom}H${box.right}` }, axes);
    this.put("text", { x: (box.left + box.right) / 2, y: box.bottom + 36, "text-anchor": "middle" }, axes, names[0]);
    this.put("text", { x: box.left - 50, y: 18 }, axes, names[1]);
  }
}

for (const [number, figure] of document.querySelectorAll(".view").entries()) new View(figure, number);
