import { canonicalJson } from '../graph/canonical.js';
import type { Value } from '../graph/json.js';
import { sha256Hex } from '../graph/sha256.js';
import type { AgentOptions } from './agents.js';
import type { ArgOptions } from './arg.js';
import { type FieldMetadata, recordOf } from './decorate.js';
import type { PromptOptions } from './prompt.js';
import { addressOf, type ResourceAddress, type ResourceOptions } from './resource.js';
import type { ToolOptions } from './tool.js';
import type { StateOptions, StepOptions, WorkflowOptions } from './workflow.js';

/** The kind of a decorated class, the options of its decorator as written, and its decorated fields. */
export type ClassMetadata =
  | ToolMetadata
  | ResourceMetadata
  | WorkflowMetadata
  | PromptMetadata
  | StateMetadata
  | AgentMetadata;

export interface ToolMetadata {
  readonly kind: 'tool';
  readonly options: ToolOptions;
}

export type ResourceMetadata = {
  readonly kind: 'resource';
  readonly options: ResourceOptions;
} & ResourceAddress;

export interface WorkflowMetadata {
  readonly kind: 'workflow';
  readonly options: WorkflowOptions;
  /** In declaration order. */
  readonly args: readonly FieldMetadata<ArgOptions>[];
  /** Fields with `@Step`, in declaration order. A result without `@Step` is not among them. */
  readonly steps: readonly FieldMetadata<StepOptions>[];
}

export interface PromptMetadata {
  readonly kind: 'prompt';
  readonly options: PromptOptions;
  /** In declaration order. */
  readonly args: readonly FieldMetadata<ArgOptions>[];
}

export interface StateMetadata {
  readonly kind: 'state';
  readonly options: StateOptions;
}

interface AgentMetadata {
  readonly kind: 'agent';
  readonly options: AgentOptions;
}

/**
 * Reads the metadata that legacy or TC39 decorators stored on a class. Metadata of base classes does not count.
 *
 * @returns `undefined` for a class without a decorator of this package.
 * @throws TypeError for a resource class without exactly one of `static readonly uri` and `static readonly
 *   uriTemplate`, as a string.
 */
export function readMetadata(cls: abstract new (...deps: never[]) => object): ClassMetadata | undefined {
  const record = recordOf(cls);
  // Each decorator records its own kind with its own options.
  return (record?.kind === 'resource' ? { ...record, ...addressOf(cls) } : record) as
    | ClassMetadata
    | undefined;
}

/**
 * Decorator options as plain data, in a form that both codegen, from the source, and the runtime, from the metadata,
 * can make. Keys with `undefined` count as absent. A class is `{ $class: 'Name' }`, and so is a function among the
 * hints of a tool that returns a class; any other function is `{ $function: true }`.
 */
type PlainOptions = Readonly<Record<string, unknown>>;

/** The input of a fingerprint. Other properties are ignored, so that codegen can pass its declarations unchanged. */
export type FingerprintInput =
  /** The options `input` and `output` are ignored: schemas have no plain form. */
  | { readonly kind: 'tool'; readonly options: PlainOptions }
  | ({ readonly kind: 'resource'; readonly options: PlainOptions } & ResourceAddress)
  | { readonly kind: 'state' | 'agent'; readonly options: PlainOptions }
  | {
      readonly kind: 'prompt';
      readonly options: PlainOptions;
      /** In declaration order. */
      readonly args: readonly PlainField[];
    }
  | {
      readonly kind: 'workflow';
      readonly options: PlainOptions;
      /** In declaration order. */
      readonly args: readonly PlainField[];
      /** Fields with `@Step`, in declaration order. */
      readonly steps: readonly PlainField[];
    };

/** A decorated field as plain data. */
interface PlainField {
  readonly name: string;
  readonly options: PlainOptions;
}

/**
 * Returns the SHA-256, as 64 hexadecimal digits, of the options of a class's decorators. A registry stores it, and a
 * server compares it with that of the loaded class.
 *
 * @param hash another implementation of SHA-256 over the UTF-8 bytes of a text.
 * @throws TypeError for options that are not plain data.
 */
export function fingerprint(input: FingerprintInput, hash = sha256Hex): string {
  return hash(canonicalJson(covered(input) as Value));
}

/** Makes the input of a fingerprint from the metadata of a class. */
export function fromMetadata(metadata: ClassMetadata): FingerprintInput {
  switch (metadata.kind) {
    case 'tool':
      return { kind: 'tool', options: plainObject(withHandles(withoutSchemas(metadata.options))) };
    case 'resource':
      return { kind: 'resource', options: plainObject(metadata.options), ...addressIn(metadata) };
    case 'state':
    case 'agent':
      return { kind: metadata.kind, options: plainObject(metadata.options) };
    case 'prompt':
      return { kind: 'prompt', options: plainObject(metadata.options), args: plainArgs(metadata.args) };
    case 'workflow':
      return {
        kind: 'workflow',
        options: plainObject(metadata.options),
        args: plainArgs(metadata.args),
        steps: metadata.steps.map(({ name, options }) => ({ name, options: plainObject(options) })),
      };
    default:
      return metadata satisfies never;
  }
}

function covered(input: FingerprintInput): FingerprintInput {
  const { kind, options } = input;
  return {
    kind,
    options: kind === 'tool' ? withoutSchemas(options) : options,
    ...(input.kind === 'resource' ? addressIn(input) : {}),
    ...(input.kind === 'prompt' || input.kind === 'workflow' ? { args: input.args.map(coveredField) } : {}),
    ...(input.kind === 'workflow' ? { steps: input.steps.map(coveredField) } : {}),
  } as FingerprintInput;
}

function withoutSchemas<Options extends object>(options: Options): Omit<Options, 'input' | 'output'> {
  const { input: _input, output: _output, ...rest } = options as Options & PlainOptions;
  return rest;
}

/** A field without the further properties that codegen's declarations have. */
function coveredField({ name, options }: PlainField): PlainField {
  return { name, options };
}

function addressIn(resource: ResourceAddress): ResourceAddress {
  return resource.uri === undefined ? { uriTemplate: resource.uriTemplate } : { uri: resource.uri };
}

/** The options with the tool classes of `hints` in place of the functions that return them. */
function withHandles(options: ToolOptions): object {
  const { hints, ...rest } = options;
  if (hints === undefined) return rest;
  const { next, requires, ...others } = hints;
  const handles = { next: next?.map((tool) => tool()), requires: requires?.map((tool) => tool()) };
  return { ...rest, hints: { ...others, ...handles } };
}

/** `complete` is code: only its presence counts, as `{ $function: true }`. */
function plainArgs(args: readonly FieldMetadata<ArgOptions>[]): readonly PlainField[] {
  return args.map(({ name, options: { complete, ...rest } }) => ({
    name,
    options: { ...plainObject(rest), ...(complete === undefined ? {} : { complete: { $function: true } }) },
  }));
}

/**
 * Replaces classes by `{ $class: name }`, and values that no JSON literal has by `{ $other: type }`. Codegen refuses
 * the latter, so options with them match no registry.
 */
function plain(value: unknown): unknown {
  switch (typeof value) {
    case 'function':
      return { $class: value.name };
    case 'bigint':
    case 'symbol':
      return { $other: typeof value };
    case 'number':
      return Number.isFinite(value) ? value : { $other: String(value) };
    case 'object':
      if (value === null) return null;
      if (Array.isArray(value)) return value.map(plain);
      return isPlain(value) ? plainObject(value) : { $other: 'object' };
    default:
      return value;
  }
}

function plainObject(object: object): PlainOptions {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, plain(value)]));
}

function isPlain(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object);
  return prototype === null || prototype === Object.prototype;
}

/** The version of the format of `generated/registry.ts`. The runtime refuses registries of other versions. */
export const REGISTRY_VERSION = 1;

/** The tables of a registry: entries by name. Those of codegen have no classes and no functions yet. */
export interface RegistryTables {
  readonly tools: Readonly<Record<string, object>>;
  readonly resources: Readonly<Record<string, object>>;
  readonly workflows: Readonly<Record<string, object>>;
  readonly prompts?: Readonly<Record<string, object>>;
  readonly functions?: Readonly<Record<string, object>>;
  /** What is said about domains, each once. */
  readonly domains?: readonly { readonly name: string }[];
}

/**
 * Returns the SHA-256, as 64 hexadecimal digits, of the canonical JSON of the tables without `class` and `function` of
 * their entries. An absent table equals an empty one.
 *
 * @param hash another implementation of SHA-256 over the UTF-8 bytes of a text.
 */
export function registryChecksum(tables: RegistryTables, hash = sha256Hex): string {
  const { tools, resources, workflows, prompts = {}, functions = {}, domains = [] } = tables;
  const texts = (table: Readonly<Record<string, object>>) =>
    Object.fromEntries(Object.entries(table).map(([name, entry]) => [name, entryText(entry)]));
  const parts = partsOfTexts({
    ...{ tools: texts(tools), resources: texts(resources), workflows: texts(workflows) },
    ...{ prompts: texts(prompts), functions: texts(functions), domains: domainTexts(domains) },
  });
  return hash([...parts].join(''));
}

/** The table of {@link partsOfTexts} that domains make. */
export function domainTexts(domains: readonly { readonly name: string }[]): Readonly<Record<string, string>> {
  return Object.fromEntries(domains.map((domain) => [domain.name, entryText(domain)]));
}

/** The part of {@link registryChecksum} that one entry makes: its canonical JSON. */
export function entryText(entry: object): string {
  const { class: _class, function: _function, ...rest } = entry as Readonly<Record<string, unknown>>;
  return canonicalJson(rest as Value);
}

/** The texts of all entries, by table and name. */
type RegistryTexts = { readonly [K in keyof RegistryTables]-?: Readonly<Record<string, string>> };

/** What {@link registryChecksum} hashes, in parts: all of it together may be large. */
export function* partsOfTexts(tables: RegistryTexts): Generator<string> {
  const { prompts, functions, domains, ...always } = tables;
  // Empty tables are left out: registries from before these tables existed keep their checksums.
  const all = Object.entries({ prompts, functions, domains }).filter(
    ([, table]) => Object.keys(table).length > 0,
  );
  let separator = '{';
  for (const [name, table] of [...Object.entries(always), ...all].sort(([a], [b]) => (a < b ? -1 : 1))) {
    yield `${separator}${JSON.stringify(name)}:`;
    yield* partsOfObject(table);
    separator = ',';
  }
  yield '}';
}

/** Canonical JSON of an object whose members are canonical JSON. */
export function objectOfTexts(members: Readonly<Record<string, string>>): string {
  return [...partsOfObject(members)].join('');
}

function* partsOfObject(members: Readonly<Record<string, string>>): Generator<string> {
  let separator = '{';
  for (const name of Object.keys(members).sort()) {
    yield `${separator}${JSON.stringify(name)}:`;
    yield members[name] as string;
    separator = ',';
  }
  yield separator === '{' ? '{}' : '}';
}
