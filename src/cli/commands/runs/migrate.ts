import { defined } from '../../../graph/defined.js';
import type { JsonObject } from '../../../graph/json.js';
import { singleLine } from '../../../graph/printable-text.js';
import type { Mapping, MappingFault } from '../../../runtime/engine/migration/migrate-rows.js';
import type { MoveTarget } from '../../../runtime/runs/operate/move-run.js';
import type { MigrationOutcome, StoreOperator } from '../../../runtime/runs/operate/store-operator.js';
import { readStoredRun } from '../../../runtime/runs/operate/stored-view.js';
import { openRuns, type StoredHead, type StoreReader } from '../../../runtime/runs/store/reader.js';
import { changeSince, type Definitions } from '../../../runtime/server/definitions.js';
import { capabilityText, missingIn } from '../../../runtime/tools/capabilities.js';
import { runRef } from '../../../runtime/tools/port.js';
import type { Toolset } from '../../../runtime/tools/toolset.js';
import { Misuse, type Output } from '../../command-line.js';
import {
  COMMON,
  DEFINITION_OPTIONS,
  REGISTRY,
  RUN,
  readObject,
  storeCommand,
  unreadableRun,
  withDefinitions,
  withRun,
} from './store-command.js';

const OPTIONS = {
  ...DEFINITION_OPTIONS,
  workflow: { type: 'string' },
  mapping: { type: 'string' },
  apply: { type: 'boolean' },
} as const;

const NAME = 'stepwright runs migrate';

/** `stepwright runs migrate RUN`: moves open runs to the workflow as it is now. */
export const migrateRuns = storeCommand(
  NAME,
  `Usage: stepwright runs migrate RUN --store sqlite:PATH [options]
       stepwright runs migrate --workflow NAME --store sqlite:PATH [options]

Says whether open runs can go on with the workflow as the registry has it now: each moves safely, needs a mapping, or
stays, by step and reason. With --apply those that move safely are moved, while a server uses the store. ${RUN}
The exit code is 1 if a run does not move safely.

Options:
  --workflow NAME  all open runs of this workflow that another definition started
  --mapping FILE   new ids of steps that have run, as a JSON object by the old ones
  --apply          move the runs
${COMMON}${REGISTRY}`,
  OPTIONS,
  1,
  async (store, parsed, output) => {
    const { values, args } = parsed;
    const { workflow, mapping: file, apply = false, json = false } = values;
    const [name] = args;
    if ((name === undefined) === (workflow === undefined))
      throw new Misuse(
        'stepwright: `stepwright runs migrate` takes either a run or `--workflow NAME`; `stepwright runs list` shows the names of runs',
      );
    const mapping = file === undefined ? new Map<string, string>() : mappingIn(file);
    return withDefinitions('runs migrate', values, output, (definitions) => {
      const command = { store, definitions, mapping, apply, json, output };
      if (workflow !== undefined)
        return store.read((reader) => migrate(command, openRuns(reader, workflow), workflow, true));
      return withRun(store, name, NAME, output, ({ head, graph }) => migrate(command, [head], graph.name));
    });
  },
);

function mappingIn(file: string): Mapping {
  const ids = Object.entries(readObject('mapping', file, '`{ "old-step": "new-step" }`'));
  const wrong = ids.find(([, id]) => typeof id !== 'string' || id === '');
  if (wrong !== undefined)
    throw new Misuse(
      `stepwright: \`--mapping\` gives \`${singleLine(wrong[0])}\` no text: give the new id of the step`,
    );
  return new Map(ids as [string, string][]);
}

/** What the command line says of the moves. */
interface MigrateCommand {
  readonly store: StoreOperator;
  readonly definitions: readonly Definitions[];
  readonly mapping: Mapping;
  readonly apply: boolean;
  readonly json: boolean;
  readonly output: Output;
}

/** @param isList whether runs of the workflow as it is now are left out. */
async function migrate(
  { store, definitions, mapping, apply, json, output }: MigrateCommand,
  heads: Iterable<StoredHead> | AsyncIterable<StoredHead>,
  workflow: string,
  isList = false,
): Promise<number> {
  const target = { ...targetIn(definitions, workflow), mapping };
  const runs: JsonObject[] = [];
  let areSafe = true;
  let count = 0;
  for await (const { run, outcome } of store.migrate(heads, target, apply)) {
    if (outcome.kind === 'mapping') throw new Misuse(mappingText(outcome.faults));
    if (isList && outcome.kind === 'current') continue;
    const { text, value, isSafe } = shownOutcome(runRef(run.id), outcome);
    areSafe &&= isSafe;
    count += 1;
    if (json) runs.push(value);
    else output.out(`${text}\n`);
  }
  if (json) output.out(`${JSON.stringify({ runs })}\n`);
  else if (count === 0) output.out('no open run of another definition\n');
  return areSafe ? 0 : 1;
}

/** A workflow as the one registry that has it defines it now. @throws Misuse without exactly one. */
export function targetIn(
  definitions: readonly Definitions[],
  workflow: string,
): MoveTarget & { readonly hash: string } {
  const named = definitions.filter(({ workflows }) => workflows.has(workflow));
  const [definition] = named;
  const to = definition?.workflows.get(workflow);
  if (definition === undefined || to === undefined || named.length > 1)
    throw new Misuse(
      `stepwright: ${named.length === 0 ? 'no registry has' : `${named.length} registries have`} the workflow \`${singleLine(workflow)}\`: name one with \`--registry FILE\``,
    );
  const toolset = definition.toolset();
  const { secretInputs } = toolset;
  const isPrivate = (tool: string) => toolset.isPrivate(tool);
  const tools = safetyIn(definition, toolset);
  const { graph, hash } = to;
  return { graph, hash, tools, mapping: new Map(), isPrivate, secretInputs };
}

function mappingText(faults: readonly MappingFault[]): string {
  return faults
    .map(
      ({ from, to, fault }) =>
        `stepwright: \`--mapping\` cannot give step \`${singleLine(from)}\` the id \`${singleLine(to)}\`: ${MAPPING_FAULTS[fault] ?? fault}`,
    )
    .join('\n');
}

/** Why a run stays, by reason of a verdict. */
const OBSTACLES: Readonly<Record<string, string>> = {
  graph: 'the workflow has faults, or another name',
  over: 'the run is over',
  undoing: 'what it did is being undone',
  call_in_flight: 'a call has not returned',
  unknown_outcome: 'a call has an unknown outcome, or may still return',
  unfinished: 'it is at work: try again',
  inputs: 'the arguments of the workflow were changed',
  state: 'a state field was changed or removed',
  option: 'the error strategy, `failFast`, `onFailure`, `maxConcurrency` or `task` was changed',
  secrets: 'the workflow has secrets, and the values of the store are not encrypted',
  answerers: 'it asks other callers than its owner, and did not before',
  removed: 'the step has started, and is no longer there',
  moved: 'the step has started, and is in another place',
  changed: 'the step has started, and was changed',
  edges: 'the step has started, and other steps go before it or select it now',
  ran_before: 'the step has run before, and was changed',
  scope_ended: 'the step is new where no step starts any more',
  too_late: 'a new run would have started the step earlier, which could have changed other steps',
};

const MAPPING_FAULTS: Readonly<Record<string, string>> = {
  unknown: 'the run has no such step',
  unknown_target: 'the workflow has no step of that id now',
  two_to_one: 'it has another step as well',
  taken: 'another step of the run has it',
  not_settled: 'the step has not ended, or has steps of its own',
  undo_record: 'the step has an undo record, which keeps its key',
};

function safetyIn(definitions: Definitions, { toolSafety }: Toolset): MoveTarget['tools'] {
  const safeties = Object.keys(definitions.registry.tools).map((tool) => [tool, toolSafety(tool)] as const);
  return Object.fromEntries(safeties.filter(([, safety]) => safety !== 'none'));
}

interface ShownOutcome {
  readonly value: JsonObject;
  readonly text: string;
  /** Whether the run has the graph, or can have it. */
  readonly isSafe: boolean;
}

function shownOutcome(
  run: string,
  outcome: Exclude<MigrationOutcome, { readonly kind: 'mapping' }>,
): ShownOutcome {
  const { kind } = outcome;
  const isSafe = kind === 'safe' || kind === 'moved' || kind === 'current';
  const of = (verdict: string, text: string, more: JsonObject = {}) => ({
    ...{ value: { run, verdict, ...more }, text: `${run}  ${text}` },
    isSafe,
  });
  switch (outcome.kind) {
    case 'safe':
      return of(
        'safe',
        outcome.starts.length === 0
          ? 'moves safely'
          : `moves safely, and starts ${outcome.starts.join(', ')}`,
        { starts: outcome.starts },
      );
    case 'moved':
      return of('moved', 'was moved');
    case 'current':
      return of('current', 'has the workflow as it is now');
    case 'needsMapping':
      return of(
        'needs_mapping',
        `needs a mapping: --mapping with ${JSON.stringify(Object.fromEntries([...outcome.mapping]))}`,
        {
          mapping: Object.fromEntries(outcome.mapping),
        },
      );
    case 'stays':
      return of('stays', `stays: ${outcome.reasons.map(reasonText).join('; ')}`, {
        reasons: outcome.reasons.map(({ node, reason }) => ({ ...defined({ step_id: node }), reason })),
      });
    case 'held':
      return of('stays', 'stays: a server works on it', { reasons: [{ reason: 'held' }] });
    case 'unreadable':
      return of('unreadable', unreadableRun(run, outcome.why));
    default:
      return outcome satisfies never;
  }
}

function reasonText({ node, reason }: { readonly node?: string; readonly reason: string }): string {
  return `${node === undefined ? '' : `${singleLine(node)}: `}${OBSTACLES[reason] ?? reason}`;
}

/** `stepwright runs gate`: says of each open run whether a new build can continue it. */
export const gate = storeCommand(
  'stepwright runs gate',
  `Usage: stepwright runs gate --store sqlite:PATH [options]

Says of each open run what becomes of it when this build is deployed: it continues unchanged, continues on its old
definition, moves safely with \`runs migrate --apply\`, or would be stuck, and why. It only reads, and also takes a copy
that \`runs backup\` made. The exit code is 1 if a run would be stuck.

Options:
${COMMON}${REGISTRY}`,
  DEFINITION_OPTIONS,
  0,
  (store, { values }, output) =>
    withDefinitions('runs gate', values, output, (definitions) =>
      store.read(async (reader) => {
        const outcomes: GateOutcome[] = [];
        for await (const head of openRuns(reader))
          outcomes.push(await gateOutcome({ store, reader, definitions }, head));
        if (values.json) output.out(`${JSON.stringify({ runs: outcomes })}\n`);
        else if (outcomes.length === 0) output.out('no open run\n');
        else for (const each of outcomes) output.out(`${each.run}  ${gateSentence(each)}\n`);
        return outcomes.some(({ outcome }) => outcome === 'stuck') ? 1 : 0;
      }),
    ),
);

interface GateOutcome extends JsonObject {
  readonly run: string;
  readonly outcome: 'unchanged' | 'old_definition' | 'moves' | 'stuck';
  /** Why it would be stuck, or what it lacks until it has moved. */
  readonly reasons: readonly string[];
}

interface Deploy {
  readonly store: StoreOperator;
  readonly reader: Pick<StoreReader, 'list' | 'find' | 'read'>;
  readonly definitions: readonly Definitions[];
}

/** What becomes of a run when the new build takes the place of all others. */
export async function gateOutcome(
  { store, reader, definitions }: Deploy,
  head: StoredHead,
): Promise<GateOutcome> {
  const run = runRef(head.id);
  const stored = await reader.read(head);
  // It ended meanwhile, and was removed.
  if (stored === undefined) return { run, outcome: 'unchanged', reasons: [] };
  const shown = readStoredRun(stored);
  if (shown instanceof Error) return { run, outcome: 'stuck', reasons: [shown.message] };
  const { graph } = stored;
  const change = changeSince(definitions, graph, head.graph);
  const lacking = (change.missing_capabilities ?? []).map(
    (capability) => `this build does not have ${capabilityText(capability)}`,
  );
  if (lacking.length === 0)
    return { run, outcome: change.definition_changed ? 'old_definition' : 'unchanged', reasons: [] };
  const stuck = { run, outcome: 'stuck', reasons: lacking } as const;
  const named = definitions.filter(({ workflows }) => workflows.has(graph.name));
  const [definition] = named;
  if (!change.definition_changed || definition === undefined || named.length > 1) return stuck;
  const target = targetIn(definitions, graph.name);
  // A run cannot move to a workflow without its tools.
  if (missingIn(definition.registry)(target.graph).length > 0) return stuck;
  for await (const { outcome: move } of store.migrate([head], target, false)) {
    if (move.kind === 'safe') return { run, outcome: 'moves', reasons: lacking };
    if (move.kind !== 'mapping') lacking.push(shownOutcome('', move).text.trim());
  }
  return stuck;
}

const TEXTS: Readonly<Record<GateOutcome['outcome'], string>> = {
  unchanged: 'continues unchanged',
  old_definition: 'continues on its old definition',
  moves: 'moves safely with `stepwright runs migrate --apply`; until then',
  stuck: 'would be stuck:',
};

/** What becomes of a run, on a line. */
export function gateSentence({ outcome, reasons }: GateOutcome): string {
  return singleLine(`${TEXTS[outcome]} ${reasons.join('; ')}`.trimEnd());
}
