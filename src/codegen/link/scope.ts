import type { TemplatePosition } from '../../formats/jinja/lower.js';
import { defined } from '../../graph/defined.js';
import { diagnostic, type Report } from '../../graph/diagnostics/diagnostic.js';
import { references } from '../../graph/expression/traversal.js';
import type { Expr } from '../../graph/expression/tree.js';
import { freeName, nearestName } from '../../graph/names.js';
import type { SourceLocation } from '../../graph/source-location.js';
import { fieldNames, type StepDeclaration, type WorkflowDeclaration } from '../declarations.js';
import { type ExpressionSyntax, PATTERN, type PatternName } from '../syntax.js';
import { type CallSyntax, symbolOf, unwrap } from '../verbs.js';
import { describeGiven } from './describe.js';
import type { Functions, Handles } from './handles.js';
import type { Binding, NodeIds, Settling } from './nodes.js';

export type SyntaxOf<K extends ExpressionSyntax['kind']> = Extract<ExpressionSyntax, { kind: K }>;

/** The meaning of a name that an arrow binds. */
export type Local = Binding | { readonly kind: 'error' };

/** What an expression may use. */
export interface ExpressionScope {
  readonly bindings: Bindings;
  readonly handles: Handles;
  readonly report: Report;
  /** The names that arrows around the expression bind. */
  readonly locals?: ReadonlyMap<string, Local>;
  /** Where Jinja templates of the expression are. Default: they are values. */
  readonly template?: TemplatePosition;
  /** The values of parts that were linked before. */
  readonly given?: ReadonlyMap<ExpressionSyntax, Expr>;
  /** Gives a `read(…)` or an `ask.model(…)` inside an expression a node of its own; without it, both are refused here. */
  readonly hoist?: Hoist;
}

/** @param path where the value goes, by keys and indexes from the outermost expression. */
type Hoist = (call: CallSyntax, path: readonly (string | number)[]) => Expr | undefined;

/** What a step, or a part of one, is linked against. */
export interface StepScope extends Pick<ExpressionScope, 'bindings' | 'handles' | 'report' | 'locals'> {
  readonly step: StepDeclaration;
  /** The id of the node to be made: the step's own, or one derived from it. */
  readonly id: string;
  /** What the ids of further nodes begin with, where that is not `id`: parts of a chain are numbered. */
  readonly prefix?: string;
  /** The id of the step's own node. */
  readonly ownId: string;
  readonly ids: NodeIds;
  /** The location of the node: the step's field, or an expression in its initializer. */
  readonly source: SourceLocation;
  readonly functions: Functions;
  /** The names of items and indices of the loops around this part. */
  readonly loopNames?: readonly string[];
  /** Set in the body of a node that carries the options of the step itself. */
  readonly isBody?: true;
  /** The id of the first node of an earlier step; nothing if `name` is not one. */
  readonly firstNodeOf: (name: string) => string | undefined;
  /** What a call waits for besides the nodes before it; an option `after` that says nothing there is reported. */
  readonly alsoAfter: (call: CallSyntax, inside: string | undefined) => readonly string[];
  /** The step or node that contains this part. `goto` and `after` are not allowed in it. */
  readonly inside?: string;
}

/** The names a step may use: arguments and steps written before it. */
export interface Bindings {
  /** The meaning of a name; nothing where it cannot be used, which has been reported. */
  resolve(name: string, at: SourceLocation): Binding | undefined;
  /** The same without a report. */
  find(name: string): Binding | undefined;
  /** How an earlier step settles; nothing for other names. */
  settlingOf(name: string): Settling | undefined;
  /** Whether a name is bound by a field after the current one. */
  isDeclaredBelow(name: string): boolean;
  /** What to write instead of a name that `find` does not know, where that is known; else the names it does. */
  hintFor(name: string): {
    readonly suggestion?: string | undefined;
    readonly hint?: string | undefined;
    readonly candidates?: readonly string[];
  };
  /** The name that a field has now, or else one of some names that is near. */
  intendedName(name: string, candidates: readonly string[]): string | undefined;
}

/** Bindings while a workflow is linked, field by field. */
export class WorkflowBindings implements Bindings {
  readonly #bound = new Map<string, Binding>();
  readonly #settling = new Map<string, Settling>();
  readonly #places: ReadonlyMap<string, SourceLocation>;
  /** Fields of arguments by the names that callers know them by, which guidance may use. */
  readonly #fieldsByArgument: ReadonlyMap<string, string>;
  readonly #report: Report;
  /** Fields that were renamed, by their former names. */
  readonly #renamed: ReadonlyMap<string, string>;
  #current = '';

  /** @param formerNames - of all fields, in their order, in an earlier run. */
  constructor(workflow: WorkflowDeclaration, report: Report, formerNames: readonly string[] = []) {
    this.#renamed = renamedFields(formerNames, fieldNames(workflow));
    this.#places = new Map([...workflow.args, ...workflow.steps].map(({ name, place }) => [name, place]));
    this.#fieldsByArgument = new Map(
      workflow.args.flatMap(({ argument, name }) => (this.#places.has(argument) ? [] : [[argument, name]])),
    );
    for (const name of workflow.faultyFields) this.#bound.set(name, { kind: 'faulty' });
    this.#report = report;
  }

  /** Names the field whose initializer is read next. */
  enter(name: string): void {
    this.#current = name;
  }

  bind(name: string, binding: Binding): void {
    this.#bound.set(name, binding);
  }

  /** Names how the step of a field settles. */
  settles(name: string, settling: Settling): void {
    this.#settling.set(name, settling);
  }

  settlingOf(name: string): Settling | undefined {
    return this.#settling.get(name);
  }

  find(name: string): Binding | undefined {
    return this.#bound.get(this.#fieldsByArgument.get(name) ?? name);
  }

  isDeclaredBelow(name: string): boolean {
    return name !== this.#current && this.#places.has(name) && !this.#bound.has(name);
  }

  hintFor(name: string): ReturnType<Bindings['hintFor']> {
    if (!this.#places.has(name)) {
      const candidates = [...this.#bound.keys()];
      return { suggestion: this.intendedName(name, candidates), candidates };
    }
    if (name === this.#current) return { hint: 'a step has no value before it has run' };
    return { hint: `\`${name}\` is bound below: move it above \`${this.#current}\`` };
  }

  intendedName(name: string, candidates: readonly string[]): string | undefined {
    const renamed = this.#renamed.get(name);
    return renamed !== undefined && candidates.includes(renamed) ? renamed : nearestName(name, candidates);
  }

  resolve(name: string, at: SourceLocation): Binding | undefined {
    const bound = this.#bound.get(name);
    if (bound !== undefined) return bound;
    const later = this.#places.get(name);
    if (later === undefined) {
      const suggestion = this.intendedName(name, [...this.#bound.keys()]);
      this.#report(diagnostic('SW3001', at, { name, suggestion }));
      return undefined;
    }
    const related = name === this.#current ? [] : [{ message: 'bound here', place: later }];
    this.#report(diagnostic('SW3004', at, { name, step: this.#current }, { related }));
    return undefined;
  }
}

/** Fields that have another name in the same place, where there are as many as before. */
function renamedFields(former: readonly string[], names: readonly string[]): ReadonlyMap<string, string> {
  if (former.length !== names.length) return new Map();
  return new Map(
    former.flatMap((name, index) => {
      const now = names[index] ?? name;
      return names.includes(name) || former.includes(now) ? [] : [[name, now]];
    }),
  );
}

/** The names of an arrow's parameters, and its body. */
export interface Arrow {
  readonly names: readonly string[];
  /** For each parameter that is destructured, the names it binds. */
  readonly patterns?: readonly (readonly PatternName[] | undefined)[];
  readonly body: ExpressionSyntax;
}

/** The names of an arrow over the items of a list, and its body. */
export interface LoweredArrow {
  readonly as: string;
  readonly indexAs?: string;
  readonly body: Expr;
}

/** Examples of the arrows of verbs. Those of methods take an item. */
const ARROWS: Readonly<Record<string, string>> = {
  chain: '(value) => call(…)',
  attempt: '(error) => …',
  forEach: '(item) => call(…)',
  compensate: '(out) => call(…)',
  transform: '(out) => out.id',
};

/** @param method what takes the arrow, for messages. */
export function lowerArrow(
  syntax: ExpressionSyntax,
  method: string,
  scope: ExpressionScope,
  lower: (body: ExpressionSyntax, locals: ReadonlyMap<string, Local>) => Expr | undefined,
): LoweredArrow | undefined {
  const arrow = readArrow(syntax, `.${method}`, 2, scope.report);
  if (arrow === undefined) return undefined;
  const names = (arrow.names.length === 0 ? [PATTERN] : arrow.names).map((name) =>
    freeLocal(name, scope.locals),
  );
  const [item = PATTERN, index] = names;
  const parameters = names.map(
    (name): Local => ({ kind: 'value', expr: { kind: 'ref', root: 'local', path: [name] } }),
  );
  const body = lower(arrow.body, localsOf(arrow, parameters, scope.locals, lower));
  return body && { as: item, ...defined({ indexAs: index }), body };
}

/** A name that hides none of the names that other names around the arrow are read from. */
function freeLocal(name: string, locals: ExpressionScope['locals']): string {
  const used = new Set<string | number | undefined>();
  for (const [key, local] of locals ?? []) {
    if (local.kind !== 'value' || key === name) continue;
    for (const { ref } of references(local.expr)) if (ref.root === 'local') used.add(ref.path[0]);
  }
  return freeName(name, (each) => used.has(each));
}

/**
 * The names known in the body of an arrow: those around it, its parameters, and the names that patterns bind.
 * @param parameters the values of the arrow's parameters; a missing one binds no name.
 */
export function localsOf(
  { names, patterns = [] }: Pick<Arrow, 'names' | 'patterns'>,
  parameters: readonly Local[],
  around: ExpressionScope['locals'],
  lower: (value: ExpressionSyntax, locals: ReadonlyMap<string, Local>) => Expr | undefined,
): ReadonlyMap<string, Local> {
  const locals = new Map(around);
  for (const [index, name] of names.entries()) {
    const parameter = parameters[index];
    if (parameter === undefined) continue;
    const pattern = patterns[index];
    if (pattern === undefined) locals.set(name, parameter);
    for (const part of pattern ?? []) {
      const expr = lower(part.value, new Map([...locals, [PATTERN, parameter]]));
      locals.set(part.name, expr === undefined ? { kind: 'faulty' } : { kind: 'value', expr });
    }
  }
  return locals;
}

/** An arrow whose parameters are plain names and whose body is an expression; anything else is reported. */
export function readArrow(
  syntax: ExpressionSyntax,
  taker: string,
  most: number,
  report: Report,
): Arrow | undefined {
  const arrow = unwrap(syntax);
  const refuse = (at: ExpressionSyntax['place'], what: string, hint: string): undefined => {
    report(diagnostic('SW2001', at, { what }, { hint }));
    return undefined;
  };
  if (arrow.kind !== 'arrow') {
    const argument = symbolOf(arrow)?.kind === 'function' ? 'a function by name' : describeGiven(arrow);
    const hint = `write an arrow with an expression: \`${ARROWS[taker] ?? '(item) => …'}\``;
    const params = { taker: `\`${taker}\``, takes: 'an arrow', actual: argument };
    report(diagnostic('SW2008', syntax.place, params, { hint }));
    return undefined;
  }
  return checkArrow(arrow, taker, most, refuse);
}

function checkArrow(
  { parameters, body, isAsync, place }: SyntaxOf<'arrow'>,
  taker: string,
  most: number,
  refuse: (at: ExpressionSyntax['place'], what: string, hint: string) => undefined,
): Arrow | undefined {
  const faults = parameters.filter(({ unsupported }) => unsupported !== undefined);
  for (const { place: at, unsupported, instead } of faults) refuse(at, unsupported ?? '', instead ?? '');
  if (faults.length > 0) return undefined;
  const extra = parameters[most];
  if (extra !== undefined) {
    const count = most === 1 ? 'one parameter' : `${most} parameters`;
    return refuse(
      extra.place,
      `the parameter \`${extra.name}\``,
      `the arrow of \`${taker}\` has ${count} at most`,
    );
  }
  if (isAsync) return refuse(place, 'an asynchronous function', 'leave out `async`: nothing in it waits');
  if (body === undefined)
    return refuse(place, 'a function with statements', 'write its body as one expression, without braces');
  const patterns = parameters.map(({ pattern }) => pattern);
  const isTakenApart = patterns.some((pattern) => pattern !== undefined);
  return { names: parameters.map(({ name }) => name), body, ...(isTakenApart ? { patterns } : {}) };
}
