// The source of a page in one file: its pixels and regions are in the file, and the page itself counts.

import {answerOf, distancesOf} from './count.js';
import {edgeOf} from './numbers.js';

const arrays = {
  '8u': Uint8Array, '8s': Int8Array, '16u': Uint16Array, '16s': Int16Array, '32u': Uint32Array, '32s': Int32Array,
  '64u': BigUint64Array, '64s': BigInt64Array, '32f': Float32Array, '64f': Float64Array,
};
const side = 256, whites = 65534; // of tiles, as view/picture.hpp

function bytesOf(base64) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes.buffer;
}

/** A tile of a level: means of squares of pixels, NaN left out. */
function tileOf(planes, picture, level, column, row) {
  const {width, height} = picture, [levelWidth, levelHeight] = picture.levels[level], step = 2 ** level;
  const wide = Math.min(side, levelWidth - column * side), high = Math.min(side, levelHeight - row * side);
  const isBytes = picture.type === '8u', [black, white] = picture.drawn;
  const tile = {
    type: isBytes ? 0 : 1, channels: planes.length, width: wide, height: high, scale: isBytes ? 1 : (white - black) / whites,
    offset: isBytes ? 0 : black, values: new (isBytes ? Uint8Array : Uint16Array)(wide * high * planes.length),
  };
  planes.forEach(({values}, p) => {
    for (let y = 0; y < high; ++y)
      for (let x = 0; x < wide; ++x) {
        const left = (column * side + x) * step, top = (row * side + y) * step;
        const right = Math.min(width, left + step), bottom = Math.min(height, top + step);
        let sum = 0, count = 0;
        for (let v = top; v < bottom; ++v)
          for (let u = left; u < right; ++u) {
            const value = Number(values[v * width + u]);
            if (value !== value) continue;
            sum += value;
            ++count;
          }
        const value = sum / count;
        const entry = isBytes ? Math.round(value) : value !== value ? 65535 : Math.round(Math.min(whites, Math.max(0, (value - black) / tile.scale)));
        tile.values[(y * wide + x) * planes.length + p] = entry;
      }
  });
  return tile;
}

/** Answers as a server's link does, and keeps the regions. */
class EmbeddedLink {
  constructor(data, planes, handlers) {
    Object.assign(this, {data, planes, handlers, open: true, busy: false, revision: 0});
    this.regions = new Map(data.regions.map((region) => [region.id, region]));
    this.next = Math.max(0, ...this.regions.keys()) + 1;
    setTimeout(() => {
      handlers.opened();
      this.tell();
    });
  }

  tell() {
    this.handlers.regions([...this.regions.values()], ++this.revision);
  }

  ask(channel, regions, final, reference = null) {
    if (this.busy) return false;
    this.busy = true;
    setTimeout(() => {
      const answers = regions.map(([id, ...box]) => ({id, ...answerOf(this.planes[channel], this.data, box)}));
      const target = reference === null ? null : answers.find(({id}) => id === reference);
      if (target) for (const answer of answers) answer.distances = distancesOf(answer.histogram, target.histogram);
      this.busy = false;
      this.handlers.answer({channel, final, range: this.data.picture.range, regions: answers});
    });
    return true;
  }

  async set(id, name, box) {
    const known = id ?? this.next++;
    this.regions.set(known, {id: known, name, box});
    setTimeout(() => this.tell());
    return known;
  }
  async remove(id) {
    this.regions.delete(id);
    setTimeout(() => this.tell());
    return id;
  }
  async setRange(range) {
    const {bins} = this.data.picture;
    this.data.edges = Array.from({length: bins + 1}, (_, i) => edgeOf(range, bins, i));
    this.handlers.range(range);
  }
}

export async function openSource() {
  const data = JSON.parse(document.getElementById('picture-data').textContent);
  const {picture} = data;
  const planes = data.planes.map((text) => ({values: new arrays[data.stored](bytesOf(text)), width: picture.width, type: picture.type}));
  return {
    picture,
    place: 'in this file',
    exports: false,
    link: (handlers) => new EmbeddedLink(data, planes, handlers),
    tile: async (channel, level, column, row) =>
      tileOf(channel === picture.colour ? planes.slice(1, 4) : [planes[channel]], picture, level, column, row),
  };
}
