import { canonicalJson } from '../../src/graph/canonical.js';
import { isJsonObject, type Json, type JsonObject } from '../../src/graph/json.js';
import type { ToolSafety } from '../../src/graph/tool-safety.js';

/** What tools do with idempotency keys: return the stored answer, ignore them, or also refuse another input. */
export type KeyMode = 'honours' | 'ignores' | 'refuses';

/** The input of a tool. It sees nothing else of a run. */
export interface Request {
  readonly tool: string;
  readonly key: string;
  readonly input: JsonObject;
}

/** Thrown by tools that refuse a key. A correct engine never causes it. */
export class KeyRefused extends Error {}

/** Draws a number from 0 to `below - 1` that depends on the words alone. */
export type Draw = (below: number, ...words: readonly (string | number)[]) => number;

export function drawFrom(luck: readonly number[]): Draw {
  return (below, ...words) => {
    let hash = 2166136261;
    for (const char of [...words, ...luck].join('|'))
      hash = Math.imul(hash ^ char.charCodeAt(0), 16777619) >>> 0;
    return hash % below;
  };
}

/**
 * Tools with effects. A call causes an effect, whose id is in its answer; a tool whose name begins with `undo` or
 * `revert` removes the effect with the id in its input.
 */
export class ToolWorld {
  /** Effects that exist, by id. */
  readonly effects = new Set<string>();
  readonly #mode: KeyMode;
  readonly #draw: Draw;
  readonly #answers = new Map<string, { readonly request: string; readonly answer: Json }>();
  #count = 0;

  constructor(mode: KeyMode, draw: Draw) {
    this.#mode = mode;
    this.#draw = draw;
  }

  /** What a host knows about a tool. */
  safetyOf(tool: string): ToolSafety {
    const nature = this.#natureOf(tool);
    if (nature === 'plain' && this.#mode === 'ignores') return 'none';
    if (this.#draw(4, 'told', tool) === 0) return 'none';
    return nature === 'plain' ? 'key' : nature === 'undo' ? 'idempotent' : nature;
  }

  /** Executes a call and returns its answer. */
  perform({ tool, key, input }: Request): Json {
    const request = canonicalJson([tool, input]);
    const known = this.#answers.get(key);
    if (this.#mode === 'refuses' && known !== undefined && known.request !== request)
      throw new KeyRefused(`${key} was sent with ${known.request} and ${request}`);
    if (this.#mode !== 'ignores' && known !== undefined) return known.answer;
    const answer = this.#act(tool, input);
    this.#answers.set(key, { request, answer });
    return answer;
  }

  #act(tool: string, input: JsonObject): Json {
    switch (this.#natureOf(tool)) {
      case 'undo':
        this.effects.delete(effectIn(input.of) ?? '');
        return { undone: true };
      case 'readOnly':
        return { ok: true, n: 2 };
      case 'idempotent':
        return this.#bringAbout(canonicalJson([tool, input]));
      case 'plain':
        this.#count += 1;
        return this.#bringAbout(`${tool}:${this.#count}`);
    }
  }

  #bringAbout(id: string): Json {
    this.effects.add(id);
    return { id, ok: this.#draw(3, 'ok', id) > 0, n: 1 };
  }

  #natureOf(tool: string): 'undo' | 'readOnly' | 'idempotent' | 'plain' {
    if (/^(undo|revert)/.test(tool)) return 'undo';
    const nature = this.#draw(8, 'nature', tool);
    return nature === 0 ? 'readOnly' : nature === 1 ? 'idempotent' : 'plain';
  }
}

/** The id of the effect that an answer names. */
export function effectIn(answer: Json | undefined): string | undefined {
  return isJsonObject(answer) && typeof answer.id === 'string' ? answer.id : undefined;
}
