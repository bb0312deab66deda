import { inlineText } from '../../../graph/expression/inline.js';
import { references } from '../../../graph/expression/references.js';
import type { Expr } from '../../../graph/expression/tree.js';
import { isJsonObject, type JsonObject, type Value } from '../../../graph/json.js';
import type { CallNode, ComputeNode, ErrorNode, Node } from '../../../graph/model.js';
import type { HandOffContext } from './hand-off.js';
import { jsonText, RESULT_LIMIT } from './json-text.js';
import type { HandOffCall } from './messages.js';
import { NOT_BEGUN, type Outlook, type PlannedStep } from './outlook.js';
import { printExpression } from './print-expression.js';
import { type Derived, Resolver, type Supply } from './resolve.js';
import type { FailedStep } from './stop-reason.js';
import { texts } from './texts.js';

/** The calls that a run which stopped has left open, each with what a reader has to know about it. */
export class OpenCalls {
  /** Works values out of what the run has, and of what the calls listed so far promise. */
  readonly resolver: Resolver;
  readonly #context: HandOffContext;
  readonly #outlooks: ReadonlyMap<string, Outlook>;
  readonly #promised = new Set<string>();
  /** The checks that a reader has been told of. */
  readonly #toldGuards = new Set<string>();
  /** Computed values that the run did not get to, as far as what they are made of exists or is promised. */
  readonly #derived = new Map<string, Derived>();

  constructor(context: HandOffContext, outlooks: ReadonlyMap<string, Outlook>) {
    const { graph, state, secrets } = context;
    this.#context = context;
    this.#outlooks = outlooks;
    const required = new Set(graph.inputs.filter((input) => input.required).map((input) => input.name));
    this.resolver = new Resolver(
      state,
      this.#derived,
      (step) => this.#supplyOf(step),
      (name) => secrets.hasName(name) || (required.has(name) && !Object.hasOwn(state.input, name)),
      (ref) => secrets.sourcesOf(ref),
    );
  }

  /** The calls to make after these steps have failed. */
  after(failed: readonly FailedStep[]): HandOffCall[] {
    const again = failed.flatMap(onceMore);
    const guards: ErrorNode[] = [];
    const calls: HandOffCall[] = [];
    for (const { node, note } of again) this.#add(calls, node, note, guards);
    for (const node of this.#context.graph.nodes) {
      if (this.#outlooks.get(node.id)?.status !== 'pending') continue;
      if (node.kind === 'error') guards.push(node);
      else if (node.kind === 'compute') this.#derive(node);
      else if (node.kind === 'call' || node.kind === 'resource') this.#add(calls, node, undefined, guards);
    }
    return calls;
  }

  #supplyOf(step: string): Supply {
    if (this.#promised.has(step)) return 'promised';
    const derived = this.#derived.get(step);
    if (derived !== undefined) return derived.symbolic ? 'promised' : 'known';
    const status = this.#outlooks.get(step)?.status;
    return status === 'completed' || status === 'skipped' ? 'known' : 'never';
  }

  /** Adds a call, if all it needs exists or is promised by those before it. */
  #add(
    calls: HandOffCall[],
    node: PlannedStep,
    note: string | undefined,
    guards: readonly ErrorNode[],
  ): void {
    const condition = node.when === undefined ? [] : this.#condition(node.when);
    if (condition === 'excluded') return;
    const resolved = this.resolver.resolve(node.kind === 'call' ? node.input : node.uri);
    if (!resolved.ok) return;
    const { secrets } = this.#context;
    const notes = [
      ...(note === undefined ? [] : [note]),
      ...condition,
      ...this.#afterNote(node),
      ...guards.flatMap((guard) => this.#guardNote(guard)),
      ...this.#guidance(node.guidance),
    ];
    const remark = notes.length === 0 ? {} : { note: secrets.text(notes.join(' ')) };
    if (node.kind === 'resource') {
      const uri = secrets.text(String(resolved.value));
      calls.push({ step: node.id, resource: node.resource, uri, ...remark });
    } else {
      const shown = this.#shown(resolved.value, node);
      calls.push({ step: node.id, tool: node.tool, arguments: shown, ...remark });
    }
    this.#promised.add(node.id);
  }

  /** Works a computed value out, for the calls that need it. What a function would make of it stays a placeholder. */
  #derive(node: ComputeNode): void {
    if (node.when !== undefined) {
      const condition = this.resolver.resolve(node.when);
      // Left out it reads as absent; whether it is left out may hang on a call to come.
      if (!condition.ok || condition.symbolic) return;
      if (condition.value !== true) {
        this.#derived.set(node.id, { value: undefined, symbolic: false, sources: [] });
        return;
      }
    }
    const resolved = this.resolver.resolve(node.value);
    if (!resolved.ok) return;
    const sources = this.resolver.sourcesOf(node.value);
    if (node.function === undefined) this.#derived.set(node.id, { ...resolved, sources });
    else this.#derived.set(node.id, { value: texts.computed(sources), symbolic: true, sources });
  }

  /** What to say about a condition: nothing when it holds, a note when only a call to come decides it. */
  #condition(when: Expr): readonly string[] | 'excluded' {
    const resolved = this.resolver.resolve(when);
    if (!resolved.ok) return 'excluded';
    if (!resolved.symbolic) return resolved.value === true ? [] : 'excluded';
    return [texts.conditional(this.#promisedIn(when))];
  }

  /** A call the workflow would make only after one that failed and is not listed: its data is there, its turn is not. */
  #afterNote(node: PlannedStep): string[] {
    const blockers = this.#blockers(node, new Set());
    return blockers.length === 0 ? [] : [texts.afterFailed(blockers)];
  }

  #blockers(node: Node, seen: Set<string>): string[] {
    if (node.join === 'all_done') return [];
    return node.after.flatMap((id) => {
      const before = this.#context.graph.nodes.find((other) => other.id === id);
      if (before === undefined || this.#promised.has(id) || seen.has(id)) return [];
      seen.add(id);
      const status = this.#outlooks.get(id)?.status;
      if (status === 'failed') return [id];
      return status === 'pending' ? this.#blockers(before, seen) : [];
    });
  }

  /** Told once, at the first call that comes after the check. */
  #guardNote(guard: ErrorNode): string[] {
    const { id, when } = guard;
    if (when === undefined || this.#toldGuards.has(id) || this.#promisedIn(when).length === 0) return [];
    this.#toldGuards.add(id);
    const message = this.resolver.resolve(guard.message);
    const shown = message.ok && typeof message.value === 'string' ? message.value : undefined;
    return [texts.guarded(id, printExpression(when), shown)];
  }

  #guidance(guidance: Expr | undefined): string[] {
    if (guidance === undefined) return [];
    const parts = guidance.kind === 'text' ? guidance.parts : [guidance];
    const shown = parts.map((part) => {
      if (typeof part === 'string') return part;
      const resolved = this.resolver.resolve(
        guidance.kind === 'text' ? { ...guidance, parts: [part] } : part,
      );
      if (!resolved.ok || typeof resolved.value !== 'string') return undefined;
      return part.kind === 'literal' ? resolved.value : inlineText(resolved.value);
    });
    return shown.includes(undefined) ? [] : [texts.guidanceNote(shown.join(''))];
  }

  #promisedIn(expr: Expr): string[] {
    return this.resolver.sourcesOf(expr).filter((source) => this.#promised.has(source));
  }

  /** Arguments as a hand-off shows them; one that is too long to repeat is named by where it comes from. */
  #shown(value: Value, node: CallNode): JsonObject {
    // References to secrets are placeholders already; what is left are copies of their values.
    const shown = this.#context.secrets.pending(node, isJsonObject(value) ? value : {});
    const { input } = node;
    return Object.fromEntries(
      Object.entries(shown).map(([key, member]) => {
        if (jsonText(member).length <= RESULT_LIMIT) return [key, member];
        const entry = input.entries.find((candidate) => 'key' in candidate && candidate.key === key);
        const source = entry !== undefined && 'key' in entry ? references(entry.value) : [];
        return [key, texts.computed(source.map(({ ref }) => ref.path.join('.')))];
      }),
    );
  }
}

/** A failed step as a call to make once more, if it is one. */
function onceMore({
  node,
  failure,
  attempts,
  retryable,
}: FailedStep): { node: PlannedStep; note?: string }[] {
  if (node.kind !== 'call' && node.kind !== 'resource') return [];
  if (retryable || (attempts === 0 && NOT_BEGUN.has(failure.code))) return [{ node }];
  const refused = attempts === 0 && failure.code === 'E_INPUT_INVALID';
  return refused ? [{ node, note: texts.correctFirst(failure.message) }] : [];
}
