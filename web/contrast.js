// The values that are drawn black and white, of each channel: their menu, and the values that fit a channel's histogram.

import {edgeOf, short} from './numbers.js';

const find = (id) => document.getElementById(id);
const positions = 1000; // of a slider

export class Contrast {
  /** `ask(channel)` asks about the whole picture, if it can, and tells whether it did; `numbersOf(channel)`: the channel that
   * answers name. */
  constructor(picture, stage, ask, numbersOf) {
    Object.assign(this, {picture, stage, askAbout: ask, numbersOf});
    this.channel = 0; // the one that the menu shows
    this.unfitted = new Map(); // channel -> does its answer wait for the survey?
    const on = (id, kind, call) => find(id).addEventListener(kind, call);
    on('black', 'input', () => this.moved('black'));
    on('white', 'input', () => this.moved('white'));
    on('contrast-full', 'click', () => this.set(this.channel, ...picture.drawn));
    on('contrast-auto', 'click', () => {
      this.unfitted.set(this.channel, false);
      this.ask();
    });
  }

  set(channel, black, white) {
    this.unfitted.delete(channel);
    this.stage.setContrast(channel, black, white);
    if (channel === this.channel) this.draw();
  }

  /** The menu shows a channel; each of those that are drawn is fitted once, unless bytes are drawn as they are. */
  show(channel, drawn) {
    this.channel = channel;
    for (const one of drawn)
      if (this.picture.type !== '8u' && !this.stage.hasContrast(one) && !this.unfitted.has(one)) this.unfitted.set(one, false);
    this.draw();
  }

  draw() {
    const [darkest, brightest] = this.picture.drawn;
    this.stage.contrast(this.channel).forEach((value, i) => {
      const slider = ['black', 'white'][i];
      find(slider).value = (positions * (value - darkest)) / (brightest - darkest);
      find(`${slider}-value`).textContent = short(value);
    });
  }

  moved(slider) {
    const [darkest, brightest] = this.picture.drawn;
    let black = Number(find('black').value), white = Number(find('white').value);
    if (black >= white) {
      if (slider === 'black') white = Math.min(positions, black + 1), black = white - 1;
      else black = Math.max(0, white - 1), white = black + 1;
    }
    const valueAt = (position) => darkest + (position / positions) * (brightest - darkest);
    this.set(this.channel, valueAt(black), valueAt(white));
  }

  /** Asks about the whole picture in a channel that is to be fitted. */
  ask() {
    for (const [channel, isPending] of this.unfitted) if (!isPending && this.askAbout(channel)) return;
  }

  /** An answer, perhaps about the whole picture. */
  take({channel, regions}) {
    const whole = regions.find(({id}) => id === 0);
    if (!whole) return;
    for (const one of [...this.unfitted.keys()].filter((other) => this.numbersOf(other) === channel))
      if (whole.pending) this.unfitted.set(one, true);
      else this.fit(one, whole);
  }
  /** The survey has passed more rows. */
  surveyed() {
    for (const channel of this.unfitted.keys()) this.unfitted.set(channel, false);
  }

  /** From the lowest to the highest bin that holds more than a thousandth of the pixels on either side. */
  fit(channel, {histogram: counts}) {
    if (!counts.length) return this.unfitted.delete(channel);
    const total = counts.reduce((a, b) => a + b, 0);
    const edge = (i) => edgeOf(this.picture.range, counts.length, i);
    const [darkest, brightest] = this.picture.drawn;
    let from = 0, to = counts.length, sum = 0;
    for (; from < to - 1 && (sum += counts[from]) < total / 1000; ++from);
    for (sum = 0; to - 1 > from && (sum += counts[to - 1]) < total / 1000; --to);
    this.set(channel, Math.max(darkest, edge(from)), Math.min(brightest, edge(to)));
  }
}
