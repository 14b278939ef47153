// Tiles: their bytes, their colours, and the layer of Leaflet that shows them.
/* global L */

const side = 256, header = 20, noValue = 65535;

/** The values of a tile, as view/picture.hpp writes them. */
export function readTile(buffer) {
  const view = new DataView(buffer);
  if (view.getUint32(0) !== 0x6172746c || view.getUint8(4) !== 1) throw new Error('this is no tile');
  const type = view.getUint8(5), channels = view.getUint8(6);
  const width = view.getUint16(8, true), height = view.getUint16(10, true);
  const values = new [Uint8Array, Uint16Array, Float32Array][type](buffer, header);
  if (values.length !== width * height * channels) throw new Error('a tile was cut off');
  return {type, channels, width, height, scale: view.getFloat32(12, true), offset: view.getFloat32(16, true), values};
}

/** The gray of each entry of a tile, between the values `black` and `white`. */
function grays(tile, black, white) {
  const entries = tile.type === 0 ? 256 : 65536;
  const gray = new Uint8ClampedArray(entries);
  const slope = white > black ? 255 / (white - black) : 0;
  for (let i = 0; i < entries; ++i) gray[i] = (tile.offset + tile.scale * i - black) * slope;
  return gray;
}

/** Draws tiles of one place on a canvas, their colours added. Each is {tile, gray, tint}: `tint` is [red, green, blue] from 0
 * to 1, or null for the tile's own colours. */
export function paint(canvas, parts) {
  canvas.width = parts[0].tile.width;
  canvas.height = parts[0].tile.height;
  const context = canvas.getContext('2d');
  const image = context.createImageData(canvas.width, canvas.height);
  const out = image.data;
  for (const {tile: {type, channels, values}, gray, tint} of parts) {
    const missing = type === 1 ? noValue : -1;
    const second = channels === 3 ? 1 : 0, third = 2 * second;
    const [red, green, blue] = tint ?? [1, 1, 1];
    for (let i = 0, at = 0; at < out.length; i += channels, at += 4) {
      if (values[i] === missing) continue;
      out[at] += red * gray[values[i]];
      out[at + 1] += green * gray[values[i + second]];
      out[at + 2] += blue * gray[values[i + third]];
      out[at + 3] = 255;
    }
  }
  context.putImageData(image, 0, 0);
}

/** A tile that could not be had: hatched. */
function hatch(canvas) {
  canvas.width = canvas.height = side;
  const context = canvas.getContext('2d');
  context.strokeStyle = 'rgba(128,128,128,.6)';
  context.beginPath();
  for (let i = -side; i < side; i += 12) {
    context.moveTo(i, side);
    context.lineTo(i + side, 0);
  }
  context.stroke();
}

/** `source`: see source.js. `problem(sentence)` is called for a tile that cannot be had. */
export function tileLayer(source, problem) {
  const {picture} = source;
  const Layer = L.GridLayer.extend({
    initialize(options) {
      L.GridLayer.prototype.initialize.call(this, options);
      this.shown = new Map(); // canvas -> {tiles, stop}
      this.parts = [{channel: picture.colour ?? 0, tint: null}]; // the channels that are drawn
      this.contrasts = new Map(); // channel -> [black, white]
      this.grays = new Map(); // channel -> {key, gray}
      this.generation = picture.generation;
      this.on('tileunload', ({tile}) => {
        this.shown.get(tile)?.stop.abort();
        this.shown.delete(tile);
      });
    },
    createTile(coords, done) {
      const canvas = document.createElement('canvas');
      canvas.setAttribute('aria-hidden', 'true');
      const stop = new AbortController();
      const entry = {tiles: null, stop};
      this.shown.set(canvas, entry);
      entry.request = async () => {
        for (;;) {
          const {generation} = this;
          try {
            return await this.fetch(-coords.z, coords.x, coords.y, stop.signal);
          } catch (error) {
            if (stop.signal.aborted || generation === this.generation) throw error; // else another frame is shown meanwhile
          }
        }
      };
      entry.request()
        .then((tiles) => {
          if (stop.signal.aborted) return;
          entry.tiles = tiles;
          this.draw(canvas, tiles);
          // Tiles at the right and the lower edge are smaller. Between two sizes of tiles the browser scales all of
          // them, and a pixel of overlap hides the seams.
          const scale = this.getTileSize().x / side;
          canvas.style.width = `calc(${tiles[0].width * scale}px + var(--seam))`;
          canvas.style.height = `calc(${tiles[0].height * scale}px + var(--seam))`;
          done(null, canvas);
        })
        .catch((error) => {
          if (stop.signal.aborted) return;
          hatch(canvas);
          problem(`A part of the picture is missing: ${error.message}`);
          done(null, canvas);
        });
      return canvas;
    },
    /** The tiles of one place, one of each channel that is drawn. */
    fetch(level, column, row, signal) {
      return Promise.all(this.parts.map(({channel}) => source.tile(channel, level, column, row, signal, this.generation)));
    },
    draw(canvas, tiles) {
      paint(canvas, this.parts.map(({channel, tint}, i) => ({tile: tiles[i], gray: this.gray(channel, tiles[i]), tint})));
    },
    contrast(channel) {
      return this.contrasts.get(channel) ?? picture.drawn;
    },
    gray(channel, tile) {
      const [black, white] = this.contrast(channel);
      const key = `${tile.type} ${tile.scale} ${tile.offset} ${black} ${white}`;
      if (this.grays.get(channel)?.key !== key) this.grays.set(channel, {key, gray: grays(tile, black, white)});
      return this.grays.get(channel).gray;
    },
    /** Requests the tiles that are shown again, and draws each in its place. */
    reload() {
      for (const [canvas, entry] of this.shown)
        if (entry.tiles)
          entry.request()
            .then((tiles) => this.draw(canvas, (entry.tiles = tiles)))
            .catch(() => {}); // the tile that is there remains
    },
    /** Shows another frame: all tiles at once, and of frames that come meanwhile the newest. */
    async setGeneration(generation) {
      this.generation = generation;
      if (this.turns) return;
      this.turns = true;
      for (let shown = null; shown !== this.generation; ) {
        shown = this.generation;
        const entries = [...this.shown];
        const tiles = await Promise.allSettled(entries.map(([, entry]) => entry.request()));
        entries.forEach(([canvas, entry], i) => {
          if (tiles[i].status === 'fulfilled' && this.shown.has(canvas)) this.draw(canvas, (entry.tiles = tiles[i].value));
        });
      }
      this.turns = false;
    },
    setContrast(channel, black, white) {
      this.contrasts.set(channel, [black, white]);
      for (const [canvas, {tiles}] of this.shown) if (tiles) this.draw(canvas, tiles);
    },
    setParts(parts) {
      const channels = (list) => String(list.map(({channel}) => channel));
      const isOther = channels(parts) !== channels(this.parts);
      this.parts = parts;
      if (isOther) this.redraw();
      else for (const [canvas, {tiles}] of this.shown) if (tiles) this.draw(canvas, tiles);
    },
  });
  return new Layer({
    tileSize: side,
    bounds: [[-picture.height, 0], [0, picture.width]],
    maxNativeZoom: 0,
    minNativeZoom: 1 - picture.levels.length,
    minZoom: -30,
    maxZoom: 30,
    noWrap: true,
    keepBuffer: 1,
    updateWhenIdle: false,
    updateWhenZooming: true,
    updateInterval: 50,
  });
}
