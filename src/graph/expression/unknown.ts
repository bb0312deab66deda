import type { Json, Value } from '../json.js';

type Path = readonly (string | number)[];

/** What is known of a value that a call to come will give. */
export interface UnknownOptions {
  /** What it derives from: names of steps and inputs, as a reader knows them. */
  readonly sources: readonly string[];
  /** The text that stands for what is read from the value by a path. Default: that of a computed value. */
  readonly text?: (path: Path) => string;
  /** No call to come will give it. Whatever is computed from it is lost as well. Default: false. */
  readonly isLost?: boolean;
}

/**
 * A value that is not known yet. The evaluator carries it through lists, objects, texts and paths; what an operator or a
 * function makes of it is unknown as well, and as a condition it counts as true. Only dry runs hold such values: a run
 * that has a host never meets one. It has no properties of its own, so that what is read from it is never taken for data.
 */
export class Unknown {
  readonly #options: UnknownOptions;
  readonly #path: Path;

  private constructor(options: UnknownOptions, path: Path = []) {
    this.#options = options;
    this.#path = path;
  }

  static is(value: unknown): value is Unknown {
    // Asks no prototype: what data inherits is never looked at.
    return typeof value === 'object' && value !== null && #options in value;
  }

  static value(options: UnknownOptions): Json {
    return asJson(new Unknown(options));
  }

  get sources(): readonly string[] {
    return this.#options.sources;
  }

  get isLost(): boolean {
    return this.#options.isLost === true;
  }

  /** What is read from it by a key. */
  at(key: string | number): Json {
    return this.#options.text === undefined
      ? asJson(this)
      : asJson(new Unknown(this.#options, [...this.#path, key]));
  }

  /** The text that stands for it. */
  toJSON(): string {
    return this.#options.text?.(this.#path) ?? describeComputed(this.sources);
  }
}

export function isUnknown(value: unknown): value is Unknown {
  return Unknown.is(value);
}

/** Stands for a value that is computed from others. */
function describeComputed(sources: readonly string[]): string {
  return `<value computed from ${sources.join(', ')}>`;
}

/** What an operator makes of values: unknown where one of them is, nothing where all are known. */
export function unknownOf(...values: readonly unknown[]): Json | undefined {
  const unknown = values.filter(isUnknown);
  if (unknown.length === 0) return undefined;
  return Unknown.value({
    sources: [...new Set(unknown.flatMap(({ sources }) => sources))],
    isLost: unknown.some(({ isLost }) => isLost),
  });
}

/** A text some of whose parts are not known. Nothing can be read from it before they are. */
export function unknownText(parts: readonly (string | Unknown)[]): Json {
  const unknown = parts.filter((part) => typeof part !== 'string');
  return Unknown.value({
    sources: [...new Set(unknown.flatMap(({ sources }) => sources))],
    isLost: unknown.some(({ isLost }) => isLost),
    text: (path) =>
      path.length > 0
        ? describeComputed([...new Set(unknown.flatMap(({ sources }) => sources))])
        : parts.map((part) => (typeof part === 'string' ? part : part.toJSON())).join(''),
  });
}

/** The unknown values inside of a value, itself included. */
export function unknownIn(value: Value): Unknown[] {
  if (isUnknown(value)) return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(unknownIn);
}

function asJson(unknown: Unknown): Json {
  return unknown as unknown as Json;
}
