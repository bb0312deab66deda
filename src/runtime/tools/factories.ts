import { nearestName } from '../../graph/names.js';
import type { Failure } from '../engine/contract.js';
import { thrownText } from './exceptions.js';
import type { AnyClass, Registry } from './registry.js';
import { message, toolTexts } from './tool-texts.js';

type ClassEntries = Readonly<Record<string, { readonly class: AnyClass }>>;

type InstanceOf<C extends AnyClass> = C extends abstract new (...args: never[]) => infer I ? I : never;

/** Names whose class `new Class()` cannot make: the constructor needs parameters, or the class is abstract. */
type NeedingFactory<E extends ClassEntries> = {
  [N in keyof E]: E[N]['class'] extends new () => object ? never : N;
}[keyof E];

type FactoriesOf<E extends ClassEntries> = string extends keyof E
  ? { readonly [name: string]: () => object }
  : { readonly [N in NeedingFactory<E>]: () => InstanceOf<E[N]['class']> } & {
      readonly [N in Exclude<keyof E, NeedingFactory<E>>]?: () => InstanceOf<E[N]['class']>;
    };

/** A factory for each tool: required where its constructor needs parameters, optional where it does not. */
export type ToolFactories<R extends Registry> = FactoriesOf<R['tools']>;
/** A factory for each resource class, by the same rule. */
export type ResourceFactories<R extends Registry> = FactoriesOf<R['resources']>;

/** The prompts of a registry that may have none. */
type PromptsOf<R extends Registry> = R extends { readonly prompts: infer P extends ClassEntries }
  ? P
  : Record<never, never>;
/** A factory for each prompt class, by the same rule. */
export type PromptFactories<R extends Registry> = Registry extends R
  ? { readonly [name: string]: () => object }
  : FactoriesOf<PromptsOf<R>>;

type OptionalIfEmpty<K extends string, F> =
  Record<never, never> extends F ? { readonly [P in K]?: F } : { readonly [P in K]: F };

/**
 * How instances are made. `tools`, `resources` and `promptClasses` may each be left out where every class of theirs has
 * a constructor without parameters.
 *
 * @example
 * ```ts
 * createToolset(registry, { tools: { 'add-journal-task': () => new AddJournalTask(graph) } });
 * ```
 */
export type Factories<R extends Registry> = OptionalIfEmpty<'tools', ToolFactories<R>> &
  OptionalIfEmpty<'resources', ResourceFactories<R>> &
  OptionalIfEmpty<'promptClasses', PromptFactories<R>>;

/**
 * The options of a function that takes `Factories<R>` and more, as the rest of its parameters: optional if all of it is.
 */
export type WithFactories<R extends Registry, Extra = unknown> =
  Record<never, never> extends Factories<R> & Extra
    ? readonly [options?: Factories<R> & Extra]
    : readonly [options: Factories<R> & Extra];

/** Factories as the toolset uses them, their types erased. */
export interface UntypedFactories {
  readonly tools?: Readonly<Record<string, () => object>>;
  readonly resources?: Readonly<Record<string, () => object>>;
  readonly promptClasses?: Readonly<Record<string, () => object>>;
}

/** Thrown when a toolset cannot be made of a registry and the factories given; lists every problem. */
export class FactoriesError extends Error {
  override readonly name = 'FactoriesError';

  constructor(readonly problems: readonly string[]) {
    super(toolTexts.factoriesRefused(problems));
  }
}

/** What keeps a toolset from being made with these factories: one sentence per problem. */
export function factoryProblems(registry: Registry, factories: UntypedFactories): string[] {
  const { tools = {}, resources = {}, promptClasses = {} } = factories;
  const { prompts = {} } = registry;
  const problems = [
    ...classProblems('tool', 'execute', registry.tools, tools),
    ...classProblems('prompt', 'render', prompts, promptClasses),
  ];
  for (const [name, entry] of Object.entries(registry.resources)) {
    if (entry.text !== undefined || entry.file !== undefined || Object.hasOwn(resources, name)) continue;
    if (!hasMethod(entry.class.prototype, 'read'))
      problems.push(toolTexts.resourceWithoutContent(name, entry.class.name));
    else if (entry.class.length > 0)
      problems.push(toolTexts.factoryMissing('resource', name, entry.class.name));
  }
  return [
    ...problems,
    ...unknown('tool', tools, registry.tools),
    ...unknown('resource', resources, registry.resources),
    ...unknown('prompt', promptClasses, prompts),
  ];
}

function classProblems(kind: string, method: string, entries: ClassEntries, factories: object): string[] {
  return Object.entries(entries).flatMap(([name, { class: cls }]) => {
    if (Object.hasOwn(factories, name)) return [];
    if (cls.length > 0) return [toolTexts.factoryMissing(kind, name, cls.name)];
    return hasMethod(cls.prototype, method) ? [] : [toolTexts.classWithout(kind, name, cls.name, method)];
  });
}

function unknown(kind: string, factories: object, entries: ClassEntries): string[] {
  return Object.keys(factories)
    .filter((name) => !Object.hasOwn(entries, name))
    .map((name) => toolTexts.factoryUnknown(kind, name, nearestName(name, Object.keys(entries))));
}

/** True when `object` has, or inherits, a method of this name. */
export function hasMethod<N extends string>(
  object: unknown,
  name: N,
): object is { readonly [P in N]: (...args: readonly unknown[]) => unknown } {
  return (
    typeof object === 'object' &&
    object !== null &&
    typeof (object as Record<string, unknown>)[name] === 'function'
  );
}

export type Made<N extends string> =
  | { readonly ok: true; readonly instance: { readonly [P in N]: (...args: readonly unknown[]) => unknown } }
  /** `thrown` is what the factory or the constructor threw. */
  | { readonly ok: false; readonly failure: Failure; readonly thrown?: unknown };

const FACTORY_CODES = {
  tool: 'E_TOOL_FACTORY',
  resource: 'E_RESOURCE_FACTORY',
  prompt: 'E_PROMPT_FACTORY',
} as const;

/**
 * The instances of one kind of class, each made once and on first use, by its factory or else by `new`. A factory
 * that throws is asked again by the next call: what it lacked may be there by then.
 */
export class Instances<N extends string> {
  readonly #made = new Map<string, Extract<Made<N>, { ok: true }>>();

  constructor(
    readonly kind: keyof typeof FACTORY_CODES,
    /** The method each instance must have. */
    readonly method: N,
    readonly factories: Readonly<Record<string, () => object>>,
  ) {}

  get(name: string, cls: AnyClass): Made<N> {
    const known = this.#made.get(name);
    if (known !== undefined) return known;
    const factory = Object.hasOwn(this.factories, name) ? this.factories[name] : undefined;
    const code = FACTORY_CODES[this.kind];
    let instance: unknown;
    try {
      instance = factory === undefined ? Reflect.construct(cls, []) : factory();
    } catch (error) {
      const text = factory === undefined ? toolTexts.constructorThrew : toolTexts.factoryThrew;
      const failure = { code, message: message(text(this.kind, name, thrownText(error))) };
      return { ok: false, failure, thrown: error };
    }
    if (!hasMethod(instance, this.method)) {
      return {
        ok: false,
        failure: { code, message: message(toolTexts.factoryUseless(this.kind, name, this.method)) },
      };
    }
    const made = { ok: true, instance } as const;
    this.#made.set(name, made);
    return made;
  }
}
