import type { CheckEnvironment } from '../../check/check-graph.js';
import { canonicalGraph, canonicalJson } from '../../graph/canonical.js';
import type { Value } from '../../graph/json.js';
import { getOrInsert } from '../../graph/maps.js';
import type { Graph } from '../../graph/model.js';
import {
  type FunctionHandle,
  fieldNames,
  type LinkedWorkflow,
  type ToolDeclaration,
  type WorkflowDeclaration,
} from '../declarations.js';
import type { WorkflowEntry } from '../emit/registry.js';
import { type Memo, sha256 } from './memo.js';

/** A linked workflow without the declaration, which is read again. */
interface LinkRecord {
  readonly graph: Graph;
  readonly functions: readonly FunctionHandle[];
  /** The names of its fields, in their order. */
  readonly names: readonly string[];
  /** By the names of steps. */
  readonly runs: readonly { readonly step: string; readonly workflow: string }[];
}

/** A workflow's entry without its graph. */
interface EntryRecord {
  readonly data: Omit<WorkflowEntry['data'], 'graph'>;
  readonly text: WorkflowEntry['text'];
}

/**
 * The phases that work on one workflow: link, check, and the entry of the registry. A link reads the file of the class
 * and all modules that it names, and the names of private tools, since any text is compared with them. The other phases
 * read the link and what the schemas of tools have filled in; a check reads the members of its environment as well.
 */
export class WorkflowPhases {
  readonly #memo: Memo;
  readonly #scope: string;
  readonly #readingOf: (file: string) => string;
  readonly #privateTools: string;
  /** The keys of workflows that were linked without a diagnostic, by their graphs. */
  readonly #keys = new WeakMap<Graph, string>();

  /**
   * @param scope - distinguishes the registry from others of the project.
   * @param readingOf - identifies what was read of a file.
   */
  constructor(
    memo: Memo,
    scope: string,
    tools: readonly ToolDeclaration[],
    readingOf: (file: string) => string,
  ) {
    this.#memo = memo;
    this.#scope = scope;
    this.#readingOf = readingOf;
    const names = tools.filter(({ visibility }) => visibility === 'workflow').map(({ name }) => name);
    this.#privateTools = names.join(' ');
  }

  linked(declaration: WorkflowDeclaration): LinkedWorkflow | undefined {
    const key = this.#linkKey(declaration);
    const record = this.#memo.recall<LinkRecord>('link', this.#subjectOf(declaration), key);
    if (record === undefined) return undefined;
    const { graph, functions } = record;
    const steps = new Map(declaration.steps.map((step) => [step.name, step]));
    const runs = record.runs.flatMap(({ step: name, workflow }) => {
      const step = steps.get(name);
      return step === undefined ? [] : { step, workflow };
    });
    this.#keys.set(graph, key);
    return { declaration, graph, functions, runs, isWhole: true };
  }

  keepLinked({ declaration, graph, functions, runs }: LinkedWorkflow): void {
    const key = this.#linkKey(declaration);
    const record: LinkRecord = {
      ...{ graph, functions, names: fieldNames(declaration) },
      runs: runs.map(({ step, workflow }) => ({ step: step.name, workflow })),
    };
    this.#memo.keep('link', this.#subjectOf(declaration), key, record);
    this.#keys.set(graph, key);
  }

  /** The names of the fields when the workflow was last linked without a diagnostic. */
  formerNames(declaration: WorkflowDeclaration): readonly string[] {
    return this.#memo.last<LinkRecord>('link', this.#subjectOf(declaration))?.names ?? [];
  }

  #subjectOf({ file, className }: WorkflowDeclaration): string {
    return `${this.#scope} ${file}#${className}`;
  }

  #linkKey({ file }: WorkflowDeclaration): string {
    return `${this.#readingOf(file)} ${this.#privateTools}`;
  }

  /** Records that the schemas of tools were filled into a graph. */
  keepFilled({ graph: bare }: LinkedWorkflow, { graph: filled }: LinkedWorkflow): void {
    const key = this.#keys.get(bare);
    if (bare === filled || key === undefined) return;
    this.#keys.set(filled, sha256(`${key} ${canonicalJson(filled as unknown as Value)}`));
  }

  /** `mayHaveCompositeConditions` of a workflow that was checked without a fault against an equal environment. */
  checked({ declaration, graph }: LinkedWorkflow, environment: MarkedEnvironment): boolean | undefined {
    const key = this.#keys.get(graph);
    if (key === undefined) return undefined;
    return this.#memo.recall('check', this.#subjectOf(declaration), key, (use) => environment.markOf(use));
  }

  /** @param uses - all members of the environment that the check has asked for, with their marks. */
  keepChecked(
    { declaration, graph }: LinkedWorkflow,
    isComposite: boolean,
    uses: ReadonlyMap<string, string>,
  ): void {
    const key = this.#keys.get(graph);
    if (key !== undefined) this.#memo.keep('check', this.#subjectOf(declaration), key, isComposite, uses);
  }

  entryOf(workflow: LinkedWorkflow, make: () => WorkflowEntry): WorkflowEntry {
    const { declaration, graph } = workflow;
    const key = this.#keys.get(graph);
    if (key === undefined) return make();
    const subject = this.#subjectOf(declaration);
    const record = this.#memo.recall<EntryRecord>('entry', subject, key);
    if (record !== undefined) {
      const { data, text } = record;
      return { name: declaration.name, handle: declaration, data: { graph, ...data }, text };
    }
    const entry = make();
    const { graph: _graph, ...data } = entry.data;
    this.#memo.keep('entry', subject, key, { data, text: entry.text });
    return entry;
  }
}

const KINDS = ['tools', 'resources', 'workflows'] as const;

type Kind = (typeof KINDS)[number];

/** An environment whose members have marks: equal members have equal marks. */
export class MarkedEnvironment {
  readonly environment: CheckEnvironment;
  readonly #marks = new Map<string, string>();

  constructor(environment: CheckEnvironment) {
    this.environment = environment;
  }

  /** @param use - a kind and a name. */
  markOf(use: string): string {
    return getOrInsert(this.#marks, use, () => this.#find(use));
  }

  #find(use: string): string {
    const kind = use.slice(0, use.indexOf(' ')) as Kind;
    const member = this.environment[kind]?.get(use.slice(kind.length + 1));
    if (member === undefined) return '';
    return kind === 'workflows'
      ? markOfGraph(member as Graph)
      : sha256(canonicalJson(member as unknown as Value));
  }

  /** The environment for one check, and the members that it asks for; undefined where it asks for all of a kind. */
  observed(): { readonly environment: CheckEnvironment; uses(): ReadonlyMap<string, string> | undefined } {
    const uses = new Set<string>();
    let isListed = false;
    const onList = (): void => {
      isListed = true;
    };
    const observed = KINDS.flatMap((kind) => {
      const map: ReadonlyMap<string, unknown> | undefined = this.environment[kind];
      return map === undefined ? [] : [[kind, observe(map, (name) => uses.add(`${kind} ${name}`), onList)]];
    });
    return {
      environment: { ...this.environment, ...(Object.fromEntries(observed) as Partial<CheckEnvironment>) },
      uses: () => (isListed ? undefined : new Map([...uses].map((use) => [use, this.markOf(use)]))),
    };
  }
}

/** A map that reports which names it is asked for, and whether it is asked for anything else. */
function observe<V>(
  map: ReadonlyMap<string, V>,
  onName: (name: string) => void,
  onList: () => void,
): ReadonlyMap<string, V> {
  return new Proxy(map, {
    get(_, property) {
      if (property === 'get' || property === 'has')
        return (name: string) => {
          onName(name);
          return map[property](name);
        };
      onList();
      const member = Reflect.get(map, property, map) as unknown;
      return typeof member === 'function' ? (member.bind(map) as unknown) : member;
    },
  });
}

const graphMarks = new WeakMap<Graph, string>();

function markOfGraph(graph: Graph): string {
  return getOrInsert(graphMarks, graph, () => sha256(canonicalGraph(graph)));
}
