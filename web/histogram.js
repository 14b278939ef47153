// The histogram of a region, drawn.

import {integer, short} from './numbers.js';

const left = 44, right = 10, top = 8, bottom = 20;

/** Clears a canvas and draws its grid. Null while the canvas is not visible. */
export function plotOn(canvas) {
  const wide = canvas.clientWidth, high = canvas.clientHeight, ratio = devicePixelRatio;
  if (!wide || !high) return null;
  canvas.width = Math.round(wide * ratio);
  canvas.height = Math.round(high * ratio);
  const context = canvas.getContext('2d');
  context.scale(ratio, ratio);
  const style = getComputedStyle(canvas);
  context.font = `11px ${style.fontFamily}`;
  const plot = {context, style, x: left, y: top, w: wide - left - right, h: high - top - bottom};
  context.strokeStyle = style.getPropertyValue('--line').trim();
  context.beginPath();
  for (const part of [0, 0.5, 1]) {
    const y = Math.round(plot.y + part * plot.h) + 0.5;
    context.moveTo(plot.x, y);
    context.lineTo(plot.x + plot.w, y);
  }
  context.stroke();
  return plot;
}

/** The height of a value between 0 and `most`. With a logarithm, values below `least` are flat. */
export function heightIn(plot, most, isLog, least = 1) {
  return (value) => (isLog ? Math.log1p(value / least) / Math.log1p(most / least) : value / most) * plot.h;
}

/** Numbers at the axes: `label` makes the text of a height. */
export function drawAxes({context, style, x, y, w, h}, [lo, hi], most, middle, label) {
  context.fillStyle = style.getPropertyValue('--quiet').trim();
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  context.fillText(label(most), x - 6, y + 3);
  if (middle !== null) context.fillText(label(middle), x - 6, y + h / 2);
  context.fillText('0', x - 6, y + h - 2);
  context.textBaseline = 'alphabetic';
  for (const [part, align] of [[0, 'left'], [0.5, 'center'], [1, 'right']]) {
    context.textAlign = align;
    context.fillText(short(lo + part * (hi - lo)), x + part * w, y + h + bottom - 5);
  }
}

/** Adds the outline of a histogram to the path, from the lower left to the lower right. */
export function trace({context, x, y, w, h}, values, height) {
  const step = w / values.length;
  context.moveTo(x, y + h);
  values.forEach((value, i) => {
    const level = y + h - height(value);
    context.lineTo(x + i * step, level);
    context.lineTo(x + (i + 1) * step, level);
  });
  context.lineTo(x + w, y + h);
}

export class Histogram {
  constructor(canvas, reading) {
    Object.assign(this, {canvas, reading, isLog: false, isShare: false, at: null, data: null});
    canvas.addEventListener('pointermove', (event) => {
      this.at = event.offsetX;
      this.draw();
    });
    canvas.addEventListener('pointerleave', () => {
      this.at = null;
      this.draw();
    });
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  /** `data`: {counts, range, colour or null, mean}; null: nothing. */
  show(data) {
    this.data = data;
    this.draw();
  }

  draw() {
    const {data} = this, plot = plotOn(this.canvas);
    if (!plot) return;
    const {context, style} = plot;
    this.reading.textContent = '\u00a0';
    if (!data) return;
    const {counts, range: [lo, hi], colour, mean} = data;
    const most = Math.max(1, ...counts), total = counts.reduce((a, b) => a + b, 0) || 1;
    const step = plot.w / counts.length;

    context.fillStyle = colour ?? style.getPropertyValue('--accent').trim();
    context.beginPath();
    trace(plot, counts, heightIn(plot, most, this.isLog));
    context.fill();
    const label = (count) => (this.isShare ? `${short((100 * count) / total)} %` : short(Math.round(count)));
    drawAxes(plot, data.range, most, most > 1 ? (this.isLog ? Math.expm1(Math.log1p(most) / 2) : most / 2) : null, label);
    if (mean !== null && mean >= lo && mean <= hi) {
      const x = plot.x + ((mean - lo) / (hi - lo)) * plot.w;
      context.fillStyle = style.color;
      context.beginPath();
      context.moveTo(x, plot.y + plot.h - 5);
      context.lineTo(x + 4, plot.y + plot.h + 3);
      context.lineTo(x - 4, plot.y + plot.h + 3);
      context.fill();
    }
    if (this.at === null) return;
    const bin = Math.min(counts.length - 1, Math.max(0, Math.floor((this.at - plot.x) / step)));
    context.fillStyle = style.color;
    context.globalAlpha = 0.25;
    context.fillRect(plot.x + bin * step, plot.y, Math.max(1, step), plot.h);
    context.globalAlpha = 1;
    const edge = (i) => short(lo + (i * (hi - lo)) / counts.length);
    this.reading.textContent = `${edge(bin)} to ${edge(bin + 1)}: ${integer(counts[bin])} px, ${((100 * counts[bin]) / total).toFixed(2)} %`;
  }
}
