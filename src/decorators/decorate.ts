import type { JsonObject } from '../graph/json.js';

import 'reflect-metadata/lite';
/**
 * The type of a decorator of classes assignable to `Class`. Like the types of fields below it covers both calling
 * conventions: legacy decorators (`experimentalDecorators`) get the class, or the prototype and a key; TC39 decorators
 * get the class or `undefined`, and a context.
 */
export type DecoratesClass<Class extends abstract new (...deps: never[]) => object> = <T extends Class>(
  target: T,
  context?: ClassDecoratorContext<T>,
) => void;

/** The TC39 context of a public instance field with a string key, the only fields that are decorated. */
type FieldContext<This = unknown, Value = unknown> = ClassFieldDecoratorContext<This, Value> & {
  readonly name: string;
  readonly static: false;
  readonly private: false;
};

/**
 * The first argument of a field decorator: the prototype of the class (legacy) or `undefined` (TC39). The property
 * `prototype` excludes classes, which are the target of a legacy decorator on a static member.
 */
export type FieldTarget = (object & { readonly prototype?: never }) | undefined;

/** The second argument of a field decorator: the name of the field (legacy) or its context (TC39). */
export type FieldKey = string | FieldContext;

/** The type of a decorated field; `unknown` for a private field under a legacy decorator, since `keyof` omits it. */
export type FieldType<T, K> =
  K extends FieldContext<infer _This, infer Value> ? Value : K extends keyof T ? T[K] : unknown;

/** Whether the author's project has `exactOptionalPropertyTypes`: an optional property does not accept `undefined`. */
type IsExact = { readonly a: undefined } extends { readonly a?: 1 } ? false : true;

/**
 * The type of a value that an author passes as a `T`. Optional properties accept `undefined` even under
 * `exactOptionalPropertyTypes`, since absent values are dropped before a tool is called. Without that option it is `T`.
 */
export type Given<T> = IsExact extends true ? WithOptional<T, undefined> : T;

/**
 * The type of the input that a tool receives if the output type of its schema is `T`. Under
 * `exactOptionalPropertyTypes` optional properties exclude `undefined`, since JSON has no such value.
 */
export type Received<T> = IsExact extends true ? WithOptional<T, never> : T;

/** `T` with `undefined` in the type of each optional property, at any depth, replaced by `Absent`. */
type WithOptional<T, Absent> = unknown extends T
  ? T
  : // Arrays have cases of their own: a mapped type over them is expanded eagerly, without end for a recursive type.
    T extends (infer Item)[]
    ? number extends T['length']
      ? WithOptional<Item, Absent>[]
      : T
    : T extends readonly (infer Item)[]
      ? number extends T['length']
        ? readonly WithOptional<Item, Absent>[]
        : T
      : T extends (...args: never[]) => unknown
        ? T
        : T extends object
          ? {
              [K in keyof T]: IsOptional<T, K> extends true
                ? WithOptional<Exclude<T[K], undefined>, Absent> | Absent
                : WithOptional<T[K], Absent>;
            }
          : T;

/** Whether `K` is an optional property. An index signature is not. */
type IsOptional<T, K extends keyof T> = string extends K
  ? false
  : number extends K
    ? false
    : Record<never, never> extends Pick<T, K>
      ? true
      : false;

/** `T` with all properties read-only, at any depth: the type of a constant that fits `T`. */
export type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;

/** An intersection of object types as one object type. By `& {}` messages show its properties, and not this name. */
export type Flat<T> = { [K in keyof T]: T[K] } & {};

/**
 * The metadata key of the record of a class, on the class, and of its fields, on the prototype or TC39 metadata object.
 */
const KEY = Symbol.for('stepwright.metadata');

// TypeScript passes a metadata object to TC39 decorators only if this symbol exists when the class is evaluated.
const METADATA_SYMBOL: symbol = Reflect.get(Symbol, 'metadata') ?? Symbol.for('Symbol.metadata');
if (Reflect.get(Symbol, 'metadata') === undefined) {
  Object.defineProperty(Symbol, 'metadata', { value: METADATA_SYMBOL });
}

type AnyClass = abstract new (...deps: never[]) => object;

/** A decorated field: its name, and the options of its decorator as written. */
export interface FieldMetadata<Options = object> {
  readonly name: string;
  readonly options: Options;
}

/** The decorated fields of one class body, in declaration order. */
export interface FieldRecords {
  readonly args: readonly FieldMetadata[];
  readonly steps: readonly FieldMetadata[];
}

/**
 * The data that a class decorator stores on its class. Its types are those that all decorators share, so that this file
 * imports none of them; `ClassMetadata` has the exact types.
 */
export interface ClassRecord extends Partial<FieldRecords> {
  readonly kind: 'tool' | 'resource' | 'workflow' | 'prompt' | 'state' | 'agent';
  readonly options: { readonly name: string };
}

type FieldDecorator = 'Arg' | 'Step';

interface FieldRecord extends FieldMetadata {
  readonly decorator: FieldDecorator;
}

/**
 * Returns the record of a class, or `undefined` for a class without a decorator. Records of base classes do not count.
 */
export function recordOf(cls: AnyClass): ClassRecord | undefined {
  return Reflect.getOwnMetadata(KEY, cls);
}

/**
 * Returns the options that a decorator was called with.
 *
 * @param args all arguments of the call. `@Tool` without parentheses gets the class.
 * @throws TypeError unless `given` is exactly one object, neither a class nor an array.
 */
export function optionsOf<Options extends object>(
  decorator: DecoratorName,
  args: readonly unknown[],
): Options {
  const [options] = args;
  if (args.length !== 1 || typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new TypeError(decorationErrors.options(decorator));
  }
  return options as Options;
}

/**
 * Stores the record of a decorated class.
 *
 * @param context the context of a TC39 decorator, `undefined` for a legacy one.
 * @param toRecord makes the record from the decorated fields.
 * @param replace makes a class that replaces the decorated one, and gets the same record.
 * @returns the replacement, or `undefined` to keep the class.
 * @throws TypeError if `target` is not a class, has a record already, has decorated fields that the decorator does not
 *   allow, or if a workflow or prompt class extends a class with arguments or steps.
 */
export function decorateClass<T extends AnyClass>(
  decorator: DecoratorName,
  target: T,
  context: Pick<ClassDecoratorContext, 'metadata'> | undefined,
  toRecord: (fields: FieldRecords) => ClassRecord,
  replace?: (target: T) => T,
): T | undefined {
  if (typeof target !== 'function') throw new TypeError(decorationErrors.notAClass(decorator));
  const earlier = recordOf(target);
  if (earlier) throw new TypeError(decorationErrors.twice(decorator, earlier.kind, target.name));
  const records =
    (context ? recordsIn(context.metadata) : Reflect.getOwnMetadata(KEY, target.prototype)) ?? [];
  const fields = sorted(records);
  if (decorator === 'Workflow' || decorator === 'Prompt') {
    const base = baseWithRecords(target);
    if (base) throw new TypeError(decorationErrors.inheritedFields(decorator, target.name, base.name));
    if (decorator === 'Prompt' && fields.steps.length > 0)
      throw new TypeError(decorationErrors.stepsOutsideWorkflow(target.name));
  } else if (records.length > 0) {
    throw new TypeError(decorationErrors.fieldsOutsideWorkflow(decorator, target.name));
  }
  const record = toRecord(fields);
  const replacement = replace?.(target);
  for (const cls of replacement ? [target, replacement] : [target]) Reflect.defineMetadata(KEY, record, cls);
  return replacement;
}

/**
 * Stores the record of a decorated field.
 *
 * @param decorated the arguments of the decorator: prototype and key (legacy), or `undefined` and a context (TC39).
 * @throws TypeError unless it is a public instance field that no other decorator of this package is on, or if the
 *   compiler passes no metadata object to TC39 decorators.
 */
export function decorateField(
  decorator: FieldDecorator,
  decorated: readonly unknown[],
  options: object,
): void {
  const field = isContext(decorated[1])
    ? contextField(decorator, decorated[1])
    : legacyField(decorator, decorated);
  if (field.records.some(({ name }) => name === field.name)) {
    throw new TypeError(decorationErrors.fieldTwice(decorator, field.name));
  }
  field.store([...field.records, { decorator, name: field.name, options }]);
}

/** A field's name, and access to the field records of its class under either calling convention. */
interface FieldSlot {
  readonly name: string;
  readonly records: readonly FieldRecord[];
  store(records: readonly FieldRecord[]): void;
}

function isContext(value: unknown): value is DecoratorContext {
  return typeof value === 'object' && value !== null && 'kind' in value;
}

function contextField(decorator: FieldDecorator, context: DecoratorContext): FieldSlot {
  const { kind, name, metadata } = context;
  if (kind !== 'field') throw new TypeError(decorationErrors.notAField(decorator, String(name)));
  if (context.static) throw new TypeError(decorationErrors.staticField(decorator, String(name)));
  if (context.private || typeof name !== 'string') {
    throw new TypeError(decorationErrors.unnamedField(decorator, String(name)));
  }
  if (!metadata) throw new TypeError(decorationErrors.noMetadata(decorator));
  return {
    name,
    records: recordsIn(metadata) ?? [],
    store: (records) => {
      metadata[KEY] = records;
    },
  };
}

function legacyField(decorator: FieldDecorator, [target, name, descriptor]: readonly unknown[]): FieldSlot {
  if (typeof target === 'function' && name !== undefined) {
    throw new TypeError(decorationErrors.staticField(decorator, String(name)));
  }
  if (typeof target !== 'object' || target === null || descriptor !== undefined) {
    throw new TypeError(decorationErrors.notAField(decorator, String(name ?? (target as AnyClass).name)));
  }
  if (typeof name !== 'string') throw new TypeError(decorationErrors.unnamedField(decorator, String(name)));
  return {
    name,
    records: Reflect.getOwnMetadata(KEY, target) ?? [],
    store: (records) => Reflect.defineMetadata(KEY, records, target),
  };
}

/**
 * Reads the records from a TC39 metadata object. It inherits from that of the base class, whose records do not count.
 */
function recordsIn(metadata: object | undefined): readonly FieldRecord[] | undefined {
  return metadata && Object.getOwnPropertyDescriptor(metadata, KEY)?.value;
}

function sorted(records: readonly FieldRecord[]): FieldRecords {
  const args: FieldMetadata[] = [];
  const steps: FieldMetadata[] = [];
  for (const { decorator, name, options } of records) {
    if (decorator === 'Arg') args.push({ name, options });
    else steps.push({ name, options });
  }
  return { args, steps };
}

/** Returns the nearest base class that has arguments or steps, or is a workflow or prompt class. */
function baseWithRecords(cls: AnyClass): AnyClass | undefined {
  for (
    let base = Object.getPrototypeOf(cls);
    typeof base?.prototype === 'object';
    base = Object.getPrototypeOf(base)
  ) {
    const own = Object.getOwnPropertyDescriptor(base, METADATA_SYMBOL)?.value;
    const records = recordsIn(own) ?? Reflect.getOwnMetadata(KEY, base.prototype);
    if (records || canHaveFields(recordOf(base))) return base;
  }
  return undefined;
}

function canHaveFields(record: ClassRecord | undefined): boolean {
  return record?.kind === 'workflow' || record?.kind === 'prompt';
}

/**
 * Thrown if a workflow class is instantiated or a verb is called. Codegen reads workflow classes and makes graphs of
 * them; a server runs the graphs.
 */
export class WorkflowNotRunnableError extends Error {
  override readonly name = 'WorkflowNotRunnableError';

  /** @param attempted the expression that threw, as source text: `new AddTask()`, `call(...)`. */
  constructor(attempted: string) {
    super(
      `${attempted}: workflow classes are read by the compiler, never instantiated: ` +
        'run `stepwright codegen` and serve the registry it writes',
    );
  }
}

const optionExamples = {
  Tool: "@Tool({ name: '…', description: '…' })",
  Resource: "@Resource({ name: '…' })",
  Workflow: "@Workflow({ name: '…', description: '…' })",
  Prompt: "@Prompt({ name: '…', description: '…' })",
  State: "@State({ name: '…' })",
  Agent: "@Agent({ name: '@…' })",
  Arg: "@Arg({ description: '…' })",
  Step: '@Step()',
} as const;

/** The decorators of this package, by name. */
export type DecoratorName = keyof typeof optionExamples;

/** Messages of the `TypeError`s for uses of decorators and prompts that the types cannot or did not prevent. */
export const decorationErrors = {
  options: (decorator: DecoratorName) =>
    `@${decorator} takes one object of options and is always called: ${optionExamples[decorator]}`,
  notAClass: (decorator: DecoratorName) => `@${decorator} decorates a class`,
  twice: (decorator: DecoratorName, first: string, className: string) =>
    `class ${className} is a ${first} already and cannot be decorated with @${decorator} as well`,
  notAField: (decorator: DecoratorName, member: string) =>
    `@${decorator} decorates a field, which \`${member}\` is not`,
  staticField: (decorator: DecoratorName, member: string) =>
    `@${decorator} decorates a field of the instance: leave out \`static\` before \`${member}\``,
  unnamedField: (decorator: DecoratorName, member: string) =>
    `@${decorator} decorates a public field with an identifier for a name, which \`${member}\` is not`,
  fieldTwice: (decorator: DecoratorName, member: string) =>
    `\`${member}\` is decorated twice, the second time with @${decorator}: a field is an argument or a step, once`,
  fieldsOutsideWorkflow: (decorator: DecoratorName, className: string) =>
    `class ${className} has fields with @Arg or @Step, which mean nothing under @${decorator}: they belong under @Workflow, @Arg under @Prompt as well`,
  stepsOutsideWorkflow: (className: string) =>
    `class ${className} has fields with @Step, which mean nothing under @Prompt: they belong under @Workflow`,
  inheritedFields: (decorator: 'Workflow' | 'Prompt', className: string, base: string) => {
    const kind = decorator.toLowerCase();
    return `${kind} ${className} extends ${base}, whose arguments and steps are not inherited: a ${kind} class extends nothing`;
  },
  noMetadata: (decorator: DecoratorName) =>
    `@${decorator} was given no decorator metadata: compile with TypeScript 5.2 or later, and load \`stepwright\` before the class`,
  noUri: (className: string) =>
    `resource ${className} has no address: write \`static readonly uri = 'resource://…'\` in the class`,
  unclearUri: (className: string) =>
    `resource ${className} has no clear address: \`uri\` and \`uriTemplate\` are texts, and a class has one of them`,
  promptPart: (what: string) =>
    `prompt\`…\` takes text, numbers, booleans and classes with a decorator, not ${what}`,
  notAHandle: (className: string) =>
    `class ${className} is not a tool, resource or workflow: it has none of the decorators @Tool, @Resource and @Workflow`,
  promptName: (name: string, rule: string) => `\`${name}\` is not a valid prompt name: names match ${rule}`,
  promptArgumentName: (name: string) =>
    `\`${name}\` is not a valid argument name: use an identifier, with \`.\` and \`-\` inside`,
  promptArgumentTwice: (name: string) => `the prompt has an argument \`${name}\` already`,
} as const;

/** The option that every verb of a step takes; `chain` takes it in the step it begins with. */
export interface OrderOptions {
  /**
   * The steps that this one waits for, as `this.step`; `[]` starts it at once. It also waits for the steps whose values
   * it uses. The same as `after` of `@Step(...)`, in references that editors rename. Default: the step before it.
   */
  readonly after?: readonly unknown[];
  /**
   * The class of the field of state that the node's value is written to when it succeeds: the whole answer of a question or
   * an agent, such as `{ input }` or `{ response }`. Default: it is written nowhere.
   */
  readonly writes?: new () => { value: unknown };
}

/** An icon, as MCP defines it. */
export interface Icon {
  /** A URL: `https:`, or `data:` with the image itself. */
  readonly src: string;
  readonly mimeType?: string;
  /** Sizes in pixels, such as `48x48`; `any` for a scalable image. */
  readonly sizes?: readonly string[];
  /** The colour theme it is made for. */
  readonly theme?: 'light' | 'dark';
}

/** What every decorated class may say in the lists of clients. */
export interface ListedOptions {
  readonly icons?: readonly Icon[];
  /**
   * Data for clients, as `_meta` in the list. Keys have the form of MCP, such as `example.com/owner`; those that begin
   * with `stepwright/` are reserved. Default: none.
   */
  readonly meta?: JsonObject;
}
