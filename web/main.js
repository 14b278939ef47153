// The page: connects the picture, the numbers and the list with their source.

import {styleOf} from './colours.js';
import {Comparison, mostCompared} from './compare.js';
import {Contrast} from './contrast.js';
import {FilmBar} from './film.js';
import {Histogram} from './histogram.js';
import {Layers} from './layers.js';
import {physical, scaleBar} from './lengths.js';
import {RegionList} from './list.js';
import {Model} from './model.js';
import {decimal, edgeOf, either, integer, none, short} from './numbers.js';
import {openSource} from './source.js';
import {Stage} from './stage.js';
import {SurveyState} from './survey.js';
import {Tints} from './tints.js';

const find = (id) => document.getElementById(id);
const real = (value) => decimal(value);
const statistics = [
  ['pixels', 'Pixels', integer], ['sum', 'Sum', either], ['mean', 'Mean', real], ['std', 'Std', real],
  ['min', 'Min', either], ['max', 'Max', either], ['p1', '1 %', real], ['p50', 'Median', real], ['p99', '99 %', real],
  ['nan', 'NaN', integer], ['under', 'Below', integer], ['over', 'Above', integer],
];
const whenPresent = new Set(['nan', 'under', 'over']);

const source = await openSource();
const {picture} = source;
const model = new Model(picture);
const undos = [];
let link, stage, list, comparison, film, layers, contrast, tints, keyTimer = 0, keyed = null, messageTimer = 0;

// ---------------------------------------------------------------- messages

function tell(sentence) {
  find('message').textContent = sentence;
  clearTimeout(messageTimer);
  messageTimer = setTimeout(() => (find('message').textContent = ''), 8000);
}
const speak = (sentence) => (find('spoken').textContent = sentence);

// ---------------------------------------------------------------- numbers of the region

const cells = new Map(statistics.map(([key, label]) => {
  const row = document.createElement('div');
  const name = document.createElement('dt'), value = document.createElement('dd');
  name.textContent = label;
  value.dataset.stat = key;
  value.textContent = none;
  row.append(name, value);
  find('numbers').append(row);
  // Copying gives all digits.
  value.addEventListener('copy', (event) => {
    event.clipboardData.setData('text/plain', value.dataset.value ?? '');
    event.preventDefault();
  });
  return [key, {row, value}];
}));

const titleOf = ({id, name}) => (id === 0 ? 'Whole picture' : id < 0 ? 'New region' : name || `Region ${id}`);

function valueOf(answer, key) {
  if (key.startsWith('p') && key !== 'pixels') return answer.percentiles.find(([percent]) => `p${percent}` === key)?.[1] ?? null;
  return answer[key];
}

const histogram = new Histogram(find('histogram'), find('bin'));

function showCurrent() {
  const region = model.current(), answer = model.answer(region.id);
  const isNew = model.isNew(region.id, region.box), isOne = region.id > 0;
  const {colour, ink} = styleOf(region.id);
  find('region-title').textContent = isOne ? `Region ${region.id}` : titleOf(region);
  find('region-badge').textContent = isOne ? region.id : '';
  find('region-badge').style.background = region.id === 0 ? 'var(--line)' : colour;
  find('region-badge').style.color = ink;
  find('region-title').classList.toggle('unseen', isOne);
  find('region-name').hidden = find('region-remove').hidden = !isOne;
  if (isOne && document.activeElement !== find('region-name')) find('region-name').value = region.name;
  find('region-name').placeholder = `Region ${region.id}`;
  ['x', 'y', 'w', 'h'].forEach((side, i) => {
    const field = find(`box-${side}`);
    if (document.activeElement !== field) field.value = region.box[i];
    field.disabled = !isOne;
  });
  find('physical').textContent = physical(picture, region.box);
  find('numbers').dataset.region = region.id;
  find('numbers').dataset.fresh = isNew;
  for (const [key, , format] of statistics) {
    const {row, value} = cells.get(key);
    const found = answer ? valueOf(answer, key) : null;
    row.hidden = whenPresent.has(key) && !found;
    value.textContent = found !== null && model.isRounded(region.id) ? `≈ ${format(found)}` : format(found);
    value.dataset.value = found ?? 'null';
    value.title = found === null ? '' : String(found);
  }
  const counts = answer?.histogram.length ? answer.histogram : null;
  histogram.show(counts ? {counts, range: picture.range, colour: region.id === 0 ? null : colour, mean: answer.mean} : null);
  if (counts) {
    const most = Math.max(...counts), bin = counts.indexOf(most);
    const edge = (i) => short(edgeOf(picture.range, counts.length, i));
    find('histogram').setAttribute('aria-label',
      `Histogram of ${titleOf(region)}: ${counts.length} bins from ${edge(0)} to ${edge(counts.length)}, the fullest from ${edge(bin)} to ${edge(bin + 1)} with ${integer(most)} pixels`);
    if (find('counts').open && !stage.gesture) showTable(counts, edge);
  }
  comparison.draw();
  film?.show();
  find('hint').hidden = model.regions.size > 0 || region.id !== 0;
}

function showTable(counts, edge) {
  find('counts-rows').replaceChildren(...counts.map((count, i) => {
    const row = document.createElement('tr');
    for (const text of [edge(i), edge(i + 1), integer(count)]) {
      const cell = document.createElement('td');
      cell.textContent = text;
      row.append(cell);
    }
    return row;
  }));
}
find('counts').addEventListener('toggle', showCurrent);

// ---------------------------------------------------------------- questions

function showCursor() {
  const at = model.cursor;
  if (!at) {
    find('cursor').textContent = '\u00a0';
    return;
  }
  const answer = model.isNew(-2, [...at, 1, 1]) ? model.answer(-2) : null;
  const layer = layers?.valueAt(at);
  find('cursor').textContent = `x ${integer(at[0])}  y ${integer(at[1])}${answer ? ': ' + (answer.nan ? 'NaN' : either(answer.sum)) : ''}${layer ? `  ${layer}` : ''}`;
}

function pump() {
  const {regions, reference} = model.questions(list.visible());
  if (!regions.length) return contrast.ask();
  if (!link.ask(model.channel, regions, model.dragged === null, reference)) return;
  const target = reference === null ? null : String(model.region(reference).box);
  asking = new Map(regions.map(([id, ...box]) => [id, {box, target}]));
}

function take(message) {
  if (String(message.range) !== String(picture.range)) return pump(); // it is about the histogram's earlier range
  contrast.take(message);
  const isRounded = message.regions.some((region) => region.about);
  for (const region of message.regions) {
    const asked = asking.get(region.id);
    if (!asked || message.channel !== model.channel) continue;
    const key = model.key(asked.box, message.frame);
    model.answers.set(region.id, {key, answer: region.pending ? null : region, isRounded: Boolean(region.about || (region.pending && !message.final))});
    if (region.distances && asked.target !== null) model.distances.set(region.id, {key: `${key} ${asked.target}`, isRounded, values: region.distances});
  }
  showCurrent();
  showCursor();
  list.draw();
  pump();
}

// The box of each region in flight, and that of the reference: what its answer and its distance are about.
let asking = new Map();

// ---------------------------------------------------------------- changes of regions

const fail = (error) => tell(`${error.message[0].toUpperCase()}${error.message.slice(1)}.`);

async function add(box, name) {
  const id = await link.set(null, name, box);
  if (model.isNew(-1, box)) model.answers.set(id, model.answers.get(-1));
  if (!model.regions.has(id)) model.regions.set(id, {id, name, box}); // the server's list comes later
  select(id);
  return id;
}

/** Returns the new region's id; 0 if there is none. */
async function create(box, name = '') {
  try {
    const id = await add(box, name);
    undos.push(() => link.remove(id));
    return id;
  } catch (error) {
    fail(error);
    return 0;
  }
}

async function change(id, name, box) {
  endKeys();
  const old = model.regions.get(id);
  if (!old || (old.name === name && String(old.box) === String(box))) return;
  model.regions.set(id, {id, name, box});
  refresh();
  try {
    await link.set(id, name, box);
    undos.push(() => link.set(id, old.name, old.box));
  } catch (error) {
    model.regions.set(id, old);
    fail(error);
    refresh();
  }
}

async function remove(id) {
  endKeys();
  const old = model.regions.get(id);
  if (!old) return;
  try {
    await link.remove(id);
    undos.push(() => add(old.box, old.name));
    speak(`${titleOf(old)} removed`);
  } catch (error) {
    fail(error);
  }
}

async function undo() {
  endKeys();
  const last = undos.pop();
  if (!last) return tell('Nothing to undo.');
  try {
    await last();
    speak('Undone');
  } catch (error) {
    fail(error);
  }
}

function select(id) {
  endKeys();
  model.selected = model.regions.has(id) ? id : 0;
  list.reveal(model.selected);
  refresh();
}

function refresh() {
  layers?.request();
  stage.draw();
  showCurrent();
  list.draw();
  pump();
}

/** Reads the numbers aloud once they are there. */
function announce() {
  const region = model.current();
  const answer = model.isNew(region.id, region.box) ? model.answer(region.id) : null;
  if (!answer) return setTimeout(() => link.open && announce(), 100);
  speak(`${titleOf(region)}: ${region.box[2]} by ${region.box[3]} pixels at ${region.box[0]}, ${region.box[1]}. Mean ${decimal(answer.mean)}, standard deviation ${decimal(answer.std)}.`);
}

async function ended(what) {
  const dragged = model.dragged;
  if (what === 'drawn' && dragged) {
    await create(dragged.box);
    model.drag(0, null);
  } else if (what === 'changed' && dragged) {
    const region = model.regions.get(dragged.id);
    model.drag(0, null);
    if (region) change(region.id, region.name, dragged.box);
  }
  refresh();
  if (what !== 'cancelled') announce();
}

// ---------------------------------------------------------------- keys

function newRegion() {
  const [x, y, w, h] = stage.visible();
  const wide = Math.max(1, Math.round(w / 4)), high = Math.max(1, Math.round(h / 4));
  create([x + ((w - wide) >> 1), y + ((h - high) >> 1), wide, high]).then((id) => id && announce());
}

/** The steps of arrow keys become one change when they stop. */
function step(dx, dy, resizes) {
  const region = model.current();
  if (region.id <= 0) return;
  let [x, y, w, h] = region.box;
  const between = (value, least, most) => Math.min(most, Math.max(least, value));
  if (resizes) {
    w = between(w + dx, 1, picture.width - x);
    h = between(h + dy, 1, picture.height - y);
  } else {
    x = between(x + dx, 0, picture.width - w);
    y = between(y + dy, 0, picture.height - h);
  }
  keyed = region.id;
  model.drag(region.id, [x, y, w, h]);
  stage.reveal([x, y, w, h]);
  clearTimeout(keyTimer);
  keyTimer = setTimeout(() => {
    endKeys();
    announce();
  }, 400);
  refresh();
}

function compare() {
  if (!comparison.toggle(model.current().id)) return tell(`Up to ${mostCompared} regions are compared.`);
  const {id} = model.current(), isIn = model.compared.includes(id);
  speak(`${titleOf(model.current())} ${isIn ? 'is compared' : 'is no longer compared'}`);
}

function endKeys() {
  clearTimeout(keyTimer);
  if (!keyed) return;
  const region = model.regions.get(keyed), dragged = model.dragged;
  keyed = null;
  model.drag(0, null);
  if (region && dragged) change(region.id, region.name, dragged.box);
}

const arrows = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};

function onKey(event) {
  const {key} = event;
  if ((event.ctrlKey || event.metaKey) && key.toLowerCase() === 'z') undo();
  else if (event.ctrlKey || event.metaKey) return;
  else if (arrows[key]) {
    const by = event.shiftKey ? 10 : 1, [dx, dy] = arrows[key];
    if (model.current().id > 0) step(dx * by, dy * by, event.altKey);
    else stage.map.panBy([64 * dx, 64 * dy], {animate: false});
  } else if (key === 'r' || key === 'R') setMode('draw');
  else if (key === 'v' || key === 'V') setMode('pan');
  else if (key === 'n' || key === 'N') newRegion();
  else if (key === 'c' || key === 'C') compare();
  else if (key === 'Delete' || key === 'Backspace') remove(model.selected);
  else if (key === '+' || key === '=') stage.zoomBy(0.5);
  else if (key === '-') stage.zoomBy(-0.5);
  else if (key === '0') stage.fit();
  else if (film && key === ' ') film.toggle();
  else if (film && (key === ',' || key === '.')) film.step(key === ',' ? -1 : 1);
  else if (film && (key === 't' || key === 'T')) film.follow();
  else if (key === '?') find('help').showModal();
  else if (key === 'Escape') {
    if (!stage.cancel()) select(0);
  } else if (key === 'Tab') {
    const ids = [...model.regions.keys()], at = ids.indexOf(model.selected) + (event.shiftKey ? -1 : 1);
    if (at < 0 || at >= ids.length) return; // on to the next control
    select(ids[at]);
    stage.reveal(model.current().box);
    announce();
  } else return;
  event.preventDefault();
}

// ---------------------------------------------------------------- controls

function setMode(mode) {
  stage.setMode(mode);
  find('pan').setAttribute('aria-pressed', mode === 'pan');
  find('draw').setAttribute('aria-pressed', mode === 'draw');
}

function press(names, chosen) {
  for (const name of names) find(name).setAttribute('aria-pressed', name === chosen);
}

let drawn = picture.colour ?? 0; // the channel that is drawn alone, and whose contrast the menu shows
const numbersOf = (channel) => (channel === picture.colour ? 0 : channel);

/** Draws the channels that are chosen. */
function showChannels() {
  const parts = tints.parts() ?? [{channel: drawn, tint: null}];
  stage.setParts(parts);
  contrast.show(drawn, parts.map(({channel}) => channel));
  pump();
}

function chooseChannel(text) {
  drawn = Number(text);
  model.channel = numbersOf(drawn);
  model.answers.clear();
  showChannels();
  refresh();
}

// ---------------------------------------------------------------- the histogram's range

function showRange() {
  find('range-low').value = picture.range[0];
  find('range-high').value = picture.range[1];
}
/** Also when another page has changed it. */
function takeRange(range) {
  picture.range = range;
  model.answers.clear();
  model.distances.clear();
  showRange();
  refresh();
}
async function changeRange(event) {
  event.preventDefault();
  const range = ['range-low', 'range-high'].map((id) => (find(id).value === '' ? NaN : Number(find(id).value)));
  if (!(range[0] < range[1])) return tell('A range goes from a number to a larger one.');
  tell('');
  try {
    await link.setRange(range);
    speak(`The histogram covers ${short(range[0])} to ${short(range[1])}`);
  } catch (error) {
    fail(error);
  }
}

function fillChannels() {
  const options = picture.channels.map((name, i) => [i, name]);
  if (picture.colour !== null) options.unshift([picture.colour, 'colour (numbers: luma)']);
  for (const [value, text] of options) {
    const option = document.createElement('option');
    option.value = value;
    option.textContent = text;
    find('channel').append(option);
  }
  find('channel-field').hidden = options.length < 2;
}

function onBox() {
  const region = model.current();
  if (region.id <= 0) return;
  const box = ['x', 'y', 'w', 'h'].map((side) => Math.round(Number(find(`box-${side}`).value)));
  const [x, y, w, h] = box;
  const fits = box.every(Number.isFinite) && x >= 0 && y >= 0 && w >= 1 && h >= 1 && x + w <= picture.width && y + h <= picture.height;
  for (const side of ['x', 'y', 'w', 'h']) find(`box-${side}`).setAttribute('aria-invalid', !fits);
  if (!fits) return tell(`A region lies inside the picture: x + w up to ${picture.width}, y + h up to ${picture.height}.`);
  tell('');
  change(region.id, region.name, box).then(announce);
}

function showZoom() {
  find('zoom').textContent = `${integer(Math.max(1, Math.round(100 * stage.scale)))} %`;
  const bar = scaleBar(picture, stage.scale, 140);
  find('scale-bar').hidden = !bar;
  if (!bar) return;
  find('scale-bar').style.width = `${bar.pixels}px`;
  find('scale-bar').textContent = bar.text;
}

function drawPlots() {
  histogram.draw();
  comparison.drawOverlay();
}

function nextTheme() {
  const root = document.documentElement;
  const isDark = getComputedStyle(root).colorScheme.startsWith('dark');
  root.dataset.theme = isDark ? 'light' : 'dark';
  drawPlots();
}

function wire() {
  const on = (id, kind, call) => find(id).addEventListener(kind, call);
  find('stage').addEventListener('keydown', onKey);
  on('pan', 'click', () => setMode('pan'));
  on('draw', 'click', () => setMode('draw'));
  on('zoom-in', 'click', () => stage.zoomBy(0.5));
  on('zoom-out', 'click', () => stage.zoomBy(-0.5));
  on('zoom-fit', 'click', () => stage.fit());
  on('channel', 'change', (event) => chooseChannel(event.target.value));
  on('range-form', 'submit', changeRange);
  const choose = (name, other, change) => on(name, 'click', () => {
    press([name, other], name);
    change();
    drawPlots();
  });
  choose('scale-linear', 'scale-log', () => (histogram.isLog = false));
  choose('scale-log', 'scale-linear', () => (histogram.isLog = true));
  choose('unit-counts', 'unit-share', () => (histogram.isShare = false));
  choose('unit-share', 'unit-counts', () => (histogram.isShare = true));
  on('add', 'click', newRegion);
  on('compare-toggle', 'click', compare);
  on('region-remove', 'click', () => remove(model.selected));
  on('region-name', 'change', (event) => {
    const region = model.current();
    if (region.id > 0) change(region.id, event.target.value.trim(), region.box);
  });
  for (const side of ['x', 'y', 'w', 'h']) on(`box-${side}`, 'change', onBox);
  on('help-open', 'click', () => find('help').showModal());
  on('theme', 'click', nextTheme);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawPlots);
  // One menu at a time; a click elsewhere or Escape closes it.
  const menus = [...document.querySelectorAll('details.menu')];
  document.addEventListener('pointerdown', (event) => menus.forEach((menu) => menu.contains(event.target) || (menu.open = false)));
  document.addEventListener('keydown', (event) => {
    const menu = event.key === 'Escape' && menus.find((one) => one.open);
    if (!menu) return;
    menu.open = false;
    menu.querySelector('summary').focus();
  });
}

// ---------------------------------------------------------------- start

find('name').textContent = picture.name;
find('name').title = picture.name;
document.title = `${picture.name} — areal view`;
find('facts').textContent = `${integer(picture.width)} × ${integer(picture.height)} · ${picture.type}`;
find('export').hidden = !source.exports;
find('export-page').hidden = !picture.page;
fillChannels();
find('no-histogram').hidden = picture.kind !== 'table';
find('histogram').hidden = find('counts').hidden = find('range').hidden = picture.kind === 'table';
showRange();
list = new RegionList(model, {select: (id) => (select(id), stage.reveal(model.current().box)), drawn: () => pump()});
comparison = new Comparison(model, {changed: () => refresh(), titleOf, isLog: () => histogram.isLog});
stage = new Stage(find('stage'), find('overview'), source, model, {
  changed: () => (showCurrent(), pump()),
  ended,
  select,
  moved: (at) => {
    if (String(at) === String(model.cursor)) return;
    model.cursor = at;
    showCursor();
    pump();
  },
  panned: () => layers?.request(),
  zoomed: showZoom,
  problem: tell,
});
contrast = new Contrast(picture, stage, (channel) => {
  if (!link.ask(numbersOf(channel), [[0, 0, 0, picture.width, picture.height]], true)) return false;
  asking = new Map();
  return true;
}, numbersOf);
tints = new Tints(picture, {changed: showChannels, problem: tell});
showZoom();
const survey = new SurveyState(find('survey'), (isComplete) => {
  model.surveyed();
  contrast.surveyed();
  stage.reload(isComplete);
  pump();
});
if (picture.video) film = new FilmBar(picture.video, model, (message) => link.act(message), {problem: fail, speak});
if (source.layer)
  layers = new Layers(picture, model, stage, {send: (message) => link.act(message), fetch: source.layer, add: (box) => create(box), changed: showCursor});
find('export-tracks').hidden = !picture.video;
for (const one of document.querySelectorAll('.film-key')) one.hidden = !picture.video;
link = source.link({
  opened: () => {
    document.body.classList.remove('offline');
    find('connection').textContent = source.place;
    pump();
  },
  closed: (why = 'no connection, trying again') => {
    document.body.classList.add('offline');
    find('connection').textContent = why;
  },
  survey: (state) => survey.take(state),
  frame: (state) => {
    film.take(state);
    stage.showFrame(state.number);
    refresh();
  },
  regions: (regions) => {
    model.setRegions(regions);
    refresh();
  },
  answer: take,
  range: takeRange,
  error: (sentence) => tell(`${sentence[0].toUpperCase()}${sentence.slice(1)}.`),
});
wire();
showChannels();
for (const note of picture.notes) tell(note);
showCurrent();
document.body.classList.add('ready');
