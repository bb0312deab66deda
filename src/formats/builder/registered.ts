import type { CheckEnvironment, ToolSignature } from '../../check/check-graph.js';

/** A function that a graph names, with the hash the graph has of it. */
export interface FunctionEntry {
  // biome-ignore lint/suspicious/noExplicitAny: parameters of an author's function are its own
  readonly function: (...args: any[]) => unknown;
  /**
   * 64 hexadecimal digits. Of a function that is registered it is the registered one, which codegen made of its source;
   * of another one it is the sha256 of its text as it was loaded, which is what the compiler left of the source.
   */
  readonly hash: string;
}

/** What a workflow may use: everything that is registered beside it. */
export interface Registered extends CheckEnvironment {
  /** By name. A transform by one of them is the same in a graph as it is in that of a decorated workflow. */
  readonly functions?: ReadonlyMap<string, FunctionEntry>;
}

/** What a generated registry holds, as far as a workflow is checked against it. */
interface RegistryTables {
  readonly tools: Readonly<Record<string, ToolSignature>>;
  readonly resources: Readonly<Record<string, { readonly uri: string }>>;
  readonly functions?: Readonly<Record<string, FunctionEntry>>;
}

/**
 * What a generated registry has for workflows to use.
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
