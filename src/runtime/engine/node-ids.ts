import { parseNodeKey } from './node-key.js';

/** Texts that are made of a node's key alone. Each is made once, for whoever asks first. */
export class NodeIds {
  readonly #key: string;
  #attempt: string | undefined;
  #timer: string | undefined;
  #place: string | undefined;

  constructor(key: string) {
    this.#key = key;
  }

  /** Id of its first attempt in the first round. */
  get attempt(): string {
    this.#attempt ??= `${this.#key}#1`;
    return this.#attempt;
  }

  /** Id of the timer that bounds that attempt. */
  get timer(): string {
    this.#timer ??= `${this.attempt}:timer`;
    return this.#timer;
  }

  /** Where the node stands, as two members of a list in canonical JSON: its ids from the top, and all indices. */
  get place(): string {
    this.#place ??= placeOf(this.#key);
    return this.#place;
  }
}

function placeOf(key: string): string {
  const parts = parseNodeKey(key);
  const path = parts.map(({ id }) => id).join('/');
  const indices = parts.flatMap((part) => part.indices);
  return `${JSON.stringify(path)},${JSON.stringify(indices)}`;
}
