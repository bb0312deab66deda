import type { CheckEnvironment } from '../check/check-graph.js';
import { canonicalGraph, canonicalJson } from '../graph/canonical.js';
import type { Diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { Value } from '../graph/json.js';
import type { Graph } from '../graph/model.js';
import type { FunctionHandle, LinkedWorkflow, ToolDeclaration, WorkflowDeclaration } from './declarations.js';
import type { WorkflowEntry } from './emit/registry.js';
import { type KeptText, KeptTexts } from './kept-texts.js';
import { sha256 } from './schemas/cache/cache-file.js';

/** What the checker found of a workflow. */
export interface CheckedWorkflow {
  readonly faults: readonly Diagnostic[];
  /** See `mayHaveCompositeConditions`; false where types were read. */
  readonly isComposite: boolean;
}

interface KnownCheck {
  readonly checked: CheckedWorkflow;
  /** All of the environment that was asked for: by kind and name, what was there. */
  readonly uses: ReadonlyMap<string, string>;
}

/** What is kept of a workflow without faults, for other processes. */
interface WorkflowRecord {
  readonly graph: Graph;
  readonly functions: readonly FunctionHandle[];
  readonly runs: readonly { readonly step: string; readonly workflow: string }[];
  readonly isComposite: boolean;
  readonly uses: readonly (readonly [string, string])[];
  readonly data: object;
  readonly text: { readonly canonical: string; readonly printed: readonly (readonly [string, string])[] };
}

/**
 * What is remembered of workflows. A declaration comes from one reading of its file, which
 * covers all modules that the file names: what they declare is the same as long as the declaration is.
 */
export class WorkflowMemory {
  #linked = new WeakMap<WorkflowDeclaration, LinkedWorkflow>();
  readonly #filled = new WeakMap<LinkedWorkflow, LinkedWorkflow>();
  readonly #checked = new WeakMap<LinkedWorkflow, KnownCheck>();
  readonly #entries = new WeakMap<LinkedWorkflow, WorkflowEntry>();
  readonly #restored = new WeakMap<KnownCheck, KeptText>();
  #privateTools = '';
  #kept = new KeptTexts();
  #readingOf: (file: string) => string = () => '';

  /**
   * Forgets the links if texts may name other private tools now: any text is compared with all of them.
   *
   * @param readingOf - identifies what was read of a file.
   */
  refresh(tools: readonly ToolDeclaration[], readingOf: (file: string) => string): void {
    this.#readingOf = readingOf;
    const names = tools.filter(({ visibility }) => visibility === 'workflow').map(({ name }) => name);
    const privateTools = names.join(' ');
    if (privateTools === this.#privateTools) return;
    this.#linked = new WeakMap();
    this.#kept = new KeptTexts();
    this.#privateTools = privateTools;
  }

  linked(declaration: WorkflowDeclaration): LinkedWorkflow | undefined {
    return this.#linked.get(declaration) ?? this.#restore(declaration);
  }

  keepLinked(workflow: LinkedWorkflow): void {
    this.#linked.set(workflow.declaration, workflow);
  }

  entryOf(workflow: LinkedWorkflow, make: () => WorkflowEntry): WorkflowEntry {
    return remembered(this.#entries, workflow, make);
  }

  /** Takes what {@link texts} gave in another process, with its private tools. */
  restore(kept: KeptTexts, privateTools: string): void {
    this.#kept = kept;
    this.#privateTools = privateTools;
  }

  /** Forgets what other processes have kept: in this one, declarations are no longer the same. */
  clear(): void {
    this.#kept = new KeptTexts();
  }

  get privateTools(): string {
    return this.#privateTools;
  }

  #restore(declaration: WorkflowDeclaration): LinkedWorkflow | undefined {
    const kept = this.#kept.get(nameOf(declaration), this.#readingOf(declaration.file));
    if (kept === undefined) return undefined;
    const { graph, functions, runs, isComposite, uses, data, text } = JSON.parse(kept.body) as WorkflowRecord;
    const steps = new Map(declaration.steps.map((step) => [step.name, step]));
    const workflow: LinkedWorkflow = {
      ...{ declaration, graph, functions, isWhole: true },
      runs: runs.flatMap(({ step, workflow }) => {
        const found = steps.get(step);
        return found === undefined ? [] : { step: found, workflow };
      }),
    };
    const check = { checked: { faults: [], isComposite }, uses: new Map(uses) };
    this.#linked.set(declaration, workflow);
    this.#checked.set(workflow, check);
    this.#restored.set(check, kept);
    const { canonical, printed } = text;
    this.#entries.set(workflow, {
      ...{ name: declaration.name, handle: declaration, data: { graph, ...data } },
      text: { canonical, printed: new Map(printed) },
    });
    return workflow;
  }

  /** What can be kept of workflows, by class and by what was read of their files. */
  texts(workflows: readonly LinkedWorkflow[]): readonly (readonly [string, KeptText])[] {
    return workflows.flatMap((workflow) => {
      const { declaration } = workflow;
      const text = this.#textOf(workflow, this.#readingOf(declaration.file));
      return text === undefined ? [] : [[nameOf(declaration), text] as const];
    });
  }

  #textOf(workflow: LinkedWorkflow, mark: string): KeptText | undefined {
    const { declaration, graph, functions, runs, isWhole } = workflow;
    const check = this.#checked.get(workflow);
    const entry = this.#entries.get(workflow);
    const isBare = this.#linked.get(declaration) === workflow;
    if (check === undefined || entry?.text === undefined || !isBare || !isWhole) return undefined;
    const restored = this.#restored.get(check);
    if (restored !== undefined) return restored;
    const { checked, uses } = check;
    if (checked.faults.length > 0) return undefined;
    const { graph: _graph, ...data } = entry.data;
    const { canonical, printed } = entry.text;
    const record: WorkflowRecord = {
      ...{ graph, functions, isComposite: checked.isComposite, uses: [...uses], data },
      runs: runs.map(({ step, workflow }) => ({ step: step.name, workflow })),
      text: { canonical, printed: [...printed] },
    };
    return { mark, body: JSON.stringify(record) };
  }

  /** The same object for a workflow that was filled with the same schemas before. */
  filled(bare: LinkedWorkflow, filled: LinkedWorkflow): LinkedWorkflow {
    if (bare === filled) return filled;
    const known = this.#filled.get(bare);
    if (known !== undefined && canonicalOf(known.graph) === canonicalOf(filled.graph)) return known;
    this.#filled.set(bare, filled);
    return filled;
  }

  /** Nothing where it would be checked against something else now. */
  checked(workflow: LinkedWorkflow, environment: MarkedEnvironment): CheckedWorkflow | undefined {
    const known = this.#checked.get(workflow);
    if (known === undefined) return undefined;
    const isSame = [...known.uses].every(([use, mark]) => environment.markOf(use) === mark);
    return isSame ? known.checked : undefined;
  }

  keepChecked(workflow: LinkedWorkflow, known: KnownCheck): void {
    this.#checked.set(workflow, known);
  }
}

function nameOf({ file, className }: WorkflowDeclaration): string {
  return `${file}#${className}`;
}

type Kind = 'tool' | 'resource' | 'workflow';

/** An environment that can say of each of its members whether it is still the same. */
export class MarkedEnvironment {
  readonly environment: CheckEnvironment;
  readonly #marks = new Map<string, string>();

  constructor(environment: CheckEnvironment) {
    this.environment = environment;
  }

  /** @param use - a kind and a name, as `KnownCheck` has them. Equal members have equal marks. */
  markOf(use: string): string {
    const known = this.#marks.get(use);
    if (known !== undefined) return known;
    const mark = this.#find(use);
    this.#marks.set(use, mark);
    return mark;
  }

  #find(use: string): string {
    const kind = use.slice(0, use.indexOf(' ')) as Kind;
    const name = use.slice(kind.length + 1);
    const { tools, resources, workflows } = this.environment;
    switch (kind) {
      case 'tool':
        return markOfValue(tools.get(name));
      case 'resource':
        return markOfValue(resources.get(name));
      case 'workflow':
        return markOfGraph(workflows?.get(name));
      default:
        return kind satisfies never;
    }
  }

  /** The environment for one check, and what that check asks it for. Nothing where it asks for all of a kind. */
  observed(): { readonly environment: CheckEnvironment; uses(): ReadonlyMap<string, string> | undefined } {
    const names = new Set<string>();
    let isListed = false;
    const observe = <V>(kind: Kind, map: ReadonlyMap<string, V>): ReadonlyMap<string, V> =>
      new ObservedMap(
        map,
        (name) => names.add(`${kind} ${name}`),
        () => {
          isListed = true;
        },
      );
    const { tools, resources, workflows } = this.environment;
    return {
      environment: {
        tools: observe('tool', tools),
        resources: observe('resource', resources),
        ...(workflows === undefined ? {} : { workflows: observe('workflow', workflows) }),
      },
      uses: () => (isListed ? undefined : new Map([...names].map((use) => [use, this.markOf(use)]))),
    };
  }
}

class ObservedMap<V> implements ReadonlyMap<string, V> {
  readonly #map: ReadonlyMap<string, V>;
  readonly #asked: (name: string) => void;
  readonly #listed: () => void;

  constructor(map: ReadonlyMap<string, V>, asked: (name: string) => void, listed: () => void) {
    this.#map = map;
    this.#asked = asked;
    this.#listed = listed;
  }

  get(name: string): V | undefined {
    this.#asked(name);
    return this.#map.get(name);
  }

  has(name: string): boolean {
    this.#asked(name);
    return this.#map.has(name);
  }

  get size(): number {
    return this.#all().size;
  }

  forEach(callback: (value: V, key: string, map: ReadonlyMap<string, V>) => void): void {
    this.#all().forEach(callback);
  }

  entries(): MapIterator<[string, V]> {
    return this.#all().entries();
  }

  keys(): MapIterator<string> {
    return this.#all().keys();
  }

  values(): MapIterator<V> {
    return this.#all().values();
  }

  [Symbol.iterator](): MapIterator<[string, V]> {
    return this.entries();
  }

  #all(): ReadonlyMap<string, V> {
    this.#listed();
    return this.#map;
  }
}

const canonicals = new WeakMap<Graph, string>();

function canonicalOf(graph: Graph): string {
  return remembered(canonicals, graph, () => canonicalJson(graph as unknown as Value));
}

const graphMarks = new WeakMap<Graph, string>();

function markOfGraph(graph: Graph | undefined): string {
  return graph === undefined ? '' : remembered(graphMarks, graph, () => sha256(canonicalGraph(graph)));
}

function markOfValue(value: object | undefined): string {
  return value === undefined ? '' : sha256(canonicalJson(value as Value));
}

function remembered<K extends object, V>(known: WeakMap<K, V>, key: K, find: () => V): V {
  const found = known.get(key) ?? find();
  known.set(key, found);
  return found;
}
