import { sha256Hex } from '../../graph/canonical.js';
import { isValidName } from '../../graph/names.js';
import { reasons } from './errors.js';
import type { FunctionEntry, Registered } from './registered.js';
import type { NamedFunction } from './transform.js';

/** A function as a graph names it, or why no graph can. */
export type Referred =
  | { readonly ok: true; readonly name: string; readonly hash: string }
  | { readonly ok: false; readonly reason: string };

/**
 * The functions that a workflow names. A registered function has its registered name; any other has the name of the
 * workflow before its own, so that workflows which are registered together never share one by accident.
 */
export class Functions {
  /** By name, in the order of the first use. */
  readonly named = new Map<string, FunctionEntry>();
  readonly #workflow: string;
  readonly #registered: NonNullable<Registered['functions']>;

  constructor(workflow: string, { functions = new Map() }: Partial<Registered> = {}) {
    // The fault of another name is told once, and not of its functions again.
    this.#workflow = isValidName('workflow', workflow) ? workflow : 'workflow';
    this.#registered = functions;
  }

  /** Functions are told apart as objects: two of one name, and even of one source, may close over different values. */
  refer(given: NamedFunction): Referred {
    const isGiven = ([, entry]: readonly [string, FunctionEntry]): boolean => entry.function === given;
    const known = [...this.named, ...this.#registered].find(isGiven);
    if (known !== undefined) return this.#keep(...known);
    const { name } = given;
    if (!isValidName('binding', name)) return { ok: false, reason: reasons.functionName() };
    const source = Function.prototype.toString.call(given);
    // What a bound or native function does cannot be told from its text.
    if (/\{\s*\[native code\]\s*\}\s*$/.test(source)) {
      return { ok: false, reason: reasons.functionSource(name) };
    }
    return this.#keep(this.#freeName(name), { function: given, hash: sha256Hex(source) });
  }

  #freeName(name: string): string {
    const first = `${this.#workflow}#${name}`;
    let free = first;
    for (let number = 2; this.named.has(free) || this.#registered.has(free); number++) {
      free = `${first}-${number}`;
    }
    return free;
  }

  #keep(name: string, entry: FunctionEntry): Referred {
    this.named.set(name, entry);
    return { ok: true, name, hash: entry.hash };
  }
}
