import 'reflect-metadata';
import type { ArgOptions } from './arg.js';
import { type DecoratorName, decorationFaults } from './faults.js';
import type {
  FieldMetadata,
  PromptMetadata,
  ResourceMetadata,
  StateMetadata,
  ToolMetadata,
  WorkflowMetadata,
} from './metadata.js';
import type { StepOptions } from './step.js';

/** The one key of everything recorded: on a class its metadata, on a prototype or a TC39 metadata object its fields. */
const KEY = Symbol.for('stepwright.metadata');

// TypeScript hands TC39 decorators a metadata object only where this symbol exists when the class is evaluated.
const METADATA_SYMBOL: symbol = Reflect.get(Symbol, 'metadata') ?? Symbol.for('Symbol.metadata');
if (Reflect.get(Symbol, 'metadata') === undefined) {
  Object.defineProperty(Symbol, 'metadata', { value: METADATA_SYMBOL });
}

type AnyClass = abstract new (...deps: never[]) => object;

/** What is stored on a class: a resource's address is read from the class itself. */
export type RecordedMetadata =
  | ToolMetadata
  | Pick<ResourceMetadata, 'kind' | 'options'>
  | WorkflowMetadata
  | PromptMetadata
  | StateMetadata;

/** The decorated fields of one class body, in declaration order. */
export interface FieldRecords {
  readonly args: readonly FieldMetadata<ArgOptions>[];
  readonly steps: readonly FieldMetadata<StepOptions>[];
}

type FieldRecord =
  | ({ readonly decorator: 'Arg' } & FieldMetadata<ArgOptions>)
  | ({ readonly decorator: 'Step' } & FieldMetadata<StepOptions>);

/** What was recorded on the class itself, its bases left out. */
export function recordedMetadata(cls: AnyClass): RecordedMetadata | undefined {
  return Reflect.getOwnMetadata(KEY, cls);
}

/**
 * The options a decorator was called with.
 *
 * @throws TypeError unless there is exactly one, an object: `@Tool` without a call is given a class.
 */
export function optionsOf<Options extends object>(
  decorator: DecoratorName,
  given: readonly unknown[],
): Options {
  const [options] = given;
  if (given.length !== 1 || typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new TypeError(decorationFaults.options(decorator));
  }
  return options as Options;
}

/**
 * Records a class's metadata.
 *
 * @param standInFor makes what replaces the class, for a class that does not stand for itself.
 * @returns the replacement; nothing leaves the class as it is.
 * @throws TypeError for a class that is decorated already, or whose fields or bases do not go with the decorator.
 */
export function decorateClass<T extends AnyClass>(
  decorator: DecoratorName,
  target: T,
  context: Pick<ClassDecoratorContext, 'metadata'> | undefined,
  toMetadata: (fields: FieldRecords) => RecordedMetadata,
  standInFor?: (target: T) => T,
): T | undefined {
  if (typeof target !== 'function') throw new TypeError(decorationFaults.notAClass(decorator));
  const earlier = recordedMetadata(target);
  if (earlier) throw new TypeError(decorationFaults.twice(decorator, earlier.kind, target.name));
  const records =
    (context ? recordsIn(context.metadata) : Reflect.getOwnMetadata(KEY, target.prototype)) ?? [];
  const fields = sorted(records);
  if (decorator === 'Workflow' || decorator === 'Prompt') {
    const base = baseWithRecords(target);
    if (base) throw new TypeError(decorationFaults.inheritedFields(decorator, target.name, base.name));
    if (decorator === 'Prompt' && fields.steps.length > 0)
      throw new TypeError(decorationFaults.stepsOutsideWorkflow(target.name));
  } else if (records.length > 0) {
    throw new TypeError(decorationFaults.fieldsOutsideWorkflow(decorator, target.name));
  }
  const metadata = toMetadata(fields);
  const standIn = standInFor?.(target);
  for (const cls of standIn ? [target, standIn] : [target]) Reflect.defineMetadata(KEY, metadata, cls);
  return standIn;
}

/**
 * Records a decorated field.
 *
 * @param decorated what the decorator was handed: prototype and key (legacy), or `undefined` and a context (TC39).
 * @throws TypeError unless it is a public field of the instance, decorated once.
 */
export function decorateField(
  decorator: 'Arg' | 'Step',
  decorated: readonly unknown[],
  options: ArgOptions | StepOptions,
): void {
  const field = isContext(decorated[1])
    ? contextField(decorator, decorated[1])
    : legacyField(decorator, decorated);
  if (field.records.some(({ name }) => name === field.name)) {
    throw new TypeError(decorationFaults.fieldTwice(decorator, field.name));
  }
  // The options were typed by the decorator that hands them over with its own name.
  field.store([...field.records, { decorator, name: field.name, options } as FieldRecord]);
}

/** Where a field's class keeps its records, whichever way the decorator was called. */
interface FieldSlot {
  readonly name: string;
  readonly records: readonly FieldRecord[];
  store(records: readonly FieldRecord[]): void;
}

function isContext(value: unknown): value is DecoratorContext {
  return typeof value === 'object' && value !== null && 'kind' in value;
}

function contextField(decorator: 'Arg' | 'Step', context: DecoratorContext): FieldSlot {
  const { kind, name, metadata } = context;
  if (kind !== 'field') throw new TypeError(decorationFaults.notAField(decorator, String(name)));
  if (context.static) throw new TypeError(decorationFaults.staticField(decorator, String(name)));
  if (context.private || typeof name !== 'string') {
    throw new TypeError(decorationFaults.unnamedField(decorator, String(name)));
  }
  if (!metadata) throw new TypeError(decorationFaults.noMetadata(decorator));
  return {
    name,
    records: recordsIn(metadata) ?? [],
    store: (records) => {
      metadata[KEY] = records;
    },
  };
}

function legacyField(decorator: 'Arg' | 'Step', [target, name, descriptor]: readonly unknown[]): FieldSlot {
  if (typeof target === 'function' && name !== undefined) {
    throw new TypeError(decorationFaults.staticField(decorator, String(name)));
  }
  if (typeof target !== 'object' || target === null || descriptor !== undefined) {
    throw new TypeError(decorationFaults.notAField(decorator, String(name ?? (target as AnyClass).name)));
  }
  if (typeof name !== 'string') throw new TypeError(decorationFaults.unnamedField(decorator, String(name)));
  return {
    name,
    records: Reflect.getOwnMetadata(KEY, target) ?? [],
    store: (records) => Reflect.defineMetadata(KEY, records, target),
  };
}

/** The records in a TC39 metadata object, which inherits from the one of the base class. */
function recordsIn(metadata: object | undefined): readonly FieldRecord[] | undefined {
  return metadata && Object.getOwnPropertyDescriptor(metadata, KEY)?.value;
}

function sorted(records: readonly FieldRecord[]): FieldRecords {
  const args: FieldMetadata<ArgOptions>[] = [];
  const steps: FieldMetadata<StepOptions>[] = [];
  for (const { decorator, name, options } of records) {
    if (decorator === 'Arg') args.push({ name, options });
    else steps.push({ name, options });
  }
  return { args, steps };
}

/** The nearest base class that has arguments or steps, or is a workflow or a prompt. */
function baseWithRecords(cls: AnyClass): AnyClass | undefined {
  for (
    let base = Object.getPrototypeOf(cls);
    typeof base?.prototype === 'object';
    base = Object.getPrototypeOf(base)
  ) {
    const own = Object.getOwnPropertyDescriptor(base, METADATA_SYMBOL)?.value;
    const records = recordsIn(own) ?? Reflect.getOwnMetadata(KEY, base.prototype);
    if (records || hasFields(recordedMetadata(base))) return base;
  }
  return undefined;
}

function hasFields(metadata: RecordedMetadata | undefined): boolean {
  return metadata?.kind === 'workflow' || metadata?.kind === 'prompt';
}
