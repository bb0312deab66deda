import { nearestName } from '../../graph/names.js';
import {
  type CreateInstance,
  hasMethod,
  INSTANCE_SCOPES,
  type InstanceContext,
  type InstanceOptions,
  type UntypedFactory,
} from './instances.js';
import type { AnyClass, Registry } from './registry.js';
import { inBrackets, quoted, toolTexts } from './tool-texts.js';

type ClassEntries = Readonly<Record<string, { readonly class: AnyClass }>>;

type InstanceOf<C extends AnyClass> = C extends abstract new (...args: never[]) => infer I ? I : never;

/** Names whose class `new Class()` cannot make: the constructor needs parameters, or the class is abstract. */
type NeedingFactory<E extends ClassEntries> = {
  [N in keyof E]: E[N]['class'] extends new () => object ? never : N;
}[keyof E];

/** Makes the instances of one class. */
type Factory<I> = (context: InstanceContext) => I | Promise<I>;

type FactoriesOf<E extends ClassEntries> = string extends keyof E
  ? { readonly [name: string]: UntypedFactory }
  : { readonly [N in NeedingFactory<E>]: Factory<InstanceOf<E[N]['class']>> } & {
      readonly [N in Exclude<keyof E, NeedingFactory<E>>]?: Factory<InstanceOf<E[N]['class']>>;
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
  ? { readonly [name: string]: UntypedFactory }
  : FactoriesOf<PromptsOf<R>>;

type OptionalIfEmpty<K extends string, F> =
  Record<never, never> extends F ? { readonly [P in K]?: F } : { readonly [P in K]: F };

type ByClass<R extends Registry> = OptionalIfEmpty<'tools', ToolFactories<R>> &
  OptionalIfEmpty<'resources', ResourceFactories<R>> &
  OptionalIfEmpty<'promptClasses', PromptFactories<R>>;

/** With `create`, no class needs a factory of its own. */
interface ByCreate<R extends Registry> extends InstanceOptions {
  readonly create: CreateInstance;
  readonly tools?: Partial<ToolFactories<R>>;
  readonly resources?: Partial<ResourceFactories<R>>;
  readonly promptClasses?: Partial<PromptFactories<R>>;
}

/**
 * How instances are made. `tools`, `resources` and `promptClasses` may each be left out where every class of theirs has
 * a constructor without parameters, and with `create`.
 *
 * @example
 * ```ts
 * createToolset(registry, { tools: { 'add-journal-task': () => new AddJournalTask(graph) } });
 * createToolset(registry, { create: (cls) => container.get(cls), instances: 'request' });
 * ```
 */
export type Factories<R extends Registry> =
  Record<never, never> extends ByClass<R>
    ? ByClass<R> & InstanceOptions
    : (ByClass<R> & InstanceOptions) | ByCreate<R>;

/**
 * The options of a function that takes `Factories<R>` and more, as the rest of its parameters: optional if all of it is.
 */
export type WithFactories<R extends Registry, Extra = unknown> =
  Record<never, never> extends Factories<R> & Extra
    ? readonly [options?: Factories<R> & Extra]
    : readonly [options: Factories<R> & Extra];

/** Factories as the toolset uses them, their types erased. */
export interface UntypedFactories extends InstanceOptions {
  readonly tools?: Readonly<Record<string, UntypedFactory>>;
  readonly resources?: Readonly<Record<string, UntypedFactory>>;
  readonly promptClasses?: Readonly<Record<string, UntypedFactory>>;
}

/** Thrown when a toolset cannot be made of a registry and the factories given; lists every problem. */
export class FactoriesError extends Error {
  override readonly name = 'FactoriesError';

  constructor(readonly problems: readonly string[]) {
    super(`the server cannot start:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
  }
}

/** What keeps a toolset from being made with these factories: one sentence per problem. */
export function factoryProblems(registry: Registry, factories: UntypedFactories): string[] {
  const { tools = {}, resources = {}, promptClasses = {}, create, instances = 'process' } = factories;
  const { prompts = {} } = registry;
  const hasCreate = create !== undefined;
  const problems = [
    ...classProblems({ kind: 'tool', method: 'execute', hasCreate: hasCreate }, registry.tools, tools),
    ...classProblems({ kind: 'prompt', method: 'render', hasCreate: hasCreate }, prompts, promptClasses),
    ...(INSTANCE_SCOPES.includes(instances)
      ? []
      : [`instances must be '${INSTANCE_SCOPES.join("', '")}', not ${JSON.stringify(instances)}`]),
    ...(hasCreate && typeof create !== 'function'
      ? [
          `create must be a function that makes an instance of a class, and is a value of type ${typeof create}`,
        ]
      : []),
  ];
  for (const [name, entry] of Object.entries(registry.resources)) {
    if (entry.text !== undefined || entry.file !== undefined || Object.hasOwn(resources, name)) continue;
    if (!hasMethod(entry.class.prototype, 'read'))
      problems.push(
        `resource ${quoted(name)}: it has neither embedded text, nor a file, nor a read() method on ${entry.class.name}`,
      );
    else if (entry.class.length > 0 && !hasCreate)
      problems.push(toolTexts.factoryMissing('resource', name, entry.class.name));
  }
  return [
    ...problems,
    ...unknown('tool', tools, registry.tools),
    ...unknown('resource', resources, registry.resources),
    ...unknown('prompt', promptClasses, prompts),
  ];
}

interface ClassKind {
  readonly kind: string;
  /** What each class must have. */
  readonly method: string;
  /** Whether `create` makes the instances. */
  readonly hasCreate: boolean;
}

function classProblems(
  { kind, method, hasCreate }: ClassKind,
  entries: ClassEntries,
  factories: object,
): string[] {
  return Object.entries(entries).flatMap(([name, { class: cls }]) => {
    if (Object.hasOwn(factories, name)) return [];
    if (cls.length > 0 && !hasCreate) return [toolTexts.factoryMissing(kind, name, cls.name)];
    return hasMethod(cls.prototype, method)
      ? []
      : [`${kind} ${quoted(name)}: ${cls.name} has no ${method}() method`];
  });
}

function unknown(kind: string, factories: object, entries: ClassEntries): string[] {
  return Object.keys(factories)
    .filter((name) => !Object.hasOwn(entries, name))
    .map(
      (name) =>
        `a factory is given for ${kind} ${quoted(name)}, which the registry does not have${inBrackets(nearestName(name, Object.keys(entries)))}`,
    );
}
