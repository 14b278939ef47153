// A picture beyond memory is surveyed while it is shown: how far, and what is new with each step.

import {integer} from './numbers.js';

export class SurveyState {
  /** `element`: where the share is shown. `passed(isComplete)` is called when more rows are surveyed. */
  constructor(element, passed) {
    Object.assign(this, {element, passed, rows: -1});
  }

  /** `survey`: {rows, of, problem}, as a server sends it. */
  take({rows, of, problem}) {
    const isNew = rows !== this.rows; // it begins again when the histogram's range changes
    this.rows = rows;
    this.element.hidden = rows === of;
    this.element.textContent = problem ? `surveyed ${this.share(rows, of)}, then: ${problem}` : `surveyed ${this.share(rows, of)}`;
    if (isNew) this.passed(rows === of);
  }
  share(rows, of) {
    return `${integer(Math.floor((100 * rows) / of))} %`;
  }
}
