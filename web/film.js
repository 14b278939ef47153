// A video: the bar below the picture, and the trackers that follow regions.

import {decimal, integer, none} from './numbers.js';

const find = (id) => document.getElementById(id);

function clock(seconds) {
  const minutes = Math.floor(seconds / 60);
  return `${String(minutes).padStart(2, '0')}:${(seconds - 60 * minutes).toFixed(1).padStart(4, '0')}`;
}

export class FilmBar {
  /** `send(message)` resolves when the server has taken it. `actions`: problem(error), speak(sentence). */
  constructor(video, model, send, actions) {
    Object.assign(this, {video, model, send, actions, state: null, slides: false});
    find('film').hidden = false;
    for (const name of video.trackers) find('tracker').append(Object.assign(document.createElement('option'), {value: name, textContent: name}));
    const on = (id, kind, call) => find(id).addEventListener(kind, call);
    on('play', 'click', () => this.toggle());
    on('step-back', 'click', () => this.step(-1));
    on('step-on', 'click', () => this.step(1));
    on('follow', 'click', () => this.follow());
    on('tracker', 'change', () => this.isFollowed(model.selected) && this.follow(true));
    on('position', 'input', () => {
      this.slides = true;
      this.act({do: 'seek', frame: Number(find('position').value)});
    });
    on('position', 'change', () => (this.slides = false));
  }

  act(message) {
    this.send(message).catch(this.actions.problem);
  }
  toggle() {
    this.act({do: this.state?.plays ? 'pause' : 'play'});
  }
  step(by) {
    this.act({do: 'step', by});
  }
  isFollowed(id) {
    return this.model.followed.has(id);
  }
  /** Follows the selected region, or stops; `anew`: begins here with another tracker. */
  follow(anew = false) {
    const {id} = this.model.current();
    if (id <= 0) return;
    const starts = anew || !this.isFollowed(id);
    this.act({do: 'follow', id, algorithm: starts ? find('tracker').value : null});
    this.actions.speak(starts ? `Region ${id} is followed` : `Region ${id} is no longer followed`);
  }

  /** `state`: as a server sends it. */
  take(state) {
    const {model} = this, old = this.state;
    this.state = state;
    model.frame = state.number;
    model.followed = new Set(state.followed);
    model.scores = new Map(state.boxes.map(({id, distance}) => [id, distance]));
    for (const {id, box} of state.boxes) {
      const region = model.regions.get(id);
      if (region) model.regions.set(id, {...region, box});
    }
    if (old?.plays !== state.plays) {
      find('play').setAttribute('aria-label', state.plays ? 'Pause' : 'Play');
      find('play').title = state.plays ? 'Pause (Space)' : 'Play (Space)';
      find('play').dataset.plays = state.plays;
    }
    const slider = find('position');
    slider.disabled = state.frames === null;
    slider.max = Math.max(0, (state.frames ?? 1) - 1);
    if (!this.slides && !state.seeks) slider.value = state.number;
    const time = state.seconds === null ? '' : clock(state.seconds);
    slider.setAttribute('aria-valuetext', `frame ${state.number}${time && `, ${time}`}`);
    find('time').textContent = time;
    find('frame').textContent = `frame ${integer(state.number)}${state.frames === null ? '' : ` / ${integer(state.frames - 1)}`}`;
    find('frame').dataset.number = state.number;
    find('film').classList.toggle('seeks', state.seeks);
    this.show();
    if (state.problem && state.problem !== old?.problem) this.actions.problem(new Error(state.problem));
  }

  /** Of the selected region. */
  show() {
    const {id} = this.model.current(), isFollowed = this.isFollowed(id);
    find('tracking').hidden = id <= 0;
    find('follow').setAttribute('aria-pressed', isFollowed);
    const score = this.model.scores.get(id);
    find('score').hidden = !isFollowed;
    find('score').textContent = `distance ${score === undefined ? none : decimal(score, 4)}`;
    find('score').dataset.value = score ?? 'null';
  }
}
