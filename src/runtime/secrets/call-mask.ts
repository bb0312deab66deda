import { defined } from '../../graph/defined.js';
import { isJsonObject, type Json, type JsonObject } from '../../graph/json.js';
import { MASKED, oneLine } from '../../graph/printable-text.js';
import { Mask, type Masking, maskMembers, SHORT_SECRET, valuesOf } from './mask.js';

/** The parts of a tool's result that may hold a secret. */
interface Contents {
  readonly content: readonly JsonObject[];
  readonly structuredContent?: JsonObject;
  readonly _meta?: JsonObject;
}

/**
 * What must not be shown of one call of a tool, a resource or a function, nor of its outcome. The caller
 * gives it one; the toolset adds what goes to secret inputs of the tool.
 *
 * A secret that is too short to be searched for hides everything the call gives back: every text and every number of it
 * is masked, whether it repeats the secret or not. See {@link hidesAll}.
 */
export class CallMask implements Masking {
  readonly #secrets: Mask;
  readonly #shown: (input: JsonObject) => JsonObject;
  #short: Set<string> | undefined;

  /**
   * @param secrets what is secret around the call. What the call is given is added. Default: nothing.
   * @param shown masks what is known as a secret by its place in the input. Default: nothing is.
   */
  constructor(secrets: Mask = new Mask(), shown: (input: JsonObject) => JsonObject = asItIs) {
    this.#secrets = secrets;
    this.#shown = shown;
  }

  /** Adds a secret of the call's input. */
  give(value: Json): void {
    this.#secrets.add(value);
    this.hide(shortSecretsIn(value));
  }

  /** Adds secrets of the input that are too short to be searched for. */
  hide(secrets: Iterable<string>): void {
    for (const secret of secrets) {
      this.#short ??= new Set();
      this.#short.add(secret);
    }
  }

  /** Adds the values of secret inputs. */
  giveMembers(input: JsonObject, names: readonly string[]): void {
    if (names.length === 0) return;
    for (const value of valuesOf(input, names)) this.give(value);
  }

  get isEmpty(): boolean {
    return this.#short === undefined && this.#secrets.isEmpty;
  }

  /** Whether the call was given a secret too short to be searched for: nothing it gives back is shown. */
  get hidesAll(): boolean {
    return this.#short !== undefined;
  }

  /** The secrets it was given that are too short to be searched for. */
  get short(): Iterable<string> {
    return this.#short ?? [];
  }

  /** Whether a text holds a secret, however short. */
  repeatedBy(text: string): boolean {
    return this.#key(text) !== text;
  }

  /** Masks what a search finds, for texts of the product that repeat nothing of the input. */
  get searched(): Masking {
    return this.#secrets;
  }

  text(text: string): string {
    return this.hidesAll && text !== '' ? MASKED : this.#secrets.text(text);
  }

  json(value: Json): Json {
    return this.hidesAll ? hidden(value, (key) => this.#key(key)) : this.#secrets.json(value);
  }

  /** The input, as it may be shown: only what repeats a secret is masked. @param names secret inputs of the tool. */
  input(input: JsonObject, names: readonly string[]): JsonObject {
    const shown = this.#secrets.json(maskMembers(this.#shown(input), names));
    const safe = this.hidesAll ? replaced(shown, (text) => this.#key(text)) : shown;
    return isJsonObject(safe) ? safe : {};
  }

  /** A tool's own result, its blocks still blocks: one that is not text becomes text where it holds a secret. */
  contents<T extends Contents>(result: T): T {
    const { content, structuredContent, _meta } = result;
    const json = (value: JsonObject | undefined) => value && (this.json(value) as JsonObject);
    return {
      ...result,
      content: content.map((block) => this.#block(block)),
      ...defined({ structuredContent: json(structuredContent), _meta: json(_meta) }),
    };
  }

  #block(block: JsonObject): JsonObject {
    if (block.type === 'text') return { ...block, text: this.text(String(block.text)) };
    const isSafe = !this.hidesAll && JSON.stringify(this.#secrets.json(block)) === JSON.stringify(block);
    return isSafe ? block : { type: 'text', text: MASKED };
  }

  /** A text of the call's input, or a key of its result: the author's own words stay. */
  #key(text: string): string {
    return repeats(text, this.short) ? MASKED : this.#secrets.text(text);
  }
}

function asItIs(input: JsonObject): JsonObject {
  return input;
}

/** The texts and numbers in a value that are too short to be searched for, as texts. */
export function shortSecretsIn(value: Json): string[] {
  const texts: string[] = [];
  const open: Json[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'object' && next !== null)
      for (const member of Object.values(next)) open.push(member);
    else if (typeof next !== 'boolean' && next !== null && isShort(String(next))) texts.push(String(next));
  }
  return texts;
}

function isShort(text: string): boolean {
  const { length } = text.length < PADDED ? oneLine(text) : text;
  return length > 0 && length < SHORT_SECRET;
}

/** A longer text cannot be a short secret with white space around it. */
const PADDED = 100;

/** Whether a text holds one of these. */
export function repeats(text: string, secrets: Iterable<string>): boolean {
  for (const secret of secrets) if (text.includes(secret)) return true;
  return false;
}

/** A value without its texts and numbers. What is true, false or null stays, and so does its shape. */
export function hidden(value: Json, key: (key: string) => string): Json {
  if (value === null || typeof value === 'boolean' || value === '') return value;
  if (Array.isArray(value)) return value.map((item: Json) => hidden(item, key));
  if (!isJsonObject(value)) return MASKED;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [key(name), hidden(member, key)] as const),
  );
}

/** A value whose texts and numbers are those that `show` gives for them. */
function replaced(value: Json, show: (text: string) => string): Json {
  if (typeof value === 'string') return show(value);
  if (typeof value === 'number') return show(String(value)) === String(value) ? value : MASKED;
  if (Array.isArray(value)) return value.map((item: Json) => replaced(item, show));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [show(key), replaced(member, show)] as const),
  );
}
