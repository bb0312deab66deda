import { createHash } from 'node:crypto';
import type { Json } from '../../../../graph/json.js';
import { withLargeValues, withoutLargeValues } from '../../../engine/large-values.js';
import type { Row } from '../journal.js';

/** Texts that are longer (in UTF-16 code units) are stored once, by their hash. */
const LARGE_TEXT = 65_536;

/** A text as a column holds it: itself, or the hash of one that is stored apart. */
export type TextColumn = string | Uint8Array;

/** A long text that a row refers to. */
export interface LargeText {
  readonly hash: Uint8Array;
  readonly text: string;
}

/** Gathers the long texts of what is about to be written. */
export class TextWriter {
  readonly large: LargeText[] = [];

  /** What a column holds of a text. */
  column(text: string): TextColumn {
    return text.length > LARGE_TEXT ? this.#keep(text) : text;
  }

  /** The JSON of an event. Its large values are stored apart, as those of rows of the state are: both share them. */
  event(event: object): string {
    const text = JSON.stringify(event);
    const { value } = event as { readonly value?: Json };
    if (value === undefined || text.length <= LARGE_TEXT) return text;
    const [small, ...values] = withoutLargeValues([{ op: 'put', table: 'outputs', key: '', row: value }]);
    for (const { row } of values) this.#keep(JSON.stringify(row));
    const keys = values.map(({ key }) => key);
    return JSON.stringify({ ...event, value: small?.row, [REFS]: { refs: small?.refs ?? [], keys } });
  }

  #keep(text: string): Uint8Array {
    const hash = createHash('sha256').update(text).digest();
    this.large.push({ hash, text });
    return hash;
  }
}

/** Member of a stored event that says which values are stored apart. */
const REFS = '$refs';

/** Reads an event back. @param textOf finds a text that was stored apart. */
export function readEvent(stored: unknown, textOf: (hash: Uint8Array) => string): unknown {
  const { [REFS]: apart, ...event } = stored as Record<string, unknown>;
  if (apart === undefined) return stored;
  const { refs, keys } = apart as { readonly refs: readonly string[]; readonly keys: readonly string[] };
  const values = keys.map((key): Row => {
    return { op: 'put', table: 'values', key, row: JSON.parse(textOf(Buffer.from(key, 'hex'))) as Json };
  });
  const small: Row = { op: 'put', table: 'outputs', key: '', row: event.value as Json, refs };
  return { ...event, value: withLargeValues([small, ...values])[0]?.row };
}

/**
 * What a column holds of a key: SQLite's texts end at U+0000, and lone surrogates have no UTF-8. Such keys are stored as
 * JSON.
 */
export function keyColumn(key: string): string {
  return /^"|[\0\p{Cs}]/u.test(key) ? JSON.stringify(key) : key;
}

/** The inverse of {@link keyColumn}. */
export function keyIn(column: unknown): string {
  const text = column as string;
  return text.startsWith('"') ? (JSON.parse(text) as string) : text;
}
