// The picture with its regions: Leaflet pans and zooms, this file draws and drags rectangles.
/* global L */

import {styleOf} from './colours.js';
import {decimal} from './numbers.js';
import {tileLayer} from './tiles.js';

const svgNames = 'http://www.w3.org/2000/svg';
const corners = [['l', 't'], ['', 't'], ['r', 't'], ['l', ''], ['r', ''], ['l', 'b'], ['', 'b'], ['r', 'b']];
const cursors = {lt: 'nwse-resize', rb: 'nwse-resize', rt: 'nesw-resize', lb: 'nesw-resize', t: 'ns-resize', b: 'ns-resize', l: 'ew-resize', r: 'ew-resize'};
const mostDrawn = 2000;

const clamp = (value, least, most) => Math.min(most, Math.max(least, value));

function svg(name, attributes = {}) {
  const element = document.createElementNS(svgNames, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

export class Stage {
  /** `actions`: changed() during a drag, ended(what) after it, select(id), moved(point or null), zoomed(), panned(),
   * problem(). */
  constructor(element, overview, source, model, actions) {
    const {picture} = source;
    Object.assign(this, {element, overview, source, picture, model, actions});
    this.mode = 'pan';
    this.gesture = null;
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.map = L.map(element, {
      crs: L.CRS.Simple, zoomControl: false, attributionControl: false, keyboard: false, doubleClickZoom: false, boxZoom: false,
      zoomSnap: 0.25, zoomDelta: 0.5, wheelPxPerZoomLevel: 120, zoomAnimation: false, fadeAnimation: false, inertia: !still,
      minZoom: -picture.levels.length, maxZoom: 6, maxBounds: this.bounds().pad(0.5),
    });
    this.tiles = tileLayer(source, actions.problem).addTo(this.map);
    this.overlay = document.createElement('div'); // of a layer's canvas
    this.overlay.className = 'overlay';
    element.append(this.overlay);
    this.svg = svg('svg', {class: 'shapes', 'aria-hidden': 'true'});
    element.append(this.svg);
    this.fit();
    this.map.on('move zoom resize', () => this.draw());
    this.map.on('zoomend', () => actions.zoomed());
    this.map.on('moveend resize', () => actions.panned());
    new ResizeObserver(() => this.map.invalidateSize({animate: false})).observe(element);
    for (const kind of ['pointerdown', 'pointermove', 'pointerup', 'pointercancel'])
      element.addEventListener(kind, (event) => this[kind](event), true);
    // Leaflet hears of a mouse by these.
    for (const kind of ['mousedown', 'touchstart'])
      element.addEventListener(kind, (event) => this.gesture && event.stopPropagation(), true);
    element.addEventListener('pointerleave', () => actions.moved(null));
    this.pointers = new Set();
    this.loadOverview();
  }

  bounds() {
    return L.latLngBounds([[-this.picture.height, 0], [0, this.picture.width]]);
  }
  fit() {
    this.map.fitBounds(this.bounds(), {padding: [12, 12], animate: false});
    this.draw();
  }
  zoomBy(step) {
    this.map.setZoom(this.map.getZoom() + step, {animate: false});
  }
  get scale() {
    return 2 ** this.map.getZoom();
  }
  setMode(mode) {
    this.mode = mode;
    this.element.classList.toggle('drawing', mode === 'draw');
    this.element.style.cursor = '';
  }

  /** Pixels of the picture to those of the element, and back. */
  toElement(x, y) {
    return this.map.latLngToContainerPoint([-y, x]);
  }
  toPicture(event) {
    const place = this.element.getBoundingClientRect();
    const at = this.map.containerPointToLatLng([event.clientX - place.left, event.clientY - place.top]);
    return {x: at.lng, y: -at.lat};
  }
  /** The part of the picture that is visible: [x, y, w, h]. */
  visible() {
    const seen = this.map.getBounds();
    const {width, height} = this.picture;
    const left = clamp(Math.floor(seen.getWest()), 0, width - 1), right = clamp(Math.ceil(seen.getEast()), left + 1, width);
    const top = clamp(Math.floor(-seen.getNorth()), 0, height - 1), bottom = clamp(Math.ceil(-seen.getSouth()), top + 1, height);
    return [left, top, right - left, bottom - top];
  }
  reveal([x, y, w, h]) {
    const box = L.latLngBounds([[-y - h, x], [-y, x + w]]);
    if (!this.map.getBounds().intersects(box)) this.map.panTo(box.getCenter(), {animate: false});
  }

  /** What is under a pointer: a handle or the inside of the selected region, or another region. */
  find(event) {
    const reach = event.pointerType === 'touch' ? 22 : 7;
    const place = this.element.getBoundingClientRect();
    const px = event.clientX - place.left, py = event.clientY - place.top;
    const inside = ([x, y, w, h], more) => {
      const a = this.toElement(x, y), b = this.toElement(x + w, y + h);
      return px >= a.x - more && px <= b.x + more && py >= a.y - more && py <= b.y + more ? {a, b} : null;
    };
    const selected = this.model.current();
    if (selected?.id) {
      const at = inside(selected.box, reach);
      if (at) {
        const near = (p, q) => Math.abs(p - q) <= reach;
        // Of a small region the inside remains for moving it.
        const wide = at.b.x - at.a.x > 3 * reach, high = at.b.y - at.a.y > 3 * reach;
        const across = near(px, at.b.x) ? 'r' : near(px, at.a.x) && (wide || px < at.a.x) ? 'l' : '';
        const along = near(py, at.b.y) ? 'b' : near(py, at.a.y) && (high || py < at.a.y) ? 't' : '';
        if (across + along) return {id: selected.id, part: across + along};
        return {id: selected.id, part: 'inside'};
      }
    }
    let found = null; // the smallest of those that overlap
    for (const region of this.model.regions.values())
      if (inside(region.box, 0) && (!found || region.box[2] * region.box[3] < found.box[2] * found.box[3])) found = region;
    return found ? {id: found.id, part: 'other'} : null;
  }

  pointerdown(event) {
    this.pointers.add(event.pointerId);
    if (this.pointers.size > 1) {
      this.cancel(); // two fingers zoom
      return;
    }
    if (event.button !== 0) return;
    this.element.focus({preventScroll: true});
    const at = this.toPicture(event), found = this.find(event);
    const draws = this.mode === 'draw' || event.shiftKey;
    const selected = this.model.current();
    if (found && (found.part !== 'other') && !event.shiftKey) {
      this.gesture = {kind: 'change', part: found.part, id: found.id, from: at, box: [...selected.box]};
    } else if (draws) {
      this.gesture = {kind: 'draw', from: at, over: found?.id};
    } else {
      this.click = {x: event.clientX, y: event.clientY, over: found?.id};
      return; // Leaflet pans
    }
    event.stopPropagation();
    event.preventDefault();
    this.element.setPointerCapture(event.pointerId);
    this.gesture.pointer = event.pointerId;
    this.gesture.start = {x: event.clientX, y: event.clientY};
  }

  pointermove(event) {
    const at = this.toPicture(event);
    const {width, height} = this.picture;
    const isOn = at.x >= 0 && at.y >= 0 && at.x < width && at.y < height;
    this.actions.moved(isOn ? [Math.floor(at.x), Math.floor(at.y)] : null);
    const gesture = this.gesture;
    if (!gesture || event.pointerId !== gesture.pointer) {
      if (this.pointers.size === 0) {
        const found = this.find(event);
        const part = found && (cursors[found.part] ?? cursors[[...found.part].reverse().join('')] ?? {inside: 'move', other: this.mode === 'draw' ? '' : 'pointer'}[found.part]);
        this.element.style.cursor = part ?? '';
      }
      return;
    }
    event.stopPropagation();
    const far = Math.hypot(event.clientX - gesture.start.x, event.clientY - gesture.start.y) > 3;
    gesture.dragged ||= far;
    if (!gesture.dragged) return;
    if (gesture.kind === 'draw') this.model.drag(-1, this.boxBetween(gesture.from, at));
    else this.model.drag(gesture.id, this.changed(gesture, at));
    this.draw();
    this.actions.changed();
  }

  pointerup(event) {
    this.pointers.delete(event.pointerId);
    const gesture = this.gesture;
    if (!gesture) {
      const click = this.click;
      this.click = null;
      if (click && Math.hypot(event.clientX - click.x, event.clientY - click.y) <= 3) this.actions.select(click.over ?? 0);
      return;
    }
    if (event.pointerId !== gesture.pointer) return;
    event.stopPropagation();
    this.gesture = null;
    if (gesture.dragged) this.actions.ended(gesture.kind === 'draw' ? 'drawn' : 'changed');
    else if (gesture.kind === 'draw') this.actions.select(gesture.over ?? 0);
  }

  pointercancel(event) {
    this.pointers.delete(event.pointerId);
    this.cancel();
  }

  /** Forgets an unfinished drag; tells whether there was one. */
  cancel() {
    if (!this.gesture) return false;
    this.gesture = null;
    this.model.drag(0, null);
    this.draw();
    this.actions.ended('cancelled');
    return true;
  }

  /** The pixels between two points, at least one. */
  boxBetween(a, b) {
    const {width, height} = this.picture;
    const left = clamp(Math.floor(Math.min(a.x, b.x)), 0, width - 1), right = clamp(Math.ceil(Math.max(a.x, b.x)), left + 1, width);
    const top = clamp(Math.floor(Math.min(a.y, b.y)), 0, height - 1), bottom = clamp(Math.ceil(Math.max(a.y, b.y)), top + 1, height);
    return [left, top, right - left, bottom - top];
  }

  /** The box of a gesture after its pointer has moved. */
  changed({part, from, box: [x, y, w, h]}, at) {
    const {width, height} = this.picture;
    const dx = Math.round(at.x - from.x), dy = Math.round(at.y - from.y);
    if (part === 'inside') return [clamp(x + dx, 0, width - w), clamp(y + dy, 0, height - h), w, h];
    let left = x, top = y, right = x + w, bottom = y + h;
    if (part.includes('l')) left = clamp(x + dx, 0, right - 1);
    if (part.includes('r')) right = clamp(right + dx, left + 1, width);
    if (part.includes('t')) top = clamp(y + dy, 0, bottom - 1);
    if (part.includes('b')) bottom = clamp(bottom + dy, top + 1, height);
    return [left, top, right - left, bottom - top];
  }

  draw() {
    if (!this.svg) return;
    const size = this.map.getSize();
    this.svg.setAttribute('width', size.x);
    this.svg.setAttribute('height', size.y);
    const zoom = this.map.getZoom(), layer = this.tiles.getContainer();
    layer?.classList.toggle('sharp', zoom > 0.5);
    layer?.classList.toggle('between', !Number.isInteger(zoom));
    this.drawOverlay();
    const shapes = [];
    const current = this.model.current();
    let drawn = 0;
    for (const region of this.model.regions.values()) {
      if (region.id === current?.id) continue;
      const shape = this.shape(region.id, region.box, false, size);
      if (!shape) continue;
      shapes.push(shape);
      if (++drawn === mostDrawn) break;
    }
    if (current?.id) {
      const shape = this.shape(current.id, current.box, true, size);
      if (shape) shapes.push(shape);
    }
    this.svg.replaceChildren(...shapes);
    this.drawOverview();
  }

  /** Null for a region outside the element. */
  shape(id, [x, y, w, h], isSelected, size) {
    const a = this.toElement(x, y), b = this.toElement(x + w, y + h);
    if (b.x < -20 || b.y < -20 || a.x > size.x + 20 || a.y > size.y + 20) return null;
    const {colour, ink, dash} = styleOf(id);
    const group = svg('g', {class: isSelected ? 'selected' : ''});
    const place = {x: a.x, y: a.y, width: Math.max(1, b.x - a.x), height: Math.max(1, b.y - a.y)};
    group.append(svg('rect', {...place, class: 'halo'}));
    group.append(svg('rect', {...place, class: 'line', stroke: colour, 'stroke-dasharray': dash}));
    if (id > 0) {
      const score = this.model.scores.get(id);
      const text = score === undefined ? String(id) : `${id} · ${decimal(score, 3)}`, wide = 10 + 7 * text.length;
      const top = a.y >= 19 ? a.y - 19 : a.y + 2;
      group.append(svg('rect', {x: a.x - 1, y: top, width: wide, height: 17, rx: 3, class: 'tag'}));
      group.lastChild.style.fill = colour;
      const label = svg('text', {x: a.x - 1 + wide / 2, y: top + 12.5, fill: ink});
      label.textContent = text;
      group.append(label);
    }
    if (isSelected && id > 0)
      for (const [across, along] of corners) {
        const cx = across === 'l' ? a.x : across === 'r' ? b.x : (a.x + b.x) / 2, cy = along === 't' ? a.y : along === 'b' ? b.y : (a.y + b.y) / 2;
        group.append(svg('circle', {cx, cy, r: matchMedia('(pointer: coarse)').matches ? 9 : 5, class: 'handle', stroke: colour}));
      }
    return group;
  }

  /** Shows a canvas over the picture: the pixels `box` of a level. Null: none. */
  setOverlay(canvas, level = 0, box = null) {
    this.overlaid = canvas && {canvas, box: box.map((side) => side * 2 ** level), isReduced: level > 0};
    this.overlay.replaceChildren(...(canvas ? [canvas] : []));
    this.drawOverlay();
  }
  drawOverlay() {
    if (!this.overlaid) return;
    const {canvas, box: [x, y, w, h]} = this.overlaid;
    const a = this.toElement(x, y), b = this.toElement(x + w, y + h);
    canvas.style.left = `${a.x}px`;
    canvas.style.top = `${a.y}px`;
    canvas.style.width = `${b.x - a.x}px`;
    canvas.style.height = `${b.y - a.y}px`;
    this.overlay.classList.toggle('sharp', this.map.getZoom() > 0.5);
  }

  setContrast(channel, black, white) {
    this.tiles.setContrast(channel, black, white);
    this.paintOverview();
  }
  /** [black, white] of a channel. */
  contrast(channel) {
    return this.tiles.contrast(channel);
  }
  hasContrast(channel) {
    return this.tiles.contrasts.has(channel);
  }
  /** Draws these channels, {channel, tint}. */
  setParts(parts) {
    this.tiles.setParts(parts);
    this.loadOverview();
  }

  /** The survey has come further: tiles of small levels have more of the picture. */
  reload(isComplete) {
    this.tiles.reload();
    if (isComplete) this.loadOverview();
  }

  /** Another frame of a video. */
  async showFrame(number) {
    await this.tiles.setGeneration(number + 1);
    if (!this.overview.hidden) this.loadOverview();
  }

  async loadOverview() {
    const {parts} = this.tiles;
    try {
      const small = await this.tiles.fetch(this.picture.levels.length - 1, 0, 0);
      if (parts !== this.tiles.parts) return; // other channels are on their way
      this.small = small;
    } catch {
      return; // the layer says what is wrong
    }
    this.paintOverview();
  }
  paintOverview() {
    if (this.small?.length !== this.tiles.parts.length) return;
    const picture = document.createElement('canvas');
    this.tiles.draw(picture, this.small);
    this.smallPicture = picture;
    this.drawOverview();
  }
  /** A small picture with the visible part, while that is not all. */
  drawOverview() {
    if (!this.smallPicture) return;
    const [x, y, w, h] = this.visible();
    const {width, height} = this.picture;
    this.overview.hidden = w * h > 0.8 * width * height || this.element.clientWidth < 480;
    if (this.overview.hidden) return;
    const scale = 132 / Math.max(width, height), ratio = devicePixelRatio;
    const wide = Math.max(8, Math.round(width * scale)), high = Math.max(8, Math.round(height * scale));
    this.overview.width = wide * ratio;
    this.overview.height = high * ratio;
    this.overview.style.width = `${wide}px`;
    this.overview.style.height = `${high}px`;
    const context = this.overview.getContext('2d');
    context.scale(ratio, ratio);
    context.drawImage(this.smallPicture, 0, 0, wide, high);
    context.fillStyle = 'rgba(0,0,0,.45)';
    context.beginPath();
    context.rect(0, 0, wide, high);
    context.rect(x * scale, y * scale, Math.max(3, w * scale), Math.max(3, h * scale));
    context.fill('evenodd');
    context.strokeStyle = '#fff';
    context.lineWidth = 1.5;
    context.strokeRect(x * scale, y * scale, Math.max(3, w * scale), Math.max(3, h * scale));
  }
}
