import type { RequestContext } from '../../decorators/context.js';
import { canonicalJson } from '../../graph/canonical.js';
import { getOrInsert } from '../../graph/maps.js';
import { nearestName } from '../../graph/names.js';
import type { Failure } from '../engine/contract.js';
import { thrownText } from './exceptions.js';
import type { CallContext } from './port.js';
import type { AnyClass, Registry } from './registry.js';
import { requestContextOf } from './tool-context.js';
import { inBrackets, message, quoted, toolTexts } from './tool-texts.js';

/** How long an instance of a class is used. */
export type InstanceScope = (typeof INSTANCE_SCOPES)[number];

const INSTANCE_SCOPES = ['process', 'session', 'request'] as const;

/** What a factory knows about the instance that it makes. */
export interface InstanceContext {
  readonly kind: 'tool' | 'resource' | 'prompt';
  /** Of the tool, the resource or the prompt. */
  readonly name: string;
  /** The first request that needs the instance. Absent for an instance of the process. */
  readonly request?: RequestContext;
}

/**
 * Makes an instance of a class of the registry.
 *
 * @param cls a class of the registry, whatever parameters its constructor takes.
 */
export type CreateInstance = (
  // biome-ignore lint/suspicious/noExplicitAny: constructor parameters of a class are the author's own
  cls: new (...args: any[]) => object,
  context: InstanceContext,
) => object | Promise<object>;

/** How instances of all classes are made. */
export interface InstanceOptions {
  /**
   * How long an instance is used: by all requests of the process, by those of one caller in one session, or by one
   * request. A connection over stdio is a session; over HTTP, a request without a session is one of its own. Steps of a
   * workflow use the instances of the request that started the run; once the run has waited, each call gets an instance
   * of its own. Default: `process`.
   */
  readonly instances?: InstanceScope;
  /** Makes the instances of classes without a factory of their own, for example by a container. Default: `new`. */
  readonly create?: CreateInstance;
}

/** A factory as it is called, its types erased. */
export type UntypedFactory = (context: InstanceContext) => object | Promise<object>;

/** What instances know about the request that needs one. */
export type InstanceRequest = Pick<CallContext, 'signal' | 'requestId' | 'auth' | 'principal' | 'peer'>;

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

export type Creation<N extends string> =
  | { readonly ok: true; readonly instance: { readonly [P in N]: (...args: readonly unknown[]) => unknown } }
  /** `thrown` is what the factory or the constructor threw. */
  | { readonly ok: false; readonly failure: Failure; readonly thrown?: unknown };

const FACTORY_CODES = {
  tool: 'E_TOOL_FACTORY',
  resource: 'E_RESOURCE_FACTORY',
  prompt: 'E_PROMPT_FACTORY',
} as const;

/** The instances of one scope by name, and those that are being made. */
type CreationMap<N extends string> = Map<string, Creation<N> | Promise<Creation<N>>>;

/**
 * The instances of one kind of class, each made on first use in its scope: by its factory, by `create`, or by `new`. A
 * factory that throws is asked again by the next call: what it lacked may be there by then.
 */
export class Instances<N extends string> {
  readonly #scope: InstanceScope;
  readonly #create: CreateInstance | undefined;
  readonly #ofProcess: CreationMap<N> = new Map();
  /** By the connection or the request: they go with it. */
  readonly #ofOthers = new WeakMap<object, CreationMap<N>>();

  constructor(
    readonly kind: keyof typeof FACTORY_CODES,
    /** The method each instance must have. */
    readonly method: N,
    readonly factories: Readonly<Record<string, UntypedFactory>>,
    { instances = 'process', create }: InstanceOptions,
  ) {
    this.#scope = instances;
    this.#create = create;
  }

  /** The instance that a request uses. It is there at once, unless its factory returns a promise. */
  get(name: string, cls: AnyClass, request: InstanceRequest): Creation<N> | Promise<Creation<N>> {
    const creations = this.#creationsFor(request);
    const key = this.#scope === 'session' ? canonicalJson([name, { ...request.principal }]) : name;
    const existing = creations?.get(key);
    if (existing !== undefined) return existing;
    const creation = this.#make(name, cls, request);
    if (!(creation instanceof Promise)) {
      if (creation.ok) creations?.set(key, creation);
      return creation;
    }
    creations?.set(key, creation);
    return creation.then((settled) => {
      if (settled.ok) creations?.set(key, settled);
      else creations?.delete(key);
      return settled;
    });
  }

  /** Nothing where no request is open: then an instance is used once. */
  #creationsFor({ peer }: InstanceRequest): CreationMap<N> | undefined {
    if (this.#scope === 'process') return this.#ofProcess;
    const holder = this.#scope === 'session' ? (peer?.connection ?? peer) : peer;
    if (holder === undefined) return undefined;
    return getOrInsert(this.#ofOthers, holder, (): CreationMap<N> => new Map());
  }

  #make(name: string, cls: AnyClass, request: InstanceRequest): Creation<N> | Promise<Creation<N>> {
    const factory = Object.hasOwn(this.factories, name) ? this.factories[name] : undefined;
    const create = this.#create;
    const isOwn = factory === undefined && create === undefined;
    const failed = (error: unknown): Creation<N> => {
      const text = isOwn ? toolTexts.constructorThrew : toolTexts.factoryThrew;
      const failure = {
        code: FACTORY_CODES[this.kind],
        message: message(text(this.kind, name, thrownText(error))),
      };
      return { ok: false, failure, thrown: error };
    };
    const context = this.#contextOf(name, request);
    try {
      const instance = isOwn
        ? Reflect.construct(cls, [])
        : (factory?.(context) ?? create?.(cls as Parameters<CreateInstance>[0], context));
      return instance instanceof Promise
        ? instance.then((settled) => this.#checked(name, settled), failed)
        : this.#checked(name, instance);
    } catch (error) {
      return failed(error);
    }
  }

  #contextOf(name: string, request: InstanceRequest): InstanceContext {
    const { kind } = this;
    return this.#scope === 'process' ? { kind, name } : { kind, name, request: requestContextOf(request) };
  }

  #checked(name: string, instance: unknown): Creation<N> {
    if (hasMethod(instance, this.method)) return { ok: true, instance };
    const text = message(
      `the factory of ${this.kind} ${quoted(name)} returned an object without ${this.method}()`,
    );
    return { ok: false, failure: { code: FACTORY_CODES[this.kind], message: text } };
  }
}

type ClassEntries = Readonly<Record<string, { readonly class: AnyClass }>>;

type InstanceOf<C extends AnyClass> = C extends abstract new (...args: never[]) => infer I ? I : never;

/** Names whose class `new Class()` cannot make: the constructor needs parameters, or the class is abstract. */
type NeedingFactory<E extends ClassEntries> = {
  [N in keyof E]: E[N]['class'] extends new () => object ? never : N;
}[keyof E];

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
