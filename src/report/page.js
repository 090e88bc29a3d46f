(() => {
'use strict';
const byId = id => document.getElementById(id);
const tip = byId('tip');
const objects = JSON.parse(byId('objects').textContent);
let picked = null;

// --- what is said of an object, a pair, a segment ---

const clusterName = c => c < 0 ? 'left out' : 'cluster ' + c;

function describe(i) {
  const said = ['row ' + objects.rows[i]];
  if (objects.ids) said.push(objects.ids[i]);
  if (objects.labels) said.push(clusterName(objects.labels[i]));
  if (objects.weights && objects.labels[i] >= 0) said.push('weight ' + objects.weights[i]);
  if (objects.memberships && objects.labels[i] >= 0) said.push('membership ' + objects.memberships[i]);
  if (objects.confidence && objects.labels[i] >= 0) said.push('confidence ' + objects.confidence[i]);
  if (objects.classes) said.push('class ' + objects.classes[i]);
  return said.join(', ');
}

function show(text, x, y) {
  tip.textContent = text;
  tip.hidden = false;
  const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
  tip.style.left = Math.max(4, Math.min(x + 14, room)) + window.scrollX + 'px';
  tip.style.top = y + 16 + window.scrollY + 'px';
}

function hide() { tip.hidden = true; }

// --- a cluster that is marked everywhere ---

function pick(cluster) {
  picked = cluster === null || String(cluster) === picked ? null : String(cluster);
  for (const part of document.querySelectorAll('[data-c]')) {
    part.classList.toggle('dim', picked !== null && part.dataset.c !== picked);
  }
  for (const button of document.querySelectorAll('[data-pick]')) {
    button.setAttribute('aria-pressed', String(button.dataset.pick === picked));
  }
  shade();
}

for (const button of document.querySelectorAll('[data-pick]')) {
  button.addEventListener('click', () => pick(button.dataset.pick));
}
document.addEventListener('keydown', event => {
  if (event.key === 'Escape') { hide(); pick(null); }
});

// --- tables that are wider than the window ---

const widths = new ResizeObserver(entries => {
  for (const {target} of entries) {
    const scrolls = target.scrollWidth > target.clientWidth;
    target.classList.toggle('scrolls', scrolls);
    target.tabIndex = scrolls ? 0 : -1; // so that keys can scroll it
  }
});
for (const table of document.querySelectorAll('.wide')) widths.observe(table);

// --- pictures that can be pointed at, and gone through by arrow keys ---

// A stop is {x, y, text, cluster, path}, places in units of the picture; find(x, y) gives one or nothing.
function live(svg, stops, find) {
  const mark = document.createElementNS(svg.namespaceURI, 'circle');
  const box = svg.viewBox.baseVal;
  let at = -1, lit = null;
  mark.setAttribute('class', 'mark');
  mark.setAttribute('r', 8);
  mark.style.display = 'none';
  svg.append(mark);

  function leave() {
    mark.style.display = 'none';
    if (lit) lit.classList.remove('lit');
    lit = null;
    hide();
  }
  function visit(stop, x, y) {
    leave();
    if (!stop) return;
    const place = svg.getBoundingClientRect(), scale = place.width / box.width;
    mark.setAttribute('cx', stop.x);
    mark.setAttribute('cy', stop.y);
    mark.style.display = '';
    lit = stop.path || null;
    if (lit) lit.classList.add('lit');
    show(stop.text, x === undefined ? place.left + stop.x * scale : x, y === undefined ? place.top + stop.y * scale : y);
  }
  function under(event) {
    const place = svg.getBoundingClientRect(), scale = box.width / place.width;
    return find((event.clientX - place.left) * scale, (event.clientY - place.top) * scale);
  }
  svg.addEventListener('pointermove', event => visit(under(event), event.clientX, event.clientY));
  svg.addEventListener('pointerleave', leave);
  svg.addEventListener('blur', leave);
  svg.addEventListener('click', event => {
    const stop = under(event);
    if (stop && stop.cluster !== undefined) pick(stop.cluster);
  });
  svg.addEventListener('keydown', event => {
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    if (step && stops.length) {
      at = at < 0 ? (step > 0 ? 0 : stops.length - 1) : (at + step + stops.length) % stops.length;
      visit(stops[at]);
      event.preventDefault();
    } else if ((event.key === 'Enter' || event.key === ' ') && at >= 0 && stops[at].cluster !== undefined) {
      pick(stops[at].cluster);
      event.preventDefault();
    }
  });
}

const placesOf = path => [...path.getAttribute('d').matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g)].map(p => [+p[1], +p[2]]);

function nearest(stops, x, y, reach) {
  let best = null, least = reach * reach;
  for (const stop of stops) {
    const far = (stop.x - x) ** 2 + (stop.y - y) ** 2;
    if (far < least) { least = far; best = stop; }
  }
  return best;
}

const plane = byId('plane');
if (plane) {
  const next = new Map([...plane.querySelectorAll('.dots')].map(path => [+path.dataset.c, placesOf(path).values()]));
  const stops = [];
  for (let i = 0; i < objects.count; i++) {
    const label = objects.labels ? objects.labels[i] : -1, place = next.get(label).next().value;
    stops.push({x: place[0], y: place[1], text: describe(i), cluster: objects.labels ? label : undefined});
  }
  stops.sort((a, b) => a.x - b.x);
  live(plane, stops, (x, y) => nearest(stops, x, y, 24));
}

const numbersIn = id => byId(id) ? byId(id).textContent.trim().split(' ').map(Number) : null;

for (const name of ['members', 'confidences']) {
  const bars = byId(name), order = numbersIn(name + '-order');
  if (!bars) continue;
  const box = bars.viewBox.baseVal, wide = box.width / order.length;
  const stops = order.map((o, i) => ({x: (i + .5) * wide, y: box.height / 2, text: describe(o), cluster: objects.labels[o]}));
  live(bars, stops, x => stops[Math.floor(x / wide)]);
}

const heat = byId('heat');
if (heat) {
  const who = numbersIn('heat-order'), labels = who ? who.map(o => objects.labels[o]) : numbersIn('heat-labels');
  const strip = 14, wide = (heat.viewBox.baseVal.width - strip) / labels.length;
  const name = i => who ? describe(who[i]) : clusterName(labels[i]);
  const stop = (i, j) => ({x: strip + (j + .5) * wide, y: strip + (i + .5) * wide, cluster: labels[i],
                           text: i === j ? name(i) : name(i) + ' with ' + name(j)});
  live(heat, labels.map((_, i) => stop(i, i)), (x, y) => {
    const i = Math.floor((y - strip) / wide), j = Math.floor((x - strip) / wide);
    return i >= 0 && j >= 0 && i < labels.length && j < labels.length ? stop(i, j) : null;
  });
}

for (const id of ['objectives', 'certificates']) {
  const svg = byId(id);
  if (!svg) continue;
  const ends = [], all = [];
  for (const path of svg.querySelectorAll('.curve,.best')) {
    const stops = placesOf(path).map(p => ({x: p[0], y: p[1], text: path.querySelector('title').textContent, path}));
    path.querySelector('title').remove(); // else the browser would show it beside ours
    path.setAttribute('aria-label', stops.length ? stops[0].text : '');
    all.push(...stops);
    if (stops.length) ends.push(stops[stops.length - 1]);
  }
  live(svg, ends, (x, y) => nearest(all, x, y, 40));
}

// --- segments of a picture ---

const numbers = byId('numbers');
let pixels = null;

function readNumbers() {
  const canvas = document.createElement('canvas');
  canvas.width = numbers.naturalWidth;
  canvas.height = numbers.naturalHeight;
  const drawing = canvas.getContext('2d');
  drawing.drawImage(numbers, 0, 0);
  pixels = drawing.getImageData(0, 0, canvas.width, canvas.height);
  for (const cover of document.querySelectorAll('.pictures canvas')) {
    cover.width = canvas.width;
    cover.height = canvas.height;
    cover.addEventListener('pointermove', event => {
      const segment = segmentAt(cover, event);
      show(segment < 0 ? 'no segment' : 'segment ' + segment, event.clientX, event.clientY);
    });
    cover.addEventListener('pointerleave', hide);
    cover.addEventListener('click', event => pick(segmentAt(cover, event)));
  }
}

const segmentOf = at => pixels.data[4 * at] + 256 * pixels.data[4 * at + 1];

function segmentAt(cover, event) {
  const place = cover.getBoundingClientRect();
  const x = Math.min(pixels.width - 1, Math.floor((event.clientX - place.left) * pixels.width / place.width));
  const y = Math.min(pixels.height - 1, Math.floor((event.clientY - place.top) * pixels.height / place.height));
  const segment = segmentOf(y * pixels.width + x);
  return segment === 65535 ? -1 : segment;
}

function shade() {
  if (!pixels) return;
  const chosen = picked === '-1' ? 65535 : Number(picked);
  const shadow = new ImageData(pixels.width, pixels.height);
  for (let i = 0; picked !== null && i < pixels.width * pixels.height; i++) {
    if (segmentOf(i) !== chosen) shadow.data[4 * i + 3] = 190;
  }
  for (const cover of document.querySelectorAll('.pictures canvas')) cover.getContext('2d').putImageData(shadow, 0, 0);
}

if (numbers) numbers.decode().then(readNumbers);
})();
