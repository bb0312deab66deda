import type { Expr, RefExpr } from '../../../graph/expression/tree.js';
import { isJsonObject, type Json, type JsonObject } from '../../../graph/json.js';
import type { CallNode, Compensation, Graph } from '../../../graph/model.js';
import { MASKED, Mask, maskMembers, valuesOf } from '../../catalogue/mask.js';
import type { Fact, RunState } from '../../engine/contract.js';
import type { NodeInstance, ScopeInstance } from '../../engine/instances.js';
import { DerivedSecrets } from '../../hosts/derived-secrets.js';
import { declaredSecrets, entryOf, inputName, inputPath } from './secret-inputs.js';
import { texts } from './texts.js';

/**
 * Keeps secrets out of everything a trace shows, wherever tools and texts carry them: the values of secret inputs of
 * the workflow, what its calls give to inputs that their tools call secret, and what the run derives from these. An
 * input of the workflow that is handed on to such a one is secret as well. Expressions stand at the top of the workflow
 * unless `at` says otherwise.
 */
export class Secrets {
  readonly #names: ReadonlySet<string>;
  readonly #derived: DerivedSecrets;
  readonly #inputsOf: (tool: string) => readonly string[];
  /** What is given to secret inputs. */
  readonly #given: ReadonlySet<Expr>;
  #values: readonly Json[];
  #mask: Mask;

  /**
   * @param given the arguments as the caller wrote them.
   * @param inputsOf the names of a tool's secret inputs. Default: none.
   * @param input the arguments as values. Default: none are known.
   */
  constructor(
    graph: Graph,
    given: readonly (readonly [name: string, text: string])[],
    inputsOf: (tool: string) => readonly string[] = () => [],
    input: JsonObject = {},
  ) {
    this.#inputsOf = inputsOf;
    const declared = declaredSecrets(graph, inputsOf);
    this.#given = declared.given;
    this.#names = new Set(
      graph.inputs.map(({ name }) => name).filter((name) => declared.has(graph.name, name)),
    );
    this.#derived = new DerivedSecrets(graph, (name) => this.#names.has(name), declared.has);
    this.#values = [
      ...given.filter(([name]) => this.#names.has(name)).map(([, text]) => text),
      ...valuesOf(input, [...this.#names]),
      ...declared.inputs.flatMap((secret) => (secret.default === undefined ? [] : [secret.default])),
      ...[...declared.given].flatMap((expr) =>
        expr.kind === 'literal' && expr.value !== undefined ? [expr.value] : [],
      ),
    ];
    this.#mask = new Mask(this.#values);
  }

  /**
   * True for what a call gives to a secret input of its tool, for a secret input, and for anything that is computed
   * from one. A list, an object and a text may hold other things beside it, and are told part by part.
   */
  isSecret(expr: Expr, at?: ScopeInstance): boolean {
    if (this.#given.has(expr)) return true;
    if (expr.kind === 'list' || expr.kind === 'dict' || expr.kind === 'text') return false;
    return this.#derived.mentions(expr, at);
  }

  hasName(input: string): boolean {
    return this.#names.has(input);
  }

  /** Takes note of what a call gives its tool: it is masked wherever it turns up. */
  learn(tool: string, input: JsonObject): void {
    this.#add(valuesOf(input, this.#inputsOf(tool)));
  }

  /** Takes note of what the run has derived from secrets. @param state the run as it stands after the fact. */
  observe(fact: Fact, state: RunState): void {
    this.#add(this.#derived.revealedBy(fact, state));
  }

  /** The inputs that a secret value derives from; nothing for a reference to none, or to an input of the run. */
  sourcesOf(ref: RefExpr, at?: ScopeInstance): readonly string[] | undefined {
    return this.#derived.sourcesOf(ref, at);
  }

  /** The value of a step, without what in it derives from secrets. */
  output(value: Json, node: NodeInstance, path: readonly (string | number)[] = []): Json {
    if (!this.#derived.reaches(node, path)) return this.#mask.json(value);
    if (Array.isArray(value)) {
      return value.map((item: Json, index) => this.output(item, node, [...path, index]));
    }
    if (!isJsonObject(value)) return MASKED;
    const members = Object.entries(value).map(
      ([key, member]) => [this.text(key), this.output(member, node, [...path, key])] as const,
    );
    return Object.fromEntries(members);
  }

  /** An item of a loop. */
  item(value: Json, loop: NodeInstance, index: number): Json {
    const { node } = loop.planned;
    if (node.kind !== 'foreach') return this.#mask.json(value);
    return this.json(value, itemOf(node.items, index) ?? node.items, loop.scope);
  }

  /** What a workflow is given. */
  handedTo(input: JsonObject, node: NodeInstance): JsonObject {
    const members = Object.entries(input).map(
      ([name, value]) => [name, this.#derived.isInput(name, node) ? MASKED : this.#mask.json(value)] as const,
    );
    return Object.fromEntries(members);
  }

  /** The input of a compensating call, its secrets masked. */
  compensation(fact: Extract<Fact, { kind: 'callIssued' }>): Json {
    const behind = this.#derived.compensationBehind(fact);
    const input = maskMembers(fact.input, this.#inputsOf(fact.tool));
    return behind === undefined ? this.#mask.json(input) : this.json(input, behind.expr, behind.at);
  }

  /**
   * The input of a compensation that is still to be made, its secrets masked. One that the caller has given is named,
   * wherever it stands and however many workflows it was handed down through, for the caller to fill in.
   */
  undoing({ tool, input: expr }: Compensation, input: JsonObject, at: ScopeInstance): JsonObject {
    const shown = this.json(maskMembers(input, this.#inputsOf(tool)), expr, at);
    const named = this.#named(shown, expr, at);
    return isJsonObject(named) ? named : {};
  }

  /** What is masked, named as the argument of the prompt where it is one. */
  #named(value: Json, expr: Expr | undefined, at: ScopeInstance): Json {
    if (expr === undefined) return value;
    if (expr.kind === 'text' && typeof value === 'string' && value.includes(MASKED)) {
      const parts = expr.parts.map((part) =>
        typeof part === 'string' ? part : this.#named(MASKED, part, at),
      );
      return this.#mask.text(parts.join(''));
    }
    if (value === MASKED) {
      const path = argumentPath(expr, at);
      return path === undefined ? value : texts.promptArgument(path.join('.'));
    }
    if (Array.isArray(value)) {
      return value.map((item: Json, index) => this.#named(item, itemOf(expr, index), at));
    }
    if (!isJsonObject(value)) return value;
    const members = Object.entries(value).map(
      ([key, member]) => [key, this.#named(member, entryOf(expr, key), at)] as const,
    );
    return Object.fromEntries(members);
  }

  #add(values: readonly Json[]): void {
    const learnt = values.filter((value) => !this.#values.includes(value));
    if (learnt.length === 0) return;
    this.#values = [...this.#values, ...learnt];
    this.#mask = new Mask(this.#values);
  }

  /** The input of a call that was not made, its secrets masked but for placeholders of the workflow's own inputs. */
  pending({ tool, input }: CallNode, value: JsonObject): JsonObject {
    const names = this.#inputsOf(tool).filter((name) => inputName(entryOf(input, name)) === undefined);
    const shown = this.#mask.json(maskMembers(value, names));
    return isJsonObject(shown) ? shown : {};
  }

  /**
   * A text with secrets masked. `expr` is what it was computed from, where that is known: where secrets went into it,
   * the author's own words are left, and every value in it is masked, however short.
   */
  text(text: string, expr?: Expr, at?: ScopeInstance): string {
    if (expr === undefined || !this.#derived.mentions(expr, at)) return this.#mask.text(text);
    if (expr.kind !== 'text') return MASKED;
    return this.#mask.text(expr.parts.map((part) => (typeof part === 'string' ? part : MASKED)).join(''));
  }

  /** A value with secrets masked. `expr` is what it was computed from, where that is known. */
  json(value: Json, expr?: Expr, at?: ScopeInstance): Json {
    if (expr === undefined) return this.#mask.json(value);
    if (this.isSecret(expr, at)) return MASKED;
    if (typeof value === 'string') return this.text(value, expr, at);
    if (Array.isArray(value)) {
      return value.map((item: Json, index) => this.json(item, itemOf(expr, index), at));
    }
    if (!isJsonObject(value)) return this.#mask.json(value);
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [
        this.text(key),
        this.json(member, entryOf(expr, key), at),
      ]),
    );
  }
}

/** The path to a value in the arguments of the run, where an expression is one of them, handed down as it is. */
function argumentPath(expr: Expr, { workflow: { node } }: ScopeInstance): RefExpr['path'] | undefined {
  const path = inputPath(expr);
  if (path === undefined || node === undefined) return path;
  const model = node.planned.node;
  let given: Expr | undefined = model.kind === 'workflow' ? model.input : undefined;
  let rest = path;
  for (; given?.kind === 'dict' && rest.length > 0; rest = rest.slice(1))
    given = entryOf(given, String(rest[0]));
  const around = given && argumentPath(given, node.scope);
  return around && [...around, ...rest];
}

/** The item of a literal list at an index. */
export function itemOf(expr: Expr, index: number): Expr | undefined {
  if (expr.kind !== 'list' || expr.items.some((item) => item.spread)) return undefined;
  return expr.items[index]?.value;
}
