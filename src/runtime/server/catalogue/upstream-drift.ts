import { defined } from '../../../graph/defined.js';
import type { Graph } from '../../../graph/model.js';
import { toolsIn } from '../../../graph/nodes.js';
import type { Failure } from '../../engine/contract.js';
import type { Capability } from '../../tools/capabilities.js';
import type { Log } from '../../tools/log.js';
import type { Registry } from '../../tools/registry.js';
import { type Break, breaksOf, breakText, changesOf } from '../../upstream/drift.js';
import type { UpstreamListing, UpstreamPort, UpstreamTool } from '../../upstream/port.js';
import { reasonOf, upstreamTexts } from '../../upstream/port.js';
import type { RunnableWorkflow } from '../composite/served-workflows.js';

const LIST_TIMEOUT_MS = 10_000;

/** What a check of upstream servers needs. */
export interface DriftCheck {
  readonly registry: Pick<Registry, 'tools'>;
  readonly upstream: UpstreamPort;
  readonly log: Log;
  /** How long all servers together may take to list their tools, in ms. Default: 10 s. */
  readonly listTimeoutMs?: number;
}

/**
 * Compares the upstream tools that workflows use with those that the servers list now. What a workflow needs and a
 * server does not have any more makes it unavailable. Other changes of used tools are logged, as is a server that
 * cannot be reached: its tools are taken to be as they were last listed, or else as recorded.
 */
export class UpstreamDrift {
  readonly #check: DriftCheck;
  /** By hash, each with the workflows it runs among its tasks. */
  readonly #graphs = new Map<string, Graph>();
  #used: readonly UsedTool[] = [];
  readonly #live = new Map<string, readonly UpstreamTool[]>();
  /** What could not be used of the lists of servers. */
  readonly #notes = new Map<string, readonly string[]>();
  #unavailable: ReadonlyMap<string, Failure> = new Map();
  /** Servers that are still to be compared. */
  readonly #changed = new Set<string>();
  #comparing: Promise<void> | undefined;

  constructor(check: DriftCheck) {
    this.#check = check;
  }

  /** Why a workflow is unavailable, if it still is: the servers of one that was unavailable are compared again. */
  async refusalOf(workflow: RunnableWorkflow | undefined): Promise<Failure | undefined> {
    const failure = this.failureOf(workflow);
    if (workflow === undefined || failure === undefined) return undefined;
    await this.compare(usedTools([workflow.graph], this.#check.registry.tools).map(({ server }) => server));
    return this.failureOf(workflow);
  }

  /** Why a workflow is unavailable, if it was when its servers were compared last. */
  failureOf(workflow: RunnableWorkflow | undefined): Failure | undefined {
    return workflow && this.#unavailable.get(workflow.hash);
  }

  /** What a graph needs of the servers that were compared, and does not get: of a registered workflow or another one. */
  missingFor(graph: Graph): readonly Capability[] {
    const breaks = breaksOf(graph, this.#check.registry.tools, this.#live);
    return breaks.map((each) => ({ kind: 'contract', name: each.tool, problem: breakText(each) }));
  }

  /** Compares the servers whose tools further workflows call. Workflows that were added before are left out. */
  add(workflows: Iterable<RunnableWorkflow>): Promise<void> {
    const added = [...workflows].filter(({ hash }) => !this.#graphs.has(hash));
    for (const { hash, graph } of added) this.#graphs.set(hash, graph);
    const { tools } = this.#check.registry;
    this.#used = usedTools([...this.#graphs.values()], tools);
    const graphs = added.map(({ graph }) => graph);
    return this.compare(usedTools(graphs, tools).map(({ server }) => server));
  }

  /** Compares servers, one after the other if it is called again in the meantime. Those that no workflow uses are left out. */
  compare(servers: readonly string[]): Promise<void> {
    for (const { server } of this.#used) if (servers.includes(server)) this.#changed.add(server);
    if (this.#changed.size > 0) this.#comparing ??= this.#compareChanged();
    return this.#comparing ?? Promise.resolve();
  }

  async #compareChanged(): Promise<void> {
    try {
      while (this.#changed.size > 0) {
        const servers = new Set(this.#changed);
        this.#changed.clear();
        await this.#compare(servers);
      }
    } finally {
      this.#comparing = undefined;
    }
  }

  async #compare(servers: ReadonlySet<string>): Promise<void> {
    const { upstream, log } = this.#check;
    const { list } = upstream;
    if (list === undefined) return;
    for (const [server, { tools, notes = [] }] of await listed(servers, list.bind(upstream), this.#check)) {
      this.#live.set(server, tools);
      this.#logNotes(server, notes);
    }
    const before = this.#unavailable;
    const { unavailable, broken } = this.#breaks();
    this.#unavailable = unavailable;
    for (const [key, { message }] of unavailable) {
      if (before.get(key)?.message !== message)
        log(message, { event: 'upstream.drift', workflow: this.#nameOf(key) });
    }
    for (const key of before.keys()) {
      if (unavailable.has(key)) continue;
      const workflow = this.#nameOf(key);
      log(`Workflow '${workflow}' is available again: upstream servers have what it needs`, {
        event: 'upstream.drift',
        level: 'warning',
        workflow,
      });
    }
    this.#logChanges(servers, broken);
  }

  #logNotes(server: string, notes: readonly string[]): void {
    const before = this.#notes.get(server) ?? [];
    this.#notes.set(server, notes);
    for (const note of notes.filter((each) => !before.includes(each)))
      this.#check.log(`The list of tools of the upstream server '${server}': ${note}`, {
        event: 'upstream.drift',
        level: 'warning',
      });
  }

  #nameOf(key: string): string {
    return this.#graphs.get(key)?.name ?? key;
  }

  #breaks(): { readonly unavailable: ReadonlyMap<string, Failure>; readonly broken: ReadonlySet<string> } {
    const unavailable = new Map<string, Failure>();
    const broken = new Set<string>();
    for (const [key, graph] of this.#graphs) {
      const breaks = breaksOf(graph, this.#check.registry.tools, this.#live);
      const [first] = breaks;
      if (first === undefined) continue;
      for (const { server, tool } of breaks) broken.add(`${server} ${tool}`);
      const message = upstreamTexts.unavailableWorkflow(
        graph.name,
        breakText(first),
        breaks.length - 1,
        first.server,
      );
      unavailable.set(key, { code: 'E_UPSTREAM_DRIFT', message, details: breaks.map(detailOf) });
    }
    return { unavailable, broken };
  }

  #logChanges(servers: ReadonlySet<string>, broken: ReadonlySet<string>): void {
    for (const { server, recorded } of this.#used) {
      const listing = this.#live.get(server)?.filter(({ name }) => name === recorded.name);
      if (!servers.has(server) || listing === undefined || broken.has(`${server} ${recorded.name}`)) continue;
      for (const { tool, what } of changesOf([recorded], listing.map(contractOf)))
        this.#check.log(
          `Tool '${tool}' of the upstream server '${server}' ${what}, which no workflow depends on: run \`npx stepwright pull ${server}\``,
          {
            event: 'upstream.drift',
            level: 'warning',
          },
        );
    }
  }
}

interface UsedTool {
  readonly server: string;
  readonly recorded: UpstreamTool;
}

/** The upstream tools that steps and compensations call, each once. */
function usedTools(graphs: readonly Graph[], tools: Registry['tools']): readonly UsedTool[] {
  const names = new Set(graphs.flatMap((graph) => [...toolsIn(graph)]));
  return [...names].sort().flatMap((name) => {
    const entry = Object.hasOwn(tools, name) ? tools[name] : undefined;
    if (entry?.upstream === undefined) return [];
    const { server, tool } = entry.upstream;
    return [{ server, recorded: contractOf({ ...entry, name: tool }) }];
  });
}

/** The parts of a tool that matter to a run. */
function contractOf({ name, inputSchema, outputSchema, annotations }: UpstreamTool): UpstreamTool {
  return {
    name,
    inputSchema,
    ...defined({ outputSchema, annotations }),
  };
}

async function listed(
  servers: ReadonlySet<string>,
  list: NonNullable<UpstreamPort['list']>,
  { log, listTimeoutMs = LIST_TIMEOUT_MS }: DriftCheck,
): Promise<ReadonlyMap<string, UpstreamListing>> {
  const signal = AbortSignal.timeout(listTimeoutMs);
  const listings = await Promise.all(
    [...servers].sort().map(async (server) => {
      try {
        return [[server, await list(server, signal)] as const];
      } catch (error) {
        const isLate = error === signal.reason;
        const why = isLate ? `it has not listed them within ${listTimeoutMs} ms` : reasonOf(error);
        log(
          `The tools of the upstream server '${server}' could not be compared with the recorded ones: ${why}`,
          { event: 'upstream.unreachable', level: 'warning' },
        );
        return [];
      }
    }),
  );
  return new Map(listings.flat());
}

function detailOf({ server, tool, step, part, path, problem }: Break) {
  return { server, tool, step, part, path: [...path], problem };
}
