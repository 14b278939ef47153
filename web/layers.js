// A layer over the visible part: a filter of each pixel's window, or how near each window is to the selected region.

import {decimal, integer, none, short} from './numbers.js';
import {readTile} from './tiles.js';

const window_ = ['size', 'edge'], further = ['anchor', 'value', 'nan', 'min-count', 'fill'];
const threshold = ['offset', 'high', 'inverted'];
/** The filters of `areal filter`: [name, its own parameters, is its output a picture rather than a measure?]. */
const filters = [
  ['mean', [], true], ['sum', []], ['count', []], ['var', ['ddof']], ['std', ['ddof']], ['min', [], true], ['max', [], true], ['median', [], true],
  ['percentile', ['q'], true], ['threshold', threshold, true], ['bradley', ['k', ...threshold], true], ['niblack', ['k', ...threshold], true],
  ['sauvola', ['k', 'r', ...threshold], true], ['wolf', ['k', ...threshold], true], ['nick', ['k', ...threshold], true], ['equalize', [], true], ['otsu', [], true],
  ['entropy', []], ['modal', [], true], ['guided', ['eps'], true], ['gaussian', ['sigma', 'truncate', 'passes'], true], ['bilateral', ['sigma-range'], true],
];
const methods = ['ccoeff-normed', 'ccorr-normed', 'sqdiff-normed', 'ccoeff', 'ccorr', 'sqdiff'];
const distances = ['hellinger', 'l1', 'l2', 'chi-square', 'emd', 'intersection', 'kolmogorov-smirnov'];
const choices = {
  edge: ['shrink', 'valid', 'zero', 'replicate', 'reflect', 'symmetric', 'wrap', 'constant'], nan: ['propagate', 'omit'], inverted: ['false', 'true'],
  method: methods, distance: distances,
};
const first = {size: '15', q: '25', eps: '100', sigma: '2', 'sigma-range': '25'};
const titles = {
  size: 'Window: N or WxH', anchor: 'Column and row of the pixel in its window', value: 'Of pixels beyond the edge, with constant', q: '0 to 100', eps: 'What counts as noise',
  sigma: 'S or SxS', 'sigma-range': 'In levels of 8 bits', ddof: 'Divide by the pixels less this', 'min-count': 'Windows with fewer valid pixels give fill',
};

// Cividis, which people with any colour vision read, between ten of its colours.
const cividis = [[0, 34, 78], [18, 53, 112], [59, 73, 108], [87, 93, 109], [112, 113, 115], [138, 134, 120], [165, 156, 116], [195, 179, 105], [225, 204, 85], [254, 232, 56]];
export function colourAt(share) {
  const at = Math.min(1, Math.max(0, share)) * (cividis.length - 1), i = Math.min(cividis.length - 2, Math.floor(at));
  return cividis[i].map((value, c) => Math.round(value + (at - i) * (cividis[i + 1][c] - value)));
}

const find = (id) => document.getElementById(id);
const make = (name, properties = {}) => Object.assign(document.createElement(name), properties);

export class Layers {
  /** `actions`: send(message) resolves to the reply, fetch(id) to its bytes, add(box), changed(). */
  constructor(picture, model, stage, actions) {
    Object.assign(this, {picture, model, stage, actions, shown: null, key: '', late: 0, busy: false});
    find('layer-field').hidden = false;
    const kind = find('layer-kind'), group = (label, names) => {
      const one = make('optgroup', {label});
      for (const [value, text] of names) one.append(make('option', {value, textContent: text}));
      kind.append(one);
    };
    kind.append(make('option', {value: '', textContent: 'no layer'}));
    group('Filter', filters.map(([name]) => [name, name]));
    group('Search for the selected region', [['match:', 'template match'], ['histogram:', 'histogram distance']]);
    kind.addEventListener('change', () => this.choose());
    find('layer-close').addEventListener('click', () => {
      kind.value = '';
      this.choose();
      kind.focus();
    });
    const fade = () => (this.stage.overlay.style.opacity = find('layer-opacity').value / 100);
    find('layer-opacity').addEventListener('input', fade);
    fade();
  }

  get kind() {
    return find('layer-kind').value;
  }
  get isSearch() {
    return this.kind.endsWith(':');
  }

  /** The fields of another filter or search. */
  choose() {
    const {kind} = this, own = filters.find(([name]) => name === kind);
    find('layer').hidden = !kind;
    find('layer-title').textContent = find('layer-kind').selectedOptions[0].textContent;
    find('layer').classList.toggle('search', this.isSearch);
    find('layer-fields').replaceChildren();
    find('layer-further').replaceChildren();
    this.shown = null;
    this.key = '';
    this.stage.setOverlay(null);
    this.say('');
    this.showLegend();
    find('places').replaceChildren();
    find('layer-more').hidden = !own;
    const names = this.isSearch ? [kind === 'match:' ? 'method' : 'distance'] : !own ? [] : kind === 'gaussian' ? [...own[1], 'edge'] : [...own[1].filter((name) => name in first), ...window_];
    for (const name of names) find('layer-fields').append(this.field(name));
    if (own) for (const name of [...own[1], ...further]) if (!names.includes(name) && !(kind === 'gaussian' && name === 'anchor')) find('layer-further').append(this.field(name));
    this.request();
  }

  field(name) {
    const label = make('label', {title: titles[name] ?? ''}), text = make('span', {textContent: name});
    let input;
    if (choices[name]) {
      input = make('select');
      for (const value of choices[name]) input.append(make('option', {value, textContent: value}));
    } else {
      input = make('input', {type: 'text', maxLength: 64, value: first[name] ?? '', spellcheck: false, autocomplete: 'off'});
    }
    input.dataset.option = name;
    input.addEventListener('input', () => this.request());
    label.append(text, input);
    return label;
  }

  /** What to compute now; null for nothing. */
  wanted() {
    const {kind, model} = this;
    if (!kind) return null;
    const values = Object.fromEntries([...document.querySelectorAll('#layer [data-option]')].map((one) => [one.dataset.option, one.value.trim()]).filter(([, value]) => value));
    const [x, y, w, h] = this.stage.visible();
    const message = {do: 'layer', channel: model.channel, view: [x, y, w, h]};
    if (!this.isSearch) {
      if (values.inverted === 'false') delete values.inverted;
      if (values.edge === 'shrink') delete values.edge;
      if (values.nan === 'propagate') delete values.nan;
      return {...message, kind: 'filter', name: kind, options: values};
    }
    const region = model.region(model.selected);
    return {...message, kind: kind.slice(0, -1), name: values.method ?? values.distance, region: region.id > 0 ? region.box : null};
  }

  /** Asks soon, if what is shown is no longer what is wanted. */
  request() {
    clearTimeout(this.late);
    if (this.kind) this.late = setTimeout(() => this.ask(), 150);
  }

  async ask() {
    const wanted = this.wanted();
    if (!wanted) return;
    const key = JSON.stringify([wanted, this.model.frame]);
    if (key === this.key || this.model.dragged) return;
    if (wanted.kind !== 'filter' && !wanted.region) return this.say('Select a region: the search is for what it holds.');
    if (this.busy && this.model.frame !== undefined) return; // a frame that follows asks again
    this.key = key;
    this.busy = true;
    try {
      const reply = await this.actions.send(wanted);
      const tile = readTile(await this.actions.fetch(reply.layer));
      if (key === this.key) this.show(wanted, reply, tile);
    } catch (error) {
      if (key !== this.key) return; // a newer one is on its way
      this.shown = null;
      this.stage.setOverlay(null);
      this.showLegend();
      find('places').replaceChildren();
      this.say(`${error.message[0].toUpperCase()}${error.message.slice(1)}.`, true);
    } finally {
      if (key === this.key) this.busy = false;
      this.request();
    }
  }

  say(sentence, isError = false) {
    find('layer-message').textContent = sentence;
    find('layer-message').classList.toggle('error', isError);
  }

  show(wanted, reply, tile) {
    const [least, most] = reply.range, isPicture = filters.find(([name]) => name === wanted.name)?.[2] ?? false;
    // Of distances and squared differences the least is the best, and bright.
    const falls = wanted.kind === 'histogram' || wanted.name.startsWith('sqdiff');
    const [black, white] = isPicture && this.picture.type === '8u' ? [0, 255] : [least, most];
    const scale = white > black ? 1 / (white - black) : 0;
    const canvas = make('canvas', {width: tile.width, height: tile.height});
    canvas.setAttribute('aria-hidden', 'true');
    const context = canvas.getContext('2d'), image = context.createImageData(tile.width, tile.height);
    const colours = Array.from({length: 256}, (_, i) => (isPicture ? [i, i, i] : colourAt(i / 255)));
    for (let i = 0, at = 0; i < tile.values.length; ++i, at += 4) {
      const value = tile.values[i];
      if (value !== value) continue;
      const share = Math.min(1, Math.max(0, (value - black) * scale));
      const [red, green, blue] = colours[Math.round(255 * (falls ? 1 - share : share))];
      image.data[at] = red;
      image.data[at + 1] = green;
      image.data[at + 2] = blue;
      image.data[at + 3] = 255;
    }
    context.putImageData(image, 0, 0);
    this.shown = {wanted, reply, tile, isPicture, falls, range: [black, white]};
    this.stage.setOverlay(canvas, reply.level, reply.box);
    this.showLegend();
    this.showPlaces(reply.places);
    this.say(reply.level ? `At 1/${2 ** reply.level} of the size; sizes are in pixels of that. Zoom in for the full size.` : '');
    find('layer').dataset.layer = reply.layer;
    this.actions.changed();
  }

  showLegend() {
    const {shown} = this;
    find('layer-legend').hidden = !shown;
    if (!shown) return;
    const [black, white] = shown.range, canvas = find('layer-scale');
    canvas.width = 256;
    canvas.height = 1;
    const context = canvas.getContext('2d'), image = context.createImageData(256, 1);
    for (let i = 0; i < 256; ++i) image.data.set([...(shown.isPicture ? [i, i, i] : colourAt(shown.falls ? 1 - i / 255 : i / 255)), 255], 4 * i);
    context.putImageData(image, 0, 0);
    find('layer-least').textContent = black === null ? none : short(black);
    find('layer-most').textContent = white === null ? none : short(white);
  }

  /** The best places, each of which becomes a region by its button. */
  showPlaces(places) {
    find('places').replaceChildren(...places.map(([x, y, w, h, score], i) => {
      const item = make('li'), add = make('button', {type: 'button', textContent: 'Add'});
      item.dataset.box = [x, y, w, h];
      item.dataset.score = score;
      add.setAttribute('aria-label', `Add place ${i + 1} as a region`);
      add.addEventListener('click', () => this.actions.add([x, y, w, h]));
      item.append(make('span', {textContent: `${integer(x)}, ${integer(y)}`}), make('span', {textContent: score === 0 ? '0' : decimal(score, 5)}), add);
      return item;
    }));
  }

  /** The layer's value at a pixel of the picture, as text; empty where it has none. */
  valueAt([x, y]) {
    if (!this.shown) return '';
    const {reply, tile, wanted} = this.shown, [left, top] = reply.box;
    const column = (x >> reply.level) - left, row = (y >> reply.level) - top;
    if (column < 0 || row < 0 || column >= tile.width || row >= tile.height) return '';
    const value = tile.values[row * tile.width + column];
    return `${wanted.name} ${Number.isNaN(value) ? 'NaN' : decimal(value)}`;
  }
}
