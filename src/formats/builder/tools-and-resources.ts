import type { CheckEnvironment, ToolSignature } from '../../check/check-graph.js';
import { readMetadata } from '../../decorators/metadata.js';
import type { ResourceClass, ResourceOptions } from '../../decorators/resource.js';
import type { ToolClass } from '../../decorators/tool.js';
import { defined } from '../../graph/defined.js';
import { isJsonObject, type JsonSchema } from '../../graph/json.js';
import { isValidName } from '../../graph/names.js';
import { sha256Hex } from '../../graph/sha256.js';
import { parseUriTemplate, type TemplatePart, uriFault } from '../../graph/uri.js';
import {
  InvalidUriError,
  MissingResourceError,
  MissingToolError,
  OtherWorkflowError,
  type WorkflowError,
} from './errors.js';
import type { NamedFunction } from './expressions.js';
import { type LiteralFault, type ToolName, toolName, type Uri, uri } from './names.js';

/** A reference to a tool by its registered name, if its class is not available. Equal names have the same handle. */
export class ToolHandle {
  readonly kind = 'tool';
  readonly name: ToolName;
  // A private field, so that only objects of this class are handles.
  readonly #checked = true;

  /** @throws InvalidNameError for an invalid name. */
  constructor(name: string) {
    this.name = toolName(name);
    Object.freeze(this);
  }

  /** Whether the constructor of this class made a value. The prototype of the value does not count. */
  static is(value: unknown): value is ToolHandle {
    return typeof value === 'object' && value !== null && #checked in value;
  }

  toString(): string {
    return this.name;
  }
}

/** A reference to a resource by its URI, if its class is not available. Equal URIs have the same handle. */
export class ResourceHandle {
  readonly kind = 'resource';
  readonly uri: Uri;
  readonly #checked = true;

  /** @throws InvalidUriError for text that is not an absolute URI. */
  constructor(text: string) {
    this.uri = uri(text);
    Object.freeze(this);
  }

  /** Whether the constructor of this class made a value. The prototype of the value does not count. */
  static is(value: unknown): value is ResourceHandle {
    return typeof value === 'object' && value !== null && #checked in value;
  }

  toString(): string {
    return this.uri;
  }
}

/** The class of a family of resources, whose addresses match `static readonly uriTemplate`. */
export type TemplateLike = {
  new (...deps: never[]): object;
  readonly uriTemplate: string;
  readonly uri?: undefined;
};

/** A tool: its class or a handle. */
export type ToolLike = ToolClass | ToolHandle;

/** A resource with one address: its class or a handle. */
export type ResourceLike = ResourceClass | ResourceHandle;

/**
 * Returns a handle of a tool, to refer to it without its class.
 *
 * @example
 * ```ts
 * step(toolHandle('greet')).arg('name', promptArg('name'))
 * ```
 * @throws InvalidNameError for a name that does not match `^[A-Za-z0-9_.-]{1,128}$`.
 */
export function toolHandle<const N extends string>(name: N & LiteralFault<N, 'tool'>): ToolHandle {
  return tools.of(name);
}

/**
 * Returns a handle of a resource, to refer to it without its class. Its registered name is found by the URI.
 *
 * @throws InvalidUriError for text that is not an absolute URI.
 */
export function resourceHandle(text: string): ResourceHandle {
  return resources.of(text);
}

/** Handles by name or URI. A handle is kept as long as the program refers to it. */
class Handles<T extends object> {
  readonly #make: (text: string) => T;
  readonly #handles = new Map<string, WeakRef<T>>();
  readonly #forgotten = new FinalizationRegistry<string>((text) => {
    if (this.#handles.get(text)?.deref() === undefined) this.#handles.delete(text);
  });

  constructor(make: (text: string) => T) {
    this.#make = make;
  }

  of(text: string): T {
    const existing = this.#handles.get(text)?.deref();
    if (existing !== undefined) return existing;
    const handle = this.#make(text);
    this.#handles.set(text, new WeakRef(handle));
    this.#forgotten.register(handle, text);
    return handle;
  }
}

const tools = new Handles((name) => new ToolHandle(name));
const resources = new Handles((text) => new ResourceHandle(text));

/** The tool or resource of a handle or a class, or the error if there is none; then `name` is its name in messages. */
export type Resolved<T> =
  | ({ readonly ok: true } & T)
  | { readonly ok: false; readonly name: string; readonly error: WorkflowError };

/** Finds the registered name of a tool. */
export function resolveTool(tool: ToolLike, workflow: string): Resolved<{ readonly name: string }> {
  if (ToolHandle.is(tool)) return { ok: true, name: tool.name };
  const name = nameOf(tool);
  try {
    const metadata = typeof tool === 'function' ? readMetadata(tool) : undefined;
    if (metadata?.kind === 'tool') return { ok: true, name: metadata.options.name };
  } catch (cause) {
    return { ok: false, name, error: unreadable(name, cause) };
  }
  const because = `Class '${name}' is not decorated with @Tool`;
  return { ok: false, name, error: new MissingToolError({ workflow, tool: name }, [], 'SW3003', because) };
}

/**
 * Finds the registered name and the URI of a resource with one address. Without `registered`, the name of a handle is
 * its URI.
 */
export function resolveResource(
  resource: ResourceLike,
  workflow: string,
  registered: CheckEnvironment | undefined,
): Resolved<{ readonly name: string; readonly uri: string }> {
  const resolved = resolveAddress(resource, workflow, registered);
  if (!resolved.ok || !('template' in resolved)) return resolved;
  const name = nameOf(resource);
  const because = `Class '${name}' has no address of its own`;
  return {
    ok: false,
    name,
    error: new MissingResourceError({ workflow, resource: name }, [], 'SW3003', because),
  };
}

/** The options of a resource that a link to it includes. */
type About = Pick<ResourceOptions, 'title' | 'description' | 'mimeType'>;

/** Finds the registered name, and the URI or the parsed template, of a resource. */
export function resolveAddress(
  resource: ResourceLike | TemplateLike,
  workflow: string,
  registered: CheckEnvironment | undefined,
): Resolved<
  { readonly name: string; readonly about: About } & (
    | { readonly uri: string }
    | { readonly template: readonly TemplatePart[] }
  )
> {
  if (ResourceHandle.is(resource)) {
    const { uri } = resource;
    const entry = [...(registered?.resources ?? [])].find(([, each]) => each.uri === uri);
    return { ok: true, name: entry?.[0] ?? uri, uri, about: {} };
  }
  const name = nameOf(resource);
  const missing = (because: string): Resolved<never> => {
    const error = new MissingResourceError({ workflow, resource: name }, [], 'SW3003', because);
    return { ok: false, name, error };
  };
  try {
    const metadata = typeof resource === 'function' ? readMetadata(resource) : undefined;
    if (metadata?.kind !== 'resource') return missing(`Class '${name}' is not decorated with @Resource`);
    const { uri, uriTemplate, options } = metadata;
    const invalid = (address: string, why: string): Resolved<never> => ({
      ok: false,
      name,
      error: new InvalidUriError({ uri: address, why }),
    });
    if (uri === undefined) {
      const parsed = parseUriTemplate(uriTemplate);
      if ('why' in parsed) return invalid(uriTemplate, parsed.why);
      return { ok: true, name: options.name, template: parsed.parts, about: options };
    }
    const why = uriFault(uri);
    return why === undefined ? { ok: true, name: options.name, uri, about: options } : invalid(uri, why);
  } catch (cause) {
    return { ok: false, name, error: unreadable(name, cause) };
  }
}

/** The error for a class whose metadata cannot be read, such as a resource without an address. */
function unreadable(name: string, cause: unknown): WorkflowError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new OtherWorkflowError(`Class '${name}' cannot be read: ${why}`, 'SW3003', { cause });
}

function nameOf(value: unknown): string {
  return typeof value === 'function' && value.name !== '' ? value.name : `(${typeof value})`;
}

/** The signature of an unknown tool: any input, unknown output, and no warning about retries. */
export const UNKNOWN: ToolSignature = { inputSchema: {}, annotations: { idempotentHint: true } };

/**
 * Makes the signature of a tool from the options of its class. Without schemas, and for a handle, it is {@link
 * UNKNOWN}.
 */
export function signatureOf(tool: ToolLike): ToolSignature {
  const options = toolOptions(tool);
  if (options === undefined) return UNKNOWN;
  const { annotations, retrySafety } = options;
  const inputSchema = schemaOf(options.input, 'input');
  const outputSchema = schemaOf(options.output, 'output');
  return {
    ...UNKNOWN,
    ...defined({ inputSchema, outputSchema }),
    ...(annotations === undefined && retrySafety === undefined ? {} : { annotations, retrySafety }),
  };
}

function toolOptions(tool: ToolLike) {
  try {
    const metadata = typeof tool === 'function' ? readMetadata(tool) : undefined;
    return metadata?.kind === 'tool' ? metadata.options : undefined;
  } catch {
    // `resolveTool` reports the error.
    return undefined;
  }
}

/** The part of Standard Schema that converts a schema into a JSON Schema. */
interface Convertible {
  readonly vendor: string;
  readonly jsonSchema?: {
    readonly [S in 'input' | 'output']?: (options: { readonly target: string }) => unknown;
  };
}

/** Converts a schema; `undefined` if that is not possible, which codegen reports. */
function schemaOf(schema: unknown, side: 'input' | 'output'): JsonSchema | undefined {
  const props = (schema as { readonly '~standard'?: Convertible } | undefined)?.['~standard'];
  try {
    const converted = props?.jsonSchema?.[side]?.({ target: 'draft-2020-12' });
    if (!isJsonObject(converted)) return undefined;
    const {
      $schema: _,
      '~standard': _marker,
      ...plain
    } = JSON.parse(JSON.stringify(converted)) as JsonSchema;
    return props?.vendor === 'zod' ? closed(plain) : plain;
  } catch {
    return undefined;
  }
}

/** Refuses unknown properties of a zod object, as registries do, so that a misspelt argument is reported. */
function closed(schema: JsonSchema): JsonSchema {
  const isOpen = schema.type === 'object' && schema.additionalProperties === undefined;
  return isOpen ? { ...schema, additionalProperties: false } : schema;
}

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
type Referred =
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
