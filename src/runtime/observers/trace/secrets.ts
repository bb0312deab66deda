import type { Expr } from '../../../graph/expression/tree.js';
import { isJsonObject, type Json, type JsonObject } from '../../../graph/json.js';
import type { CallNode, Graph } from '../../../graph/model.js';
import { MASKED, Mask, maskMembers, valuesOf } from '../../catalogue/mask.js';

/**
 * Keeps secrets out of everything a trace shows, wherever tools and texts carry them: the values of secret inputs of
 * the workflow, and what its calls give to inputs that their tools call secret. An input of the workflow that is handed
 * on to such a one is secret as well.
 */
export class Secrets {
  readonly #names: ReadonlySet<string>;
  readonly #inputsOf: (tool: string) => readonly string[];
  /** What calls give to secret inputs of their tools. */
  readonly #given: ReadonlySet<Expr>;
  #values: readonly Json[];
  #mask: Mask;

  /** @param inputsOf the names of a tool's secret inputs. Default: none. */
  constructor(
    graph: Graph,
    given: readonly (readonly [name: string, text: string])[],
    inputsOf: (tool: string) => readonly string[] = () => [],
  ) {
    this.#inputsOf = inputsOf;
    const secretGiven = graph.nodes.flatMap((node) =>
      node.kind === 'call' ? secretEntries(node, inputsOf) : [],
    );
    this.#given = new Set(secretGiven);
    const handedOn = new Set(secretGiven.flatMap(inputName));
    const secret = graph.inputs.filter((input) => input.secret === true || handedOn.has(input.name));
    this.#names = new Set(secret.map((input) => input.name));
    this.#values = [
      ...given.filter(([name]) => this.#names.has(name)).map(([, text]) => text),
      ...secret.flatMap((input) => (input.default === undefined ? [] : [input.default])),
      ...secretGiven.flatMap((expr) =>
        expr.kind === 'literal' && expr.value !== undefined ? [expr.value] : [],
      ),
    ];
    this.#mask = new Mask(this.#values);
  }

  /** True for a reference to a secret input, and for what a call gives to one of its tool. */
  isSecret(expr: Expr): boolean {
    return this.#given.has(expr) || inputName(expr).some((name) => this.#names.has(name));
  }

  hasName(input: string): boolean {
    return this.#names.has(input);
  }

  /** Takes note of what a call gives its tool: from now on it is masked wherever it turns up. */
  learn(tool: string, input: JsonObject): void {
    const learnt = valuesOf(input, this.#inputsOf(tool));
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

  /** A text with secrets masked. */
  text(text: string): string {
    return this.#mask.text(text);
  }

  /** A value with secrets masked. `expr` is what it was computed from, where that is known. */
  json(value: Json, expr?: Expr): Json {
    if (expr === undefined) return this.#mask.json(value);
    if (this.isSecret(expr)) return MASKED;
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

/** The input of the workflow an expression refers to, if it does no more than that. */
function inputName(expr: Expr | undefined): string[] {
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
