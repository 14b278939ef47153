// The comparison: up to eight histograms in one drawing, and their distances to one of them, the reference.

import {styleOf} from './colours.js';
import {drawAxes, heightIn, plotOn, trace} from './histogram.js';
import {decimal, none, short} from './numbers.js';

export const mostCompared = 8;

/** Distances as the server names them, and as people do. */
const measures = [
  ['hellinger', 'Hellinger'], ['l1', 'L1'], ['l2', 'L2'], ['chi-square', 'chi-square'],
  ['emd', 'earth mover’s, in bins'], ['intersection', '1 − intersection'], ['kolmogorov-smirnov', 'Kolmogorov–Smirnov'],
];

const find = (id) => document.getElementById(id);
const make = (name, properties = {}) => Object.assign(document.createElement(name), properties);

export class Comparison {
  /** `actions`: changed() after another set or reference, titleOf(region), select(id), isLog(). */
  constructor(model, actions) {
    Object.assign(this, {model, actions});
    for (const [value, text] of measures) find('measure').append(make('option', {value, textContent: text}));
    find('measure').addEventListener('change', () => this.draw());
    find('compare-clear').addEventListener('click', () => {
      model.compared = [];
      actions.changed();
    });
    new ResizeObserver(() => this.drawOverlay()).observe(find('overlay'));
  }

  /** Adds a region to the comparison or takes it out. Returns false if there are eight already. */
  toggle(id) {
    const {model} = this;
    if (model.compared.includes(id)) model.compared = model.compared.filter((one) => one !== id);
    else if (model.compared.length === mostCompared) return false;
    else model.compared = [...model.compared, id];
    this.actions.changed();
    return true;
  }

  draw() {
    const {model} = this, current = model.current();
    find('compare-toggle').setAttribute('aria-pressed', model.compared.includes(current.id));
    find('compare-toggle').disabled = current.id < 0;
    find('compare').hidden = model.compared.length === 0;
    find('compare-more').hidden = model.compared.length !== 1;
    if (model.compared.length === 0) return;
    const regions = model.compared.map((id) => model.region(id));
    const key = `${model.reference} ${regions.map((region) => `${region.id} ${region.name}`).join('\n')}`;
    if (this.key !== key) {
      this.key = key;
      this.fillRows(regions);
    }
    const measure = find('measure').value;
    for (const {id} of regions) {
      const cell = find('distances-rows').querySelector(`[data-id="${id}"] [data-distance]`);
      const distance = model.distances.get(id)?.values[measure] ?? null;
      cell.textContent = distance === null ? none : distance === 0 ? '0' : decimal(distance);
      cell.dataset.value = distance;
      cell.dataset.fresh = model.isCompared(id);
    }
    this.drawOverlay();
  }

  fillRows(regions) {
    const {model, actions} = this;
    const focused = document.activeElement?.closest('#distances-rows tr')?.dataset.id;
    const kind = document.activeElement?.tagName;
    find('distances-rows').replaceChildren(...regions.map((region) => this.row(region, actions.titleOf(region), model.reference === region.id)));
    if (focused !== undefined) find('distances-rows').querySelector(`[data-id="${focused}"] ${kind}`)?.focus();
  }

  row(region, title, isReference) {
    const {model, actions} = this;
    const row = make('tr');
    row.dataset.id = region.id;
    const head = make('th', {scope: 'row'}), name = make('div'), {colour, ink} = styleOf(region.id);
    const badge = make('span', {className: 'badge', textContent: region.id || ''});
    badge.style.background = region.id ? colour : 'var(--text)';
    badge.style.color = ink;
    name.append(badge, make('span', {className: 'name', textContent: title}));
    const choice = make('input', {type: 'radio', name: 'reference', checked: isReference});
    choice.setAttribute('aria-label', `${title} is the reference`);
    choice.addEventListener('change', () => {
      model.reference = region.id;
      actions.changed();
    });
    const out = make('button', {type: 'button', className: 'icon', textContent: '×', title: 'Take out'});
    out.setAttribute('aria-label', `Take ${title} out of the comparison`);
    out.addEventListener('click', () => this.toggle(region.id));
    const cells = [choice, none, out].map((inner) => {
      const cell = make('td');
      cell.append(inner);
      return cell;
    });
    cells[1].dataset.distance = '';
    cells[1].addEventListener('copy', (event) => {
      event.clipboardData.setData('text/plain', cells[1].dataset.value);
      event.preventDefault();
    });
    head.append(name);
    row.append(head, ...cells);
    return row;
  }

  /** Shares, as regions differ in size. */
  drawOverlay() {
    const {model} = this, canvas = find('overlay'), plot = plotOn(canvas);
    if (!plot) return;
    const {context, style} = plot, lines = [];
    let most = 0, least = Infinity;
    for (const id of model.compared) {
      const counts = model.answer(id)?.histogram;
      const total = counts?.reduce((a, b) => a + b, 0);
      if (!total) continue;
      const shares = counts.map((count) => count / total), top = Math.max(...shares);
      most = Math.max(most, top);
      least = Math.min(least, 1 / total);
      lines.push({id, shares, top});
    }
    canvas.setAttribute('aria-label', `Histograms of ${model.compared.map((id) => this.actions.titleOf(model.region(id))).join(', ')} as shares; the table below has their distances`);
    if (!lines.length) return;
    const isLog = this.actions.isLog(), height = heightIn(plot, most, isLog, least);
    const middle = isLog ? least * Math.expm1(Math.log1p(most / least) / 2) : most / 2;
    drawAxes(plot, model.picture.range, most, middle, (share) => `${short(Number((100 * share).toPrecision(3)))} %`);
    const [dark, light] = style.colorScheme.startsWith('dark') ? ['rgba(255,255,255,.25)', 2.4] : ['rgba(0,0,0,.4)', 2.8];
    for (const {id, shares} of lines) {
      const {colour, dash} = styleOf(id);
      context.beginPath();
      trace(plot, shares, height);
      context.lineJoin = 'round';
      context.setLineDash([]);
      context.lineWidth = light;
      context.strokeStyle = dark; // yellow is faint on white
      context.stroke();
      context.setLineDash(id ? dash.split(' ').filter(Boolean).map(Number) : []);
      context.lineWidth = 1.5;
      context.strokeStyle = id ? colour : style.color;
      context.stroke();
    }
    context.setLineDash([]);
    // The number of a region at its peak.
    context.font = `650 10px ${style.fontFamily}`;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    for (const {id, shares, top} of lines) {
      if (!id) continue;
      const {colour, ink} = styleOf(id), text = String(id), wide = 6 + 6 * text.length;
      const x = plot.x + ((shares.indexOf(top) + 0.5) * plot.w) / shares.length;
      const y = Math.max(plot.y, plot.y + plot.h - height(top) - 9);
      context.fillStyle = colour;
      context.fillRect(x - wide / 2, y - 6, wide, 12);
      context.fillStyle = ink;
      context.fillText(text, x, y + 0.5);
    }
  }
}
