"use strict";
// Draws the page from the JSON in #data; what is chosen stands in the location's hash, so that it can be linked to:
// #line=FILE:LINE, #path=MODULE or #find=TEXT, with &tensor=INDEX.

const data = JSON.parse(document.getElementById("data").textContent);
const tensors = data.tensors;
const chosen = { line: null, path: null, find: "", tensor: null };
const view = { rows: 0, columns: 0, index: [] };  // which axes the picture shows, and where it is along the others

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

function by(id) {
  return document.getElementById(id);
}

function number(value) {
  if (value === null) return "nan";
  return typeof value === "string" ? value : String(Number(value.toPrecision(6)));
}

function time(seconds) {
  if (seconds === null) return "";
  if (seconds < 1e-3) return (seconds * 1e6).toPrecision(3) + " us";
  return seconds < 1 ? (seconds * 1e3).toPrecision(3) + " ms" : seconds.toPrecision(3) + " s";
}

const parts = (name) => name.split(/[./]/);

// ---- what is shown

function onLine(tensor, file, line) {
  return [tensor.place, ...tensor.calls].some((place) => place && place[0] === file && place[1] === line);
}

function shownTensors() {
  const text = chosen.find.toLowerCase();
  const [file, line] = chosen.line ? chosen.line.split(":").map(Number) : [];
  return tensors.filter((t) => {
    if (chosen.line && !onLine(t, file, line)) return false;
    if (chosen.path && !parts(chosen.path).every((part, i) => part === parts(t.name)[i])) return false;
    return !text || [t.name, t.operation, ...t.variables].some((word) => word && word.toLowerCase().includes(text));
  });
}

function choose(changes) {
  Object.assign(chosen, changes);
  const words = [];
  for (const name of ["line", "path", "find", "tensor"])
    if (chosen[name] !== null && chosen[name] !== "") words.push(name + "=" + encodeURIComponent(chosen[name]));
  history.replaceState(null, "", "#" + words.join("&"));
  draw();
}

function readHash() {
  Object.assign(chosen, { line: null, path: null, find: "", tensor: null });
  for (const word of location.hash.slice(1).split("&")) {
    const [name, value] = word.split("=");
    if (!(name in chosen) || value === undefined) continue;
    chosen[name] = name === "tensor" ? Number(value) : decodeURIComponent(value);
  }
  by("search").value = chosen.find;
}

// ---- module tree

function moduleTree() {
  const root = { children: new Map(), path: "" };
  for (const t of tensors) {
    let node = root;
    for (const part of parts(t.name).slice(0, -1)) {
      const path = node.path ? node.path + "." + part : part;
      if (!node.children.has(part)) node.children.set(part, { children: new Map(), path });
      node = node.children.get(part);
    }
  }
  return root;
}

function drawTree(node, name) {
  const onclick = () => choose({ path: node.path || null, line: null, tensor: null });
  const button = element("button", { type: "button", onclick }, name);
  if (node.children.size === 0) return element("div", { class: "leaf" }, button);
  const inner = [...node.children].map(([part, child]) => drawTree(child, part));
  const open = parts(node.path).length < 3 && !name.startsWith("loop[");
  return element("details", { open }, element("summary", {}, button), ...inner);
}

// ---- source

function drawSource() {
  const blocks = data.files.map((file, f) => {
    const seconds = new Map();
    for (const t of tensors)
      for (const line of new Set([t.place, ...t.calls].filter((p) => p && p[0] === f).map((p) => p[1])))
        seconds.set(line, (seconds.get(line) || 0) + (t.first ? t.time || 0 : 0));
    const most = Math.max(...seconds.values(), 1e-12);
    const cells = file.lines.flatMap((text, i) => {
      const line = i + 1, has = seconds.has(line), key = f + ":" + line;
      const onclick = () => choose({ line: key, path: null, tensor: null });
      const attributes = has ? { class: "has", "data-line": key, onclick } : {};
      const share = has ? Math.round((100 * seconds.get(line)) / most) : 0;
      const bar = `background: linear-gradient(to left, var(--bar) ${share}%, transparent ${share}%)`;
      return [
        element("span", { class: "number" }, String(line)),
        element("span", { class: "time", style: has ? bar : null }, has ? time(seconds.get(line)) : ""),
        element("span", attributes, text || " "),
      ];
    });
    return [element("h2", {}, file.name), element("div", { class: "code" }, ...cells)];
  });
  by("source").replaceChildren(...blocks.flat());
}

function markLine() {
  for (const marked of document.querySelectorAll("#source .here")) marked.classList.remove("here");
  const tensor = chosen.tensor === null ? null : tensors[chosen.tensor];
  const key = chosen.line || (tensor && tensor.place ? tensor.place[0] + ":" + tensor.place[1] : null);
  const line = key && document.querySelector(`#source [data-line="${key}"]`);
  if (!line) return;
  line.classList.add("here");
  line.previousElementSibling.previousElementSibling.scrollIntoView({ block: "nearest", inline: "nearest" });
}

// ---- list

function drawList() {
  const shown = shownTensors();
  by("shown").textContent = shown.length + " of " + tensors.length + " tensors";
  const rows = shown.map((t) => {
    const bad = t.stats.nans + t.stats.infs > 0;
    const mean = bad ? t.stats.nans + " nan, " + t.stats.infs + " inf" : number(t.stats.mean);
    return element(
      "tr",
      { "data-tensor": t.id, class: t.id === chosen.tensor ? "chosen" : null, onclick: () => choose({ tensor: t.id }) },
      element("td", {}, t.name + t.variables.map((v) => " = " + v).join("")),
      element("td", { class: bad ? "bad" : null }, mean),
      element("td", {}, time(t.time)),
      element("td", {}, t.type),
    );
  });
  const head = element("tr", {}, ...["name", "mean", "time", "type"].map((title) => element("th", {}, title)));
  by("list").replaceChildren(element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
}

// ---- one tensor, with what page.cpp says about its values

const kPadding = 65535, kNan = 65534, kInf = 65533, kMinusInf = 65532, kLargest = 65000;
// Of viridis.
const kColours = [
  [68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99],
  [170, 220, 50], [253, 231, 37],
];

function colour(code) {
  if (code === kPadding) return [128, 128, 128, 70];
  if (code === kNan) return [220, 30, 30, 255];
  if (code === kInf || code === kMinusInf) return [220, 30, 220, 255];
  const at = (code / kLargest) * (kColours.length - 1), i = Math.min(Math.floor(at), kColours.length - 2);
  return [...kColours[i].map((c, k) => Math.round(c + (kColours[i + 1][k] - c) * (at - i))), 255];
}

function valueText(values, code) {
  if (code === kPadding) return "padding";
  if (code === kNan) return "nan";
  if (code === kInf) return "inf";
  if (code === kMinusInf) return "-inf";
  return number(values.low + ((values.high - values.low) * code) / kLargest);
}

function codesOf(values) {
  if (!values.codes) {
    const bytes = Uint8Array.from(atob(values.data), (c) => c.charCodeAt(0));
    values.codes = Uint16Array.from({ length: bytes.length / 2 }, (_, i) => bytes[2 * i] + 256 * bytes[2 * i + 1]);
  }
  return values.codes;
}

function codeAt(values, index) {
  return codesOf(values)[index.reduce((flat, i, axis) => flat * values.shape[axis] + i, 0)];
}

// Where row and column lie in the tensor; a tensor with one axis is one row.
function indexAt(values, row, column) {
  const index = view.index.slice();
  if (values.shape.length > 1) index[view.rows] = row;
  index[view.columns] = column;
  return index;
}

function drawPicture(tensor) {
  const values = tensor.values, canvas = by("picture");
  const rows = values.shape.length > 1 ? values.shape[view.rows] : 1, columns = values.shape[view.columns];
  canvas.width = Math.max(columns, 1);
  canvas.height = Math.max(rows, 1);
  const size = Math.max(1, Math.min(24, Math.floor(480 / Math.max(columns, 1))));
  canvas.style.width = columns * size + "px";
  canvas.style.height = rows * size + "px";
  const context = canvas.getContext("2d"), image = context.createImageData(canvas.width, canvas.height);
  for (let r = 0; r < rows; r++)
    for (let c = 0; c < columns; c++)
      image.data.set(colour(codeAt(values, indexAt(values, r, c))), 4 * (r * columns + c));
  context.putImageData(image, 0, 0);
}

function drawControls(tensor) {
  const { shape } = tensor.values, names = tensor.dims.map((d) => d.name);
  if (shape.length < 3) return "";
  const select = (label, key, other) =>
    element("label", {}, label + " ", element("select", { id: key, onchange: (e) => {
      const axis = Number(e.target.value);
      if (view[other] === axis) view[other] = view[key];
      view[key] = axis;
      drawDetail(tensor);
    } }, ...names.map((name, i) => element("option", { value: i, selected: i === view[key] }, name))));
  const others = shape.map((size, axis) => axis).filter((axis) => axis !== view.rows && axis !== view.columns);
  return element("div", { class: "controls" }, select("rows", "rows", "columns"), select("columns", "columns", "rows"),
    ...others.map((axis) => {
      const oninput = (e) => {
        view.index[axis] = Math.min(Math.max(0, Number(e.target.value) || 0), shape[axis] - 1);
        drawPicture(tensor);
      };
      const range = { type: "number", min: 0, max: shape[axis] - 1, value: view.index[axis], "data-axis": axis };
      return element("label", {}, names[axis] + " ", element("input", { ...range, oninput }));
    }));
}

function pointed(tensor, event) {
  const box = event.target.getBoundingClientRect(), { shape } = tensor.values;
  const column = Math.floor(((event.clientX - box.left) / box.width) * event.target.width);
  const row = Math.floor(((event.clientY - box.top) / box.height) * event.target.height);
  const index = indexAt(tensor.values, row, column);
  if (index.some((i, axis) => i < 0 || i >= shape[axis])) return "";
  const where = index.map((i, axis) => tensor.dims[axis].name + "=" + i).join(", ");
  return where + ": " + valueText(tensor.values, codeAt(tensor.values, index));
}

function drawDetail(tensor) {
  const facts = [
    ["type", tensor.type], ["made by", tensor.operation], ["called", tensor.variables.join(", ")],
    ["place", tensor.place ? data.files[tensor.place[0]].name + ":" + tensor.place[1] + ":" + tensor.place[2] : ""],
    ["time", time(tensor.time)], ["valid entries", String(tensor.stats.count)],
    ["min", number(tensor.stats.min)], ["mean", number(tensor.stats.mean)], ["max", number(tensor.stats.max)],
    ["nan", String(tensor.stats.nans)], ["infinite", String(tensor.stats.infs)],
  ].filter(([, text]) => text);
  const rows = facts.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]);
  const children = [element("h2", {}, tensor.name), element("dl", {}, ...rows)];
  if (tensor.values && tensor.values.shape.length > 0) {
    const note = tensor.values.cut ? "a part of it: [" + tensor.values.shape.join(", ") + "]" : "";
    const onmousemove = (e) => (by("pointed").textContent = pointed(tensor, e));
    const range = `${number(tensor.values.low)} (dark) to ${number(tensor.values.high)} (bright)`;
    children.push(
      drawControls(tensor),
      element("canvas", { id: "picture", onmousemove }),
      element("p", { id: "pointed", class: "mono" }, " "),
      element("p", { class: "soft" }, `${range}; grey: padding, red: nan, magenta: infinite. ${note}`),
    );
  } else if (!tensor.values) {
    children.push(element("p", { class: "soft" }, "Its values are not in this page: there was no room left."));
  }
  by("detail").replaceChildren(...children);
  if (by("picture")) drawPicture(tensor);
}

function chooseView(tensor) {
  const rank = tensor.values ? tensor.values.shape.length : 0;
  view.index = Array(rank).fill(0);
  view.rows = Math.max(rank - 2, 0);
  view.columns = Math.max(rank - 1, 0);
}

let drawn = null;

function draw() {
  drawList();
  markLine();
  if (chosen.tensor === null || !tensors[chosen.tensor]) {
    const hint = "Click a tensor for its values, a line of the source for what it makes, a module for what is in it.";
    by("detail").replaceChildren(element("p", { class: "soft" }, hint));
  } else if (drawn !== chosen.tensor) {
    chooseView(tensors[chosen.tensor]);
    drawDetail(tensors[chosen.tensor]);
  }
  drawn = chosen.tensor;
}

by("errors").textContent = data.errors;
by("errors").hidden = data.errors === "";
by("tree").replaceChildren(drawTree(moduleTree(), "network"));
by("search").addEventListener("input", (e) => choose({ find: e.target.value, line: null, path: null, tensor: null }));
by("all").addEventListener("click", () => {
  by("search").value = "";
  choose({ line: null, path: null, find: "", tensor: null });
});
window.addEventListener("hashchange", () => {
  readHash();
  draw();
});
drawSource();
readHash();
draw();
