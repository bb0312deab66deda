import { SkippingClock } from './clock.js';

/** A clock that moves only when a test moves it. */
export class FakeClock extends SkippingClock {
  constructor() {
    super(1_000);
  }

  /** Timers that are set and have not fired. */
  get pending(): number {
    return this.timers.size;
  }

  /** Moves on, firing what is due on the way in the order it is due. */
  pass(ms: number): void {
    const end = this.time + ms;
    while (this.skip(end));
    this.time = end;
  }
}
