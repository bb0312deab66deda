import { canonicalJson, sha256Hex } from '../graph/canonical.js';
import type { Value } from '../graph/json.js';
import type { ArgOptions } from './arg.js';
import type { FieldMetadata } from './decorate.js';
import type { ClassMetadata } from './metadata.js';
import type { ResourceAddress } from './resource.js';
import type { ToolOptions } from './tool.js';

/**
 * Decorator options as plain data, in the shape both sides can make: codegen from the source, the runtime from the
 * metadata. Keys with `undefined` count as left out. A class, wherever one stands, is `{ $class: 'Name' }`, and so is a
 * function that gives one, among the hints of a tool; any other function is `{ $function: true }`.
 */
type PlainOptions = Readonly<Record<string, unknown>>;

/** What a fingerprint covers. Further properties are ignored, so that codegen's declarations fit as they are. */
export type FingerprintInput =
  /** The schemas among the options are left out: only a call can compare them. */
  | { readonly kind: 'tool'; readonly options: PlainOptions }
  | ({ readonly kind: 'resource'; readonly options: PlainOptions } & ResourceAddress)
  | { readonly kind: 'state'; readonly options: PlainOptions }
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
      /** Fields under `@Step` alone, in declaration order. */
      readonly steps: readonly PlainField[];
    };

/** A decorated field, as plain data. */
interface PlainField {
  readonly name: string;
  readonly options: PlainOptions;
}

/**
 * Identity of what a class's decorators say: sha256, 64 hexadecimal digits. A registry stores it, and a server
 * compares it with the classes it has loaded.
 *
 * @throws TypeError for options that are not plain data.
 */
export function fingerprint(input: FingerprintInput): string {
  return sha256Hex(canonicalJson(covered(input) as Value));
}

/** The fingerprint's input, from what decorators recorded. */
export function fromMetadata(metadata: ClassMetadata): FingerprintInput {
  switch (metadata.kind) {
    case 'tool':
      return { kind: 'tool', options: plainObject(withHandles(withoutSchemas(metadata.options))) };
    case 'resource':
      return { kind: 'resource', options: plainObject(metadata.options), ...addressIn(metadata) };
    case 'state':
      return { kind: 'state', options: plainObject(metadata.options) };
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
  switch (input.kind) {
    case 'tool':
      return { kind: input.kind, options: withoutSchemas(input.options) };
    case 'resource':
      return { kind: input.kind, options: input.options, ...addressIn(input) };
    case 'state':
      return { kind: input.kind, options: input.options };
    case 'prompt':
      return { kind: input.kind, options: input.options, args: input.args.map(coveredField) };
    case 'workflow':
      return {
        kind: input.kind,
        options: input.options,
        args: input.args.map(coveredField),
        steps: input.steps.map(coveredField),
      };
    default:
      return input satisfies never;
  }
}

function withoutSchemas<Options extends object>(options: Options): Omit<Options, 'input' | 'output'> {
  const { input: _input, output: _output, ...rest } = options as Options & PlainOptions;
  return rest;
}

/** What a fingerprint covers of a field; declarations hold more. */
function coveredField({ name, options }: PlainField): PlainField {
  return { name, options };
}

function addressIn(resource: ResourceAddress): ResourceAddress {
  return resource.uri === undefined ? { uriTemplate: resource.uriTemplate } : { uri: resource.uri };
}

/** The tools that hints name by functions, so that classes may name each other, as the handles they are. */
function withHandles(options: ToolOptions): object {
  const { hints, ...rest } = options;
  if (hints === undefined) return rest;
  const { next, requires, ...others } = hints;
  const handles = { next: next?.map((tool) => tool()), requires: requires?.map((tool) => tool()) };
  return { ...rest, hints: { ...others, ...handles } };
}

/** What completes an argument is code: its presence counts, as `{ $function: true }`. */
function plainArgs(args: readonly FieldMetadata<ArgOptions>[]): readonly PlainField[] {
  return args.map(({ name, options: { complete, ...rest } }) => ({
    name,
    options: { ...plainObject(rest), ...(complete === undefined ? {} : { complete: { $function: true } }) },
  }));
}

/**
 * Classes by name. What no literal can be stands by its type: codegen refuses it, so that such options match no
 * registry.
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

/** The format of `generated/registry.ts`: codegen writes it, the runtime refuses a registry of another one. */
export const REGISTRY_VERSION = 1;

/** The tables of a registry, by name; codegen's have no classes and no functions yet. */
export interface RegistryTables {
  readonly tools: Readonly<Record<string, object>>;
  readonly resources: Readonly<Record<string, object>>;
  readonly workflows: Readonly<Record<string, object>>;
  readonly prompts?: Readonly<Record<string, object>>;
  readonly functions?: Readonly<Record<string, object>>;
}

/**
 * sha256 (64 hexadecimal digits) of the canonical JSON of the tables, `class` and `function` of each entry left out.
 * A table that is left out counts as an empty one.
 */
export function registryChecksum(tables: RegistryTables): string {
  const { tools, resources, workflows, prompts = {}, functions = {} } = tables;
  const parts = {
    tools: withoutCode(tools),
    resources: withoutCode(resources),
    workflows: withoutCode(workflows),
    // A registry without them has the checksum it had before there were any.
    ...(Object.keys(prompts).length === 0 ? {} : { prompts: withoutCode(prompts) }),
    ...(Object.keys(functions).length === 0 ? {} : { functions: withoutCode(functions) }),
  };
  return sha256Hex(canonicalJson(parts as Value));
}

function withoutCode(table: Readonly<Record<string, object>>): object {
  return Object.fromEntries(
    Object.entries(table).map(([name, entry]) => {
      const { class: _class, function: _function, ...rest } = entry as Readonly<Record<string, unknown>>;
      return [name, rest];
    }),
  );
}
