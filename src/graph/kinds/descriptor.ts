import type { z } from 'zod';
import type { DiagnosticCode, DiagnosticParams } from '../diagnostics/diagnostic.js';
import type { DictExpr, Expr } from '../expression/tree.js';
import type { JsonSchema } from '../json.js';
import type {
  Compensation,
  Node,
  NodeBase,
  NodeKind,
  NodesByKind,
  OnError,
  ResourceRef,
  Scope,
} from './node.js';

/**
 * All that is particular to one kind of node and depends on the node alone. The kind's behaviour is in the rooms: how
 * it is written (decorators, codegen), run (engine) and shown (trace).
 */
export interface KindDescriptor<
  N extends Node,
  Value extends ValueRule<N> = Exclude<ValueRule<N>, 'derived'>,
> {
  /** Reads a node from data. Zod and the parts that kinds share are passed in: the engine loads descriptors, not zod. */
  readonly schema: (parts: SchemaParts) => z.ZodType<N>;
  /** Where its expressions are: those whose values it needs before it acts, in declaration order. */
  readonly expressions: ExpressionKeys<N>;
  /** Where its nested scopes are, in declaration order. */
  readonly bodies: BodyKeys<N>;
  readonly value: Value;
  /** What a host does for it: the work takes a slot and has a timeout by default. */
  readonly work: 'call' | 'function' | 'none' | ((node: Worker<N>) => 'call' | 'function' | 'none');
  /** Whether another attempt may end differently, so that `retry` is of use. */
  readonly isRetryable: boolean;
  /** Whether it waits for a person, a client, or a time. */
  readonly waits: boolean;
  /** How it ends its scope when it has run: `jump` starts a part of it over. */
  readonly exit: 'return' | 'failure' | 'jump' | 'none';
  /** Whether a reader sees it as a step. Other nodes decide and compute, unnoticed outside the run. */
  readonly isStep: boolean;
  /** The rules for which a look at the node is enough. */
  readonly faults: (node: N) => readonly NodeFault[];
  /** What it does, in a few words: `call add-line`. */
  readonly describe: (node: N, print: (expr: Expr) => string) => string;
  /** What it is in a picture. */
  readonly shape: 'step' | 'decision' | 'workflow' | 'question' | 'control' | 'state' | 'end' | 'undoing';
}

/**
 * What is known of a node's value: that there is `none`, nothing (`unknown`), its schema, or that it is made of the
 * values of others (`derived`): the checker and the flow of secrets then have a rule of their own.
 */
type ValueRule<N extends Node> = 'none' | 'unknown' | 'derived' | ((node: N) => JsonSchema);

/** The descriptors by kind. */
export type KindTable = { readonly [K in NodeKind]: AnyDescriptor<NodesByKind[K]> };

/** A descriptor of which only the type of its nodes is known. */
export type AnyDescriptor<N extends Node> = KindDescriptor<N, ValueRule<N>>;

/** The part of a node that its kind decides. */
export type OwnPart<N> = N extends Node ? Omit<N, keyof NodeBase> : never;

/** What decides about the work of a host for a node. */
export type Worker<N> = OwnPart<N> & Partial<Pick<NodeBase, 'executor'>>;

type OwnKey<N> = Exclude<keyof N, keyof NodeBase | 'kind'>;

/** For each property with an expression `true`, for each list whose items have one its name in the item. */
type ExpressionKeys<N> = {
  readonly [K in OwnKey<N> as ExpressionIn<NonNullable<N[K]>> extends never ? never : K]-?: ExpressionIn<
    NonNullable<N[K]>
  >;
};

type ExpressionIn<T> = T extends Expr
  ? true
  : // A compensation is evaluated when what it undoes is done.
    T extends readonly Compensation[]
    ? never
    : T extends readonly (infer Item)[]
      ? ExpressionKeyOf<Item>
      : never;

type ExpressionKeyOf<T> = T extends object
  ? { [K in keyof T & string]: T[K] extends Expr ? K : never }[keyof T & string]
  : never;

/** For each property how it holds bodies: as the `scope` itself, as one `arm` with a body, or as a list of `arms`. */
type BodyKeys<N> = {
  readonly [K in OwnKey<N> as BodyIn<NonNullable<N[K]>> extends never ? never : K]-?: BodyIn<
    NonNullable<N[K]>
  >;
};

type BodyIn<T> = T extends Scope
  ? 'scope'
  : Extract<T, { readonly body: Scope }> extends never
    ? T extends readonly (infer Item)[]
      ? Extract<Item, { readonly body: Scope }> extends never
        ? never
        : 'arms'
      : never
    : 'arm';

/** What the schemas of nodes are made of. */
export interface SchemaParts {
  readonly z: typeof z;
  /** The properties of all nodes. */
  readonly base: BaseShape;
  /** Those, and `onError`: for nodes whose failure another node or value may replace. */
  readonly fallible: FallibleShape;
  /** Those of fallible nodes, and `resources`: see `ResourceReader`. */
  readonly reading: FallibleShape & {
    readonly resources: z.ZodExactOptional<z.ZodType<readonly ResourceRef[]>>;
  };
  readonly expr: z.ZodType<Expr>;
  readonly dict: z.ZodType<DictExpr>;
  readonly scope: z.ZodType<Scope>;
  readonly compensation: z.ZodType<Compensation>;
  /** A JSON Schema, kept as it is. */
  readonly jsonSchema: z.ZodType<JsonSchema>;
}

type FallibleShape = BaseShape & { readonly onError: z.ZodExactOptional<z.ZodType<OnError>> };

/** The schemas of what {@link NodeBase} has and this version reads. */
type BaseShape = {
  readonly [K in keyof Omit<NodeBase, 'onError' | 'compensate'>]-?: undefined extends NodeBase[K]
    ? z.ZodExactOptional<z.ZodType<NonNullable<NodeBase[K]>>>
    : z.ZodType<NodeBase[K]>;
};

/** A fault that a look at a node is enough for. It is reported at the expression, or at the node where there is none. */
export type NodeFault = {
  [C in DiagnosticCode]: { readonly code: C; readonly params: DiagnosticParams<C>; readonly at?: Expr };
}[DiagnosticCode];

/** What most kinds are: a step without bodies or rules of its own, for which a host does nothing. */
export const usualKind = {
  bodies: {},
  work: 'none',
  isRetryable: false,
  waits: false,
  exit: 'none',
  isStep: true,
  faults: (): readonly NodeFault[] => [],
} as const;

/** The values a number may have, and how a sentence names them. */
export interface Range {
  readonly text: string;
  readonly holds: (value: number) => boolean;
}

export function wholeNumber(least: number, most?: number): Range {
  const { holds } = between(least, most ?? Number.MAX_SAFE_INTEGER);
  const text = `a whole number from ${least}${most === undefined ? '' : ` to ${most}`}`;
  return { text, holds: (value) => Number.isInteger(value) && holds(value) };
}

/** Written so that NaN is outside. */
export function between(least: number, most: number): Range {
  return { text: `from ${least} to ${most}`, holds: (value) => value >= least && value <= most };
}

/** SW4015 where an option of a node has a number outside its range. */
export function outOfRange(
  { id }: Pick<NodeBase, 'id'>,
  option: string,
  value: number,
  { text, holds }: Range,
): readonly NodeFault[] {
  if (holds(value)) return [];
  return [{ code: 'SW4015', params: { what: `step \`${id}\``, option, range: text, value } }];
}

/** The number that an expression writes out. */
export function numberIn(expr: Expr | undefined): number | undefined {
  if (expr?.kind === 'negate') {
    const value = numberIn(expr.of);
    return value === undefined ? undefined : -value;
  }
  return expr?.kind === 'literal' && typeof expr.value === 'number' ? expr.value : undefined;
}

/** `once`, `3 times`. */
export function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

/** `3 at once`, where there is a limit. */
export function atOnce(concurrency: number | undefined): string[] {
  return concurrency === undefined ? [] : [`${concurrency} at once`];
}
