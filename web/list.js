// The list of regions: sorted, and only its visible rows are elements.

import {styleOf} from './colours.js';
import {decimal, integer, none} from './numbers.js';

const rowHeight = 36;

export class RegionList {
  /** `actions`: select(id), drawn() after other rows became visible. */
  constructor(model, actions) {
    Object.assign(this, {model, actions, sort: 'id', falls: false});
    this.rows = document.getElementById('rows');
    this.space = document.getElementById('rows-height');
    this.rows.addEventListener('scroll', () => {
      this.draw();
      actions.drawn();
    });
    for (const head of document.querySelectorAll('#list [data-sort]'))
      head.addEventListener('click', () => {
        this.falls = this.sort === head.dataset.sort ? !this.falls : false;
        this.sort = head.dataset.sort;
        for (const other of document.querySelectorAll('#list [data-sort]'))
          other.parentElement.setAttribute('aria-sort', other !== head ? 'none' : this.falls ? 'descending' : 'ascending');
        this.draw();
      });
    this.rows.addEventListener('keydown', (event) => this.onKey(event));
    new ResizeObserver(() => this.draw()).observe(this.rows);
  }

  ordered() {
    const {model, sort} = this;
    const value = ({id, box}) => (sort === 'id' ? id : sort === 'pixels' ? box[2] * box[3] : (model.answer(id)?.[sort] ?? Infinity));
    const all = [...model.regions.values()];
    if (sort !== 'id' || this.falls) all.sort((a, b) => (this.falls ? value(b) - value(a) : value(a) - value(b)) || a.id - b.id);
    return all;
  }

  span(count) {
    const first = Math.max(0, Math.floor(this.rows.scrollTop / rowHeight) - 1);
    return [first, Math.min(count, first + Math.ceil(this.rows.clientHeight / rowHeight) + 3)];
  }

  /** The ids of the rows that can be seen. */
  visible() {
    const all = this.ordered(), [first, end] = this.span(all.length);
    return all.slice(first, end).map((region) => region.id);
  }

  reveal(id) {
    const at = this.ordered().findIndex((region) => region.id === id);
    if (at < 0) return;
    const top = at * rowHeight, {scrollTop, clientHeight} = this.rows;
    if (top < scrollTop) this.rows.scrollTop = top;
    else if (top + rowHeight > scrollTop + clientHeight) this.rows.scrollTop = top + rowHeight - clientHeight;
  }

  draw() {
    const all = this.ordered(), [first, end] = this.span(all.length);
    document.getElementById('regions-count').textContent = all.length ? integer(all.length) : '';
    document.getElementById('no-regions').hidden = all.length > 0;
    document.getElementById('list').hidden = all.length === 0;
    document.getElementById('list').setAttribute('aria-rowcount', all.length + 1);
    const focused = this.rows.contains(document.activeElement) ? Number(document.activeElement.dataset.id) : 0;
    this.space.style.height = `${all.length * rowHeight}px`;
    this.space.replaceChildren(...all.slice(first, end).map((region, i) => this.row(region, first + i)));
    if (focused) this.space.querySelector(`[data-id="${focused}"]`)?.focus({preventScroll: true});
  }

  row(region, at) {
    const {model} = this, isSelected = region.id === model.selected;
    const answer = model.answer(region.id), {colour, ink} = styleOf(region.id);
    const row = document.createElement('div');
    row.setAttribute('role', 'row');
    row.setAttribute('aria-rowindex', at + 2);
    row.setAttribute('aria-selected', isSelected);
    row.tabIndex = isSelected || (!model.selected && at === 0) ? 0 : -1;
    row.dataset.id = region.id;
    row.style.transform = `translateY(${at * rowHeight}px)`;
    const cell = (text, ...inner) => {
      const one = document.createElement('span');
      one.setAttribute('role', 'gridcell');
      one.append(...inner, text);
      row.append(one);
    };
    const badge = document.createElement('span');
    badge.className = 'badge';
    badge.textContent = region.id;
    badge.style.background = colour;
    badge.style.color = ink;
    const name = document.createElement('span');
    name.textContent = region.name || `${region.box[2]}×${region.box[3]}`;
    name.className = region.name ? 'name' : 'name quiet';
    cell('', badge, name);
    cell(integer(region.box[2] * region.box[3]));
    cell(answer ? decimal(answer.mean, 5) : none);
    cell(answer ? decimal(answer.std, 5) : none);
    row.addEventListener('click', () => this.actions.select(region.id));
    return row;
  }

  onKey(event) {
    const id = Number(event.target.dataset.id), all = this.ordered();
    const at = all.findIndex((region) => region.id === id);
    const to = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1}[event.key];
    if (event.key === 'Enter' || event.key === ' ') this.actions.select(id);
    else if (to !== undefined && all[to]) {
      this.actions.select(all[to].id);
      this.space.querySelector(`[data-id="${all[to].id}"]`)?.focus();
    } else return;
    event.preventDefault();
  }
}
