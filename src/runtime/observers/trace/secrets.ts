import type { Expr, RefExpr } from '../../../graph/expression/tree.js';
import { isJsonObject, type Json, type JsonObject } from '../../../graph/json.js';
import type { CallNode, Graph } from '../../../graph/model.js';
import { MASKED, Mask, maskMembers, valuesOf } from '../../catalogue/mask.js';
import type { Fact, RunState } from '../../engine/contract.js';
import { DerivedSecrets } from '../../hosts/derived-secrets.js';

/**
 * Keeps secrets out of everything a trace shows, wherever tools and texts carry them: the values of secret inputs of
 * the workflow, what its calls give to inputs that their tools call secret, and what the run derives from these. An
 * input of the workflow that is handed on to such a one is secret as well.
 */
export class Secrets {
  readonly #names: ReadonlySet<string>;
  readonly #derived: DerivedSecrets;
  readonly #inputsOf: (tool: string) => readonly string[];
  /** What calls give to secret inputs of their tools. */
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
    const secretGiven = graph.nodes.flatMap((node) =>
      node.kind === 'call' ? secretEntries(node, inputsOf) : [],
    );
    this.#given = new Set(secretGiven);
    const handedOn = new Set(secretGiven.flatMap(inputName));
    const secret = graph.inputs.filter((input) => input.secret === true || handedOn.has(input.name));
    this.#names = new Set(secret.map((input) => input.name));
    this.#derived = new DerivedSecrets(graph, (name) => this.#names.has(name));
    this.#values = [
      ...given.filter(([name]) => this.#names.has(name)).map(([, text]) => text),
      ...valuesOf(input, [...this.#names]),
      ...secret.flatMap((input) => (input.default === undefined ? [] : [input.default])),
      ...secretGiven.flatMap((expr) =>
        expr.kind === 'literal' && expr.value !== undefined ? [expr.value] : [],
      ),
    ];
    this.#mask = new Mask(this.#values);
  }

  /**
   * True for what a call gives to a secret input of its tool, for a secret input, and for anything that is computed
   * from one. A list, an object and a text may hold other things beside it, and are told part by part.
   */
  isSecret(expr: Expr): boolean {
    if (this.#given.has(expr)) return true;
    if (expr.kind === 'list' || expr.kind === 'dict' || expr.kind === 'text') return false;
    return this.#mentions(expr);
  }

  #mentions(expr: Expr): boolean {
    return this.#derived.mentions(expr);
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

  /** The inputs that a secret value of a step derives from; nothing for a step without one. */
  sourcesOf(ref: RefExpr): readonly string[] | undefined {
    return this.#derived.sourcesOf(ref);
  }

  #add(values: readonly Json[]): void {
    const learnt = values.filter((value) => !this.#values.includes(value));
    if (learnt.length === 0) return;
    this.#values = [...this.#values, ...learnt];
    this.#mask = new Mask(this.#values);
  }

  /** The input of a call that was not made, its secrets masked but for placeholders of the workflow's own inputs. */
  pending({ tool, input }: CallNode, value: JsonObject): JsonObject {
    const names = this.#inputsOf(tool).filter((name) => inputName(entryOf(input, name)).length === 0);
    const shown = this.#mask.json(maskMembers(value, names));
    return isJsonObject(shown) ? shown : {};
  }

  /**
   * A text with secrets masked. `expr` is what it was computed from, where that is known: where secrets went into it,
   * the author's own words are left, and every value in it is masked, however short.
   */
  text(text: string, expr?: Expr): string {
    if (expr === undefined || !this.#mentions(expr)) return this.#mask.text(text);
    if (expr.kind !== 'text') return MASKED;
    return this.#mask.text(expr.parts.map((part) => (typeof part === 'string' ? part : MASKED)).join(''));
  }

  /** A value with secrets masked. `expr` is what it was computed from, where that is known. */
  json(value: Json, expr?: Expr): Json {
    if (expr === undefined) return this.#mask.json(value);
    if (this.isSecret(expr)) return MASKED;
    if (typeof value === 'string') return this.text(value, expr);
    if (Array.isArray(value)) return value.map((item: Json, index) => this.json(item, itemOf(expr, index)));
    if (!isJsonObject(value)) return this.#mask.json(value);
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [this.text(key), this.json(member, entryOf(expr, key))]),
    );
  }
}

function secretEntries({ tool, input }: CallNode, inputsOf: (tool: string) => readonly string[]): Expr[] {
  return inputsOf(tool).flatMap((name) => {
    const given = entryOf(input, name);
    return given === undefined ? [] : [given];
  });
}

/** The input of the workflow an expression refers to, as a whole or in part, if it does no more than that. */
function inputName(expr: Expr | undefined): string[] {
  if (expr?.kind === 'get') return inputName(expr.of);
  return expr?.kind === 'ref' && expr.root === 'inputs' ? [String(expr.path[0])] : [];
}

function itemOf(expr: Expr, index: number): Expr | undefined {
  if (expr.kind !== 'list' || expr.items.some((item) => item.spread)) return undefined;
  return expr.items[index]?.value;
}

function entryOf(expr: Expr, key: string): Expr | undefined {
  if (expr.kind !== 'dict') return undefined;
  for (const entry of expr.entries.toReversed()) if ('key' in entry && entry.key === key) return entry.value;
  return undefined;
}
