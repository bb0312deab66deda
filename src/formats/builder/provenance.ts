import type { Place } from '../../graph/place.js';
import type { DataSource } from './sources.js';

/** What the caller of the builder wrote, as the checker's findings lead back to it. */
export type Origin =
  | { readonly kind: 'workflow' }
  | { readonly kind: 'argument'; readonly name: string }
  | { readonly kind: 'instruction' }
  | ({ readonly kind: 'step' } & StepOrigin)
  /** The value of an argument of the tool, or a part of the result. */
  | ({ readonly kind: 'input'; readonly source: DataSource } & StepOrigin)
  /** Guidance or a summary. */
  | ({ readonly kind: 'guidance' | 'transform' } & StepOrigin);

/** The step something was written in; the result of a workflow is one as well. */
export interface StepOrigin {
  /** Id of the step. */
  readonly step: string;
  /** The bindings it may read, in order. */
  readonly available: () => readonly string[];
}

/** The file of every place below: a program has no text of its own for the checker to point at. */
const FILE = 'builder';

/** Numbers what was written, in order, and gives each part a line of its own. */
export class Provenance {
  readonly #origins: Origin[] = [];

  /** A place for the next part. */
  place(origin: Origin): Place {
    this.#origins.push(origin);
    const line = this.#origins.length;
    return { file: FILE, span: [line, 1, line, 2] };
  }

  /** What was written at a place of this graph. */
  at(place: Place | undefined): Origin {
    return this.#origins[lineOf(place) - 1] ?? { kind: 'workflow' };
  }
}

/** The number of a part, counted from 1; 0 for the workflow as a whole. */
export function lineOf(place: Place | undefined): number {
  return place?.file === FILE ? place.span[0] : 0;
}
