import type { CheckEnvironment, ToolSignature } from '../../check/check-graph.js';
import { isValidName } from '../../graph/names.js';
import { sha256Hex } from '../../graph/sha256.js';
import type { NamedFunction } from './expressions.js';

/** A function of a graph, with the hash by which the graph refers to it. */
export interface FunctionEntry {
  // biome-ignore lint/suspicious/noExplicitAny: an author's function may have any parameters
  readonly function: (...args: any[]) => unknown;
  /**
   * A SHA-256, as 64 hexadecimal digits: for a registered function the registered hash, which codegen made of its
   * source; for any other function that of its text at run time, after compilation.
   */
  readonly hash: string;
}

/** The tools, resources and functions that a workflow may use. */
export interface Registered extends CheckEnvironment {
  /**
   * By name. The graph refers to these functions by their registered names, as the graph of a decorated workflow does.
   */
  readonly functions?: ReadonlyMap<string, FunctionEntry>;
}

/** The parts of a generated registry that a workflow is checked against. */
interface RegistryTables {
  readonly tools: Readonly<Record<string, ToolSignature>>;
  readonly resources: Readonly<Record<string, { readonly uri: string }>>;
  readonly functions?: Readonly<Record<string, FunctionEntry>>;
}

/**
 * Returns the tools, resources and functions of a generated registry, for `build` and `checkAgainst`.
 *
 * @example
 * ```ts
 * const workflow = sequential('greet-twice', 'greet twice').step(step(Greet)).build(registeredIn(registry));
 * ```
 */
export function registeredIn({ tools, resources, functions = {} }: RegistryTables): Registered {
  return {
    tools: new Map(Object.entries(tools)),
    resources: new Map(Object.entries(resources)),
    functions: new Map(Object.entries(functions)),
  };
}

/** The name and hash of a function in a graph, or the reason why it cannot be in one. */
export type Referred =
  | { readonly ok: true; readonly name: string; readonly hash: string }
  | { readonly ok: false; readonly reason: string };

/**
 * The functions of a workflow. A registered function keeps its registered name. The name of any other function begins
 * with that of the workflow, so that names of different workflows in one registry differ.
 */
export class Functions {
  /** By name, in the order of the first use. */
  readonly named = new Map<string, FunctionEntry>();
  readonly #workflow: string;
  readonly #registered: NonNullable<Registered['functions']>;

  constructor(workflow: string, { functions = new Map() }: Partial<Registered> = {}) {
    // An invalid workflow name is reported elsewhere; the names of its functions are valid in any case.
    this.#workflow = isValidName('workflow', workflow) ? workflow : 'workflow';
    this.#registered = functions;
  }

  /** Functions are compared by identity: two with the same name and source may close over different values. */
  refer(target: NamedFunction): Referred {
    const isTarget = ([, entry]: readonly [string, FunctionEntry]): boolean => entry.function === target;
    const existing = [...this.named, ...this.#registered].find(isTarget);
    if (existing !== undefined) return this.#keep(...existing);
    const { name } = target;
    if (!isValidName('binding', name)) {
      const reason = 'The function of the transform has no name. Pass an exported top-level function';
      return { ok: false, reason };
    }
    const source = Function.prototype.toString.call(target);
    // The text of a bound or native function does not identify it.
    if (/\{\s*\[native code\]\s*\}\s*$/.test(source)) {
      const reason = `The source of the function '${name}' cannot be read. Pass an exported top-level function`;
      return { ok: false, reason };
    }
    return this.#keep(this.#freeName(name), { function: target, hash: sha256Hex(source) });
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
