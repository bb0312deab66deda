import { sha256Hex } from '../../graph/canonical.js';
import { reasons } from './errors.js';
import { isIdentifier } from './names.js';
import type { FunctionEntry, Registered } from './registered.js';
import type { NamedFunction } from './transform.js';

/** A function as a graph names it, or why no graph can. */
export type Referred =
  | { readonly ok: true; readonly name: string; readonly hash: string }
  | { readonly ok: false; readonly kind: 'unusable'; readonly reason: string }
  /** Another function has the name. */
  | { readonly ok: false; readonly kind: 'taken'; readonly name: string };

/** The functions that a workflow names. */
export class Functions {
  /** By name, in the order of the first use. */
  readonly named = new Map<string, FunctionEntry>();
  readonly #registered: NonNullable<Registered['functions']>;

  constructor({ functions = new Map() }: Partial<Registered> = {}) {
    this.#registered = functions;
  }

  /** A registered function goes by what it is registered as, which its own name may differ from. */
  refer(given: NamedFunction): Referred {
    const [registered] = [...this.#registered].filter(([, entry]) => entry.function === given);
    if (registered !== undefined) return this.#keep(...registered);
    const { name } = given;
    if (!isIdentifier(name)) return { ok: false, kind: 'unusable', reason: reasons.functionName() };
    const source = Function.prototype.toString.call(given);
    // What a bound or native function does cannot be told from its text.
    if (/\{\s*\[native code\]\s*\}\s*$/.test(source))
      return { ok: false, kind: 'unusable', reason: reasons.functionSource(name) };
    if (this.#registered.has(name)) return { ok: false, kind: 'taken', name };
    return this.#keep(name, { function: given, hash: sha256Hex(source) });
  }

  #keep(name: string, entry: FunctionEntry): Referred {
    const known = this.named.get(name);
    if (known !== undefined && known.function !== entry.function) return { ok: false, kind: 'taken', name };
    this.named.set(name, entry);
    return { ok: true, name, hash: entry.hash };
  }
}
