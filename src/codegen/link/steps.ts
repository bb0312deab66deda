import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { CallNode, ErrorNode, ResourceNode, ReturnNode } from '../../graph/model.js';
import type { Place } from '../../graph/place.js';
import type { StepDeclaration } from '../declarations.js';
import type { ExpressionSyntax } from '../syntax.js';
import { type CallSyntax, outcomeVerbs, unwrap, type Verb, verbOf } from '../verbs.js';
import type { Binding, Bindings } from './bindings.js';
import {
  allOf,
  type ExpressionScope,
  lowerCondition,
  lowerDict,
  lowerExpression,
  negate,
} from './expressions.js';
import type { Handles } from './handles.js';

/** What a step is linked against. */
export interface StepScope {
  readonly step: StepDeclaration;
  /** The id of the step's own node. */
  readonly id: string;
  readonly bindings: Bindings;
  readonly handles: Handles;
  readonly report: (diagnostic: Diagnostic) => void;
}

/** The part of a node that its verb decides. */
export type NodeCore =
  | Pick<CallNode, 'kind' | 'tool' | 'input'>
  | Pick<ResourceNode, 'kind' | 'resource' | 'uri'>
  | Pick<ErrorNode, 'kind' | 'message'>
  | Pick<ReturnNode, 'kind' | 'value'>;

/** A read that stood inside an expression, and runs before it. */
export interface HoistedRead {
  readonly id: string;
  readonly core: Pick<ResourceNode, 'kind' | 'resource' | 'uri'>;
  readonly source: Place;
}

/** What a step comes to: its node, the reads before it, and what its name stands for from here on. */
export interface StepOutcome {
  readonly core: NodeCore;
  readonly when?: Expr;
  readonly hoisted: readonly HoistedRead[];
  readonly binding: Binding;
}

/** Links a step's initializer; nothing where a part of it was reported, here or before. */
export function linkInitializer(scope: StepScope): StepOutcome | undefined {
  return new StepLinker(scope).link(scope.step.initializer, []);
}

/** The value of a node, by its id. */
export function nodeValue(id: string): Expr {
  return { kind: 'ref', root: 'steps', path: [id] };
}

/** The text of a resource node; absent for one that was skipped, where that can be. */
function resourceText(id: string, mayBeSkipped: boolean): Expr {
  const key: Expr = { kind: 'literal', value: 'text' };
  return { kind: 'get', of: nodeValue(id), key, ...(mayBeSkipped ? { optional: true } : {}) };
}

/** What a verb makes of its step. */
interface VerbOutcome {
  readonly core: NodeCore;
  /** @param when the step's condition. */
  readonly bind: (when: Expr | undefined) => Binding;
}

class StepLinker {
  readonly #scope: StepScope;
  readonly #hoisted: HoistedRead[] = [];

  constructor(scope: StepScope) {
    this.#scope = scope;
  }

  /** @param conditions what has to hold for this part of the initializer; nothing in it where one was reported. */
  link(syntax: ExpressionSyntax, conditions: readonly (Expr | undefined)[]): StepOutcome | undefined {
    const inner = unwrap(syntax);
    if (inner.kind === 'conditional') return this.#conditional(inner, conditions);
    if (inner.kind === 'call') {
      const verb = verbOf(inner);
      if (verb !== undefined) return this.#outcome(this.#verbs[verb](inner), conditions);
    }
    if (inner.kind === 'binary' && inner.operator === '??') {
      const right = unwrap(inner.right);
      if (right.kind === 'call' && verbOf(right) === 'fail')
        return this.#require(inner.left, right, conditions);
    }
    return this.#refuse(inner);
  }

  #conditional(
    { test, then, else: otherwise }: Extract<ExpressionSyntax, { kind: 'conditional' }>,
    conditions: readonly (Expr | undefined)[],
  ): StepOutcome | undefined {
    const condition = lowerCondition(test, this.#values);
    if (unwrap(otherwise).kind === 'undefined') return this.link(then, [...conditions, condition]);
    if (unwrap(then).kind === 'undefined') {
      return this.link(otherwise, [...conditions, condition && negateOnce(condition)]);
    }
    // Both sides are read for their own faults.
    const sides = [then, otherwise];
    const [verb] = outcomeVerbs(otherwise).length > 0 ? outcomeVerbs(otherwise) : outcomeVerbs(then);
    if (verb === undefined) return this.#refuse(then, otherwise);
    for (const side of sides) {
      if (outcomeVerbs(side).length > 0) this.link(side, []);
      else lowerExpression(side, this.#values);
    }
    const hint =
      'a step does one thing or nothing: make it two steps, each with `undefined` as its other side';
    this.#scope.report(diagnostic('SW2003', otherwise.place, { verb }, { hint }));
    return undefined;
  }

  /** `value ?? fail('…')`: ends the run unless there is a value, which the name stands for from here on. */
  #require(
    required: ExpressionSyntax,
    fail: CallSyntax,
    conditions: readonly (Expr | undefined)[],
  ): StepOutcome | undefined {
    const expr = lowerExpression(required, this.#values);
    const failure = this.#verbs.fail(fail);
    if (expr === undefined || failure === undefined) return undefined;
    const isMissing: Expr = { kind: 'call', at: required.place.span, fn: 'isNullish', args: [expr] };
    const asked = allOf(conditions.filter((condition) => condition !== undefined));
    const bind = () => value(asked === undefined ? expr : onlyIf(asked, expr));
    return this.#outcome({ core: failure.core, bind }, [...conditions, isMissing]);
  }

  #outcome(
    verb: VerbOutcome | undefined,
    conditions: readonly (Expr | undefined)[],
  ): StepOutcome | undefined {
    if (verb === undefined || !conditions.every((condition) => condition !== undefined)) return undefined;
    const when = allOf(conditions);
    const { core, bind } = verb;
    return { core, binding: bind(when), ...(when === undefined ? {} : { when }), hoisted: this.#hoisted };
  }

  /** Says what is wrong with an initializer that is no step: the parts that cannot be stored, else that it does nothing. */
  #refuse(...parts: readonly ExpressionSyntax[]): undefined {
    const { step, report } = this.#scope;
    const hasValue = parts.map((part) => this.#value(part)).every((value) => value !== undefined);
    if (hasValue) report(diagnostic('SW1018', step.place, { step: step.name }));
    return undefined;
  }

  #value(part: ExpressionSyntax): Expr | undefined {
    const inner = unwrap(part);
    const isGuarded = inner.kind === 'binary' && inner.operator === '&&';
    const guarded = isGuarded ? unwrap(inner.right) : undefined;
    const verb = guarded === undefined ? undefined : verbOf(guarded);
    if (!isGuarded || guarded?.kind !== 'call' || verb === undefined)
      return lowerExpression(part, this.#values);
    lowerCondition(inner.left, this.#values);
    const hint = `write \`condition ? ${verb}(…) : undefined\``;
    this.#scope.report(diagnostic('SW2003', guarded.callee.place, { verb }, { hint }));
    return undefined;
  }

  /** Where reads cannot be moved out of an expression. */
  get #values(): ExpressionScope {
    return { bindings: this.#scope.bindings, report: this.#scope.report };
  }

  /** Where they can: in what a verb is given. */
  get #arguments(): ExpressionScope {
    return { ...this.#values, hoist: (read, path) => this.#hoist(read, path) };
  }

  #hoist(read: CallSyntax, path: readonly (string | number)[]): Expr | undefined {
    const core = this.#readCore(read);
    if (core === undefined) return undefined;
    const keys = path.map((key) => String(key).replace(/[^\p{ID_Continue}$-]/gu, '-'));
    const base = [this.#scope.id, ...(keys.length === 0 ? ['read'] : keys)].join('.');
    const taken = this.#hoisted.filter(({ id }) => id === base || id.startsWith(`${base}-`)).length;
    const id = taken === 0 ? base : `${base}-${taken + 1}`;
    this.#hoisted.push({ id, core, source: read.place });
    // It shares the condition of the step it belongs to.
    return { ...resourceText(id, false), at: read.place.span };
  }

  #readCore({ args, callee }: CallSyntax): HoistedRead['core'] | undefined {
    const resource = this.#scope.handles.resource(args[0], 'read', callee.place);
    if (resource === undefined) return undefined;
    const at = (args[0] ?? callee).place.span;
    return { kind: 'resource', resource: resource.name, uri: { kind: 'literal', at, value: resource.uri } };
  }

  /** By verb, the node it makes and what its step's name stands for. */
  readonly #verbs: Readonly<Record<Verb, (call: CallSyntax) => VerbOutcome | undefined>> = {
    call: ({ args, callee, place }) => {
      const [handle, input, options] = args;
      const tool = this.#scope.handles.tool(handle, 'call', callee.place);
      const dict: Expr | undefined =
        input === undefined || input.kind === 'undefined'
          ? { kind: 'dict', at: place.span, entries: [] }
          : lowerDict(input, this.#arguments);
      if (options !== undefined) {
        const hint = "the options of a step's own call stand in `@Step({ … })`";
        this.#scope.report(
          diagnostic('SW2001', options.place, { what: 'the third argument of `call`' }, { hint }),
        );
      }
      if (tool === undefined || dict?.kind !== 'dict' || options !== undefined) return undefined;
      return {
        core: { kind: 'call', tool: tool.name, input: dict },
        bind: () => value(nodeValue(this.#scope.id)),
      };
    },
    read: (call) => {
      const core = this.#readCore(call);
      return core && { core, bind: (when) => value(resourceText(this.#scope.id, when !== undefined)) };
    },
    fail: ({ args, callee }) => {
      const message = this.#argument(args[0], callee.place);
      return message && { core: { kind: 'error', message }, bind: () => value({ kind: 'literal' }) };
    },
    done: ({ args, callee }) => {
      const result = this.#argument(args[0], callee.place);
      return result && { core: { kind: 'return', value: result }, bind: () => ({ kind: 'end' }) };
    },
  };

  #argument(syntax: ExpressionSyntax | undefined, at: Place): Expr | undefined {
    if (syntax === undefined) return { kind: 'literal', at: at.span };
    return lowerExpression(syntax, this.#arguments);
  }
}

function value(expr: Expr): Binding {
  return { kind: 'value', expr };
}

/** A value that is absent unless the condition holds. */
function onlyIf(test: Expr, then: Expr): Expr {
  return { kind: 'conditional', truth: 'boolean', test, then };
}

/** Takes off a double negation that was only there to make a boolean. */
function negateOnce(condition: Expr): Expr {
  const isDouble = condition.kind === 'not' && condition.of.kind === 'not';
  return isDouble ? condition.of : negate(condition);
}
