import type { Graph } from '../../graph/model.js';
import { toolsIn } from '../../graph/nodes.js';
import type { Failure } from '../engine/contract.js';
import type { Log } from '../tools/log.js';
import type { Registry } from '../tools/registry.js';
import { type Break, breaksOf, breakText, changesOf, type LiveTools } from '../upstream/drift.js';
import type { UpstreamPort, UpstreamTool } from '../upstream/port.js';
import { upstreamTexts } from '../upstream/texts.js';

/** How long all servers together may take to list their tools when a server starts, in ms. */
const LIST_TIMEOUT_MS = 10_000;

/** What a check of upstream servers needs. */
export interface DriftCheck {
  readonly registry: Pick<Registry, 'tools'>;
  /** Each with the workflows it runs among its tasks. */
  readonly graphs: Iterable<Graph>;
  readonly upstream: UpstreamPort;
  readonly log: Log;
}

/**
 * Compares the upstream tools that workflows use with those that the servers list now. What a workflow needs and a
 * server does not have any more makes it unavailable. Other changes of used tools are logged, as is a server that
 * cannot be reached: its tools are taken to be as recorded.
 *
 * @returns why workflows are unavailable, by their names.
 */
export async function findDrift({
  registry: { tools },
  graphs,
  upstream,
  log,
}: DriftCheck): Promise<ReadonlyMap<string, Failure>> {
  const { list } = upstream;
  if (list === undefined) return new Map();
  const all = [...graphs];
  const used = usedTools(all, tools);
  const live = await listed(new Set(used.map(({ server }) => server)), list.bind(upstream), log);
  const unavailable = new Map<string, Failure>();
  const broken = new Set<string>();
  for (const graph of all) {
    const breaks = breaksOf(graph, tools, live);
    const [first] = breaks;
    if (first === undefined) continue;
    for (const { server, tool } of breaks) broken.add(`${server} ${tool}`);
    const message = upstreamTexts.unavailableWorkflow(
      graph.name,
      breakText(first),
      breaks.length - 1,
      first.server,
    );
    unavailable.set(graph.name, { code: 'E_UPSTREAM_DRIFT', message, details: breaks.map(detailOf) });
    log(message, { event: 'upstream.drift', workflow: graph.name });
  }
  for (const { server, recorded } of used) {
    const listing = live.get(server)?.filter(({ name }) => name === recorded.name);
    if (listing === undefined || broken.has(`${server} ${recorded.name}`)) continue;
    for (const { tool, what } of changesOf([recorded], listing.map(contractOf)))
      log(upstreamTexts.compatibleDrift(server, tool, what), { event: 'upstream.drift', level: 'warning' });
  }
  return unavailable;
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
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(annotations === undefined ? {} : { annotations }),
  };
}

async function listed(
  servers: ReadonlySet<string>,
  list: NonNullable<UpstreamPort['list']>,
  log: Log,
): Promise<LiveTools> {
  const signal = AbortSignal.timeout(LIST_TIMEOUT_MS);
  const found = await Promise.all(
    [...servers].sort().map(async (server) => {
      try {
        const { tools } = await list(server, signal);
        return [[server, tools] as const];
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        log(upstreamTexts.unchecked(server, why), { event: 'upstream.unreachable', level: 'warning' });
        return [];
      }
    }),
  );
  return new Map(found.flat());
}

function detailOf({ server, tool, step, part, path, problem }: Break) {
  return { server, tool, step, part, path: [...path], problem };
}
