import type { JsonObject } from '../../../graph/json.js';
import { singleLine } from '../../../graph/printable-text.js';
import type { StoreOperator } from '../../../runtime/runs/operate/store-operator.js';
import type { Head, StoreReader } from '../../../runtime/runs/store/reader.js';
import { changeSince, type Definitions } from '../../../runtime/server/definitions.js';
import { capabilityText, missingIn } from '../../../runtime/tools/capabilities.js';
import { runRef } from '../../../runtime/tools/port.js';
import { outcomeText, targetIn, workflowRuns } from './migrate.js';
import {
  COMMON,
  DEFINITION_OPTIONS,
  REGISTRY,
  readable,
  storeCommand,
  withDefinitions,
} from './store-command.js';

/** `stepwright runs gate`: says of each open run whether a new build can continue it. */
export const gate = storeCommand(
  'stepwright runs gate',
  `Usage: stepwright runs gate --store sqlite:PATH [options]

Says of each open run what becomes of it when this build is deployed: it continues unchanged, continues on its old
definition, moves safely with \`runs migrate --apply\`, or would be stuck, and why. It changes nothing, and also takes a copy
that \`runs backup\` made. The exit code is 1 if a run would be stuck.

Options:
${COMMON}${REGISTRY}`,
  DEFINITION_OPTIONS,
  0,
  (store, { values }, output) =>
    withDefinitions('runs gate', values, output, (definitions) =>
      store.read(async (reader) => {
        const verdicts: ShownVerdict[] = [];
        for (const head of workflowRuns(reader))
          verdicts.push(await gateVerdict({ store, reader, definitions }, head));
        if (values.json) output.out(`${JSON.stringify({ runs: verdicts })}\n`);
        else if (verdicts.length === 0) output.out('no open run\n');
        else for (const verdict of verdicts) output.out(`${verdictText(verdict)}\n`);
        return verdicts.some(({ verdict }) => verdict === 'stuck') ? 1 : 0;
      }),
    ),
);

interface ShownVerdict extends JsonObject {
  readonly run: string;
  readonly verdict: 'unchanged' | 'old_definition' | 'moves' | 'stuck';
  /** Why it would be stuck, or what it lacks until it has moved. */
  readonly reasons: readonly string[];
}

interface Deploy {
  readonly store: StoreOperator;
  readonly reader: StoreReader;
  readonly definitions: readonly Definitions[];
}

/** What becomes of a run when the new build takes the place of all others. */
export async function gateVerdict({ store, reader, definitions }: Deploy, head: Head): Promise<ShownVerdict> {
  const run = runRef(head.id);
  const stored = reader.read(head);
  // It ended meanwhile, and was removed.
  if (stored === undefined) return { run, verdict: 'unchanged', reasons: [] };
  const shown = readable(stored);
  if (shown instanceof Error) return { run, verdict: 'stuck', reasons: [shown.message] };
  const { graph } = stored;
  const change = changeSince(definitions, graph, head.graph);
  const lacking = (change.missing_capabilities ?? []).map(
    (capability) => `this build does not have ${capabilityText(capability)}`,
  );
  if (lacking.length === 0)
    return { run, verdict: change.definition_changed ? 'old_definition' : 'unchanged', reasons: [] };
  const stuck = { run, verdict: 'stuck', reasons: lacking } as const;
  const named = definitions.filter(({ workflows }) => workflows.has(graph.name));
  const [definition] = named;
  if (!change.definition_changed || definition === undefined || named.length > 1) return stuck;
  const target = targetIn(definitions, graph.name);
  // A workflow without its tools is no place to move to.
  if (missingIn(definition.registry)(target.graph).length > 0) return stuck;
  for await (const outcome of store.migrate([head], target, false)) {
    if (outcome.kind === 'safe') return { run, verdict: 'moves', reasons: lacking };
    if (outcome.kind !== 'mapping') lacking.push(outcomeText(outcome));
  }
  return stuck;
}

const TEXTS: Readonly<Record<ShownVerdict['verdict'], string>> = {
  unchanged: 'continues unchanged',
  old_definition: 'continues on its old definition',
  moves: 'moves safely with `stepwright runs migrate --apply`; until then',
  stuck: 'would be stuck:',
};

function verdictText({ run, verdict, reasons }: ShownVerdict): string {
  return `${run}  ${singleLine(`${TEXTS[verdict]} ${reasons.join('; ')}`.trimEnd())}`;
}
