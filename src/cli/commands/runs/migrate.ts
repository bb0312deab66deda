import { setTimeout as delay } from 'node:timers/promises';
import { defined } from '../../../graph/defined.js';
import type { JsonObject } from '../../../graph/json.js';
import type { Mapping } from '../../../runtime/engine/migration/migrate-rows.js';
import {
  judgeMove,
  type MoveOutcome,
  type MoveTarget,
  moveRun,
} from '../../../runtime/runs/operate/move-run.js';
import { SqliteJournal } from '../../../runtime/runs/store/sqlite/sqlite-journal.js';
import type { StoreReader } from '../../../runtime/runs/store/sqlite/store-reader.js';
import type { Head } from '../../../runtime/runs/store/sqlite/store-tables.js';
import type { Definitions } from '../../../runtime/server/definitions.js';
import { runRef } from '../../../runtime/tools/port.js';
import type { Toolset } from '../../../runtime/tools/toolset.js';
import { misused, type Output } from '../../command-line.js';
import { runsTexts } from '../../runs-texts.js';
import { DEFINITION_OPTIONS, withDefinitions } from './definitions.js';
import { readObject } from './json-file.js';
import { storeCommand, withReader, withRun } from './store-command.js';

/** A command that is killed holds a run for so long, in ms. */
const LEASE_MS = 1_000;

/** Waits until runs are free that a command held which was killed. Servers hold theirs longer. */
async function leaseOver({ leases }: SqliteJournal): Promise<void> {
  for (let waited = 0; waited <= LEASE_MS; waited += LEASE_MS / 4) {
    await leases.orphans(0);
    await delay(LEASE_MS / 4);
  }
  await leases.orphans(0);
}

const OPTIONS = {
  ...DEFINITION_OPTIONS,
  workflow: { type: 'string' },
  mapping: { type: 'string' },
  apply: { type: 'boolean' },
} as const;

const NAME = 'stepwright runs migrate';

/** How many runs are read at once. */
const PAGE = 200;

/** `stepwright runs migrate RUN`: moves open runs to the workflow as it is now. */
export const migrateRuns = storeCommand(
  NAME,
  runsTexts.migrateHelp,
  OPTIONS,
  1,
  async (path, parsed, output) => {
    const { values, args } = parsed;
    const { workflow, mapping: file, apply = false, json = false } = values;
    const [name] = args;
    if ((name === undefined) === (workflow === undefined)) return misused(runsTexts.migrateUsage, output);
    const mapping = file === undefined ? new Map<string, string>() : mappingIn(file);
    if ('fault' in mapping) return misused(mapping.fault, output);
    return withDefinitions('runs migrate', values, output, (definitions) => {
      const migration = new Migration(path, definitions, { mapping, apply, json }, output);
      if (workflow !== undefined) return withReader(path, (reader) => migration.all(reader, workflow));
      return withRun(path, name, NAME, output, ({ head, graph }, reader) =>
        migration.some(reader, [head], graph.name),
      );
    });
  },
);

function mappingIn(file: string): Mapping | { readonly fault: string } {
  const read = readObject('mapping', file, '`{ "old-step": "new-step" }`');
  if ('fault' in read) return read;
  const wrong = Object.entries(read.value).find(([, id]) => typeof id !== 'string' || id === '');
  if (wrong !== undefined) return { fault: runsTexts.notAnId(wrong[0]) };
  return new Map(Object.entries(read.value) as [string, string][]);
}

/** What the command line says of the moves. */
interface MigrationSettings {
  readonly mapping: Mapping;
  readonly apply: boolean;
  readonly json: boolean;
}

type Outcome =
  | MoveOutcome
  | { readonly kind: 'current' }
  | { readonly kind: 'unreadable'; readonly why: string };

/** Moves runs of one workflow. */
class Migration {
  readonly #path: string;
  readonly #definitions: readonly Definitions[];
  readonly #settings: MigrationSettings;
  readonly #output: Output;

  constructor(
    path: string,
    definitions: readonly Definitions[],
    settings: MigrationSettings,
    output: Output,
  ) {
    this.#path = path;
    this.#definitions = definitions;
    this.#settings = settings;
    this.#output = output;
  }

  /** All open runs of a workflow. */
  all(reader: StoreReader, workflow: string): Promise<number> {
    const heads: Head[] = [];
    for (const state of ['running', 'waiting'] as const) {
      for (let before = Number.MAX_SAFE_INTEGER; ; ) {
        const rows = reader.list({ state, workflow, before, limit: PAGE });
        heads.push(...rows.flatMap(({ ref }) => reader.find(ref)));
        if (rows.length < PAGE) break;
        before = rows.at(-1)?.n ?? 0;
      }
    }
    return this.some(reader, heads, workflow, true);
  }

  /** @param isList whether runs of the workflow as it is now are left out. */
  async some(reader: StoreReader, heads: readonly Head[], workflow: string, isList = false): Promise<number> {
    const named = this.#definitions.filter(({ workflows }) => workflows.has(workflow));
    const [definitions] = named;
    const to = definitions?.workflows.get(workflow);
    if (definitions === undefined || to === undefined || named.length > 1)
      return misused(runsTexts.notOneDefinition(workflow, named.length), this.#output);
    const toolset = definitions.toolset();
    const target = {
      ...{ graph: to.graph, tools: safetyIn(definitions, toolset), mapping: this.#settings.mapping },
      secretInputs: toolset.secretInputs,
    };
    const outcomes: { readonly run: string; readonly outcome: Outcome }[] = [];
    const journal = this.#settings.apply
      ? await SqliteJournal.open(this.#path, { leaseMs: LEASE_MS })
      : undefined;
    let waited: Promise<void> | undefined;
    try {
      for (const head of heads) {
        const move = () => this.#move(reader, head, target, to.hash, journal);
        let outcome = await move();
        if (outcome.kind === 'held' && journal !== undefined) {
          // One wait is enough for all of them.
          waited ??= leaseOver(journal);
          await waited;
          outcome = await move();
        }
        if (outcome.kind === 'mapping') return this.#refused(outcome);
        if (!isList || outcome.kind !== 'current') outcomes.push({ run: runRef(head.id), outcome });
      }
    } finally {
      await journal?.close();
    }
    return this.#report(outcomes);
  }

  async #move(
    reader: StoreReader,
    head: Head,
    target: MoveTarget,
    hash: string,
    journal: SqliteJournal | undefined,
  ): Promise<Outcome> {
    const read = reader.read(head);
    if (read === undefined) return { kind: 'stays', reasons: [{ reason: 'over' }] };
    if (read.head.graph === hash) return { kind: 'current' };
    try {
      const verdict = judgeMove(read.loaded, read.graph, target);
      return verdict.kind !== 'safe' || journal === undefined
        ? verdict
        : await moveRun(journal, head.id, target, Date.now());
    } catch (error) {
      // A run of a later version does not hold up the others.
      if (!(error instanceof Error) || error.name !== 'StateVersionError') throw error;
      return { kind: 'unreadable', why: error.message };
    }
  }

  #refused({ faults }: Extract<MoveOutcome, { kind: 'mapping' }>): number {
    return misused(
      faults.map(({ from, to, fault }) => runsTexts.mappingFault(from, to, fault)).join('\n'),
      this.#output,
    );
  }

  #report(outcomes: readonly { readonly run: string; readonly outcome: Outcome }[]): number {
    const { out } = this.#output;
    const shown = outcomes.map(({ run, outcome }) => shownOutcome(run, outcome));
    if (this.#settings.json) out(`${JSON.stringify({ runs: shown.map(({ value }) => value) })}\n`);
    else if (shown.length === 0) out(`${runsTexts.noOpenRun}\n`);
    else for (const { text } of shown) out(`${text}\n`);
    return outcomes.every(
      ({ outcome: { kind } }) => kind === 'safe' || kind === 'moved' || kind === 'current',
    )
      ? 0
      : 1;
  }
}

function safetyIn(definitions: Definitions, { toolSafety }: Toolset): MoveTarget['tools'] {
  const known = Object.keys(definitions.registry.tools).map((tool) => [tool, toolSafety(tool)] as const);
  return Object.fromEntries(known.filter(([, safety]) => safety !== 'none'));
}

function shownOutcome(run: string, outcome: Outcome): { readonly value: JsonObject; readonly text: string } {
  const of = (verdict: string, text: string, more: JsonObject = {}) => ({
    value: { run, verdict, ...more },
    text: runsTexts.verdictLine(run, text),
  });
  switch (outcome.kind) {
    case 'safe':
      return of('safe', runsTexts.movesSafely(outcome.starts), { starts: outcome.starts });
    case 'moved':
      return of('moved', runsTexts.moved);
    case 'current':
      return of('current', runsTexts.currentRun);
    case 'needsMapping':
      return of('needs_mapping', runsTexts.needsMapping([...outcome.mapping]), {
        mapping: Object.fromEntries(outcome.mapping),
      });
    case 'stays':
      return of('stays', runsTexts.stays(outcome.reasons), {
        reasons: outcome.reasons.map(({ node, reason }) => ({
          ...defined({ step_id: node }),
          reason,
        })),
      });
    case 'held':
      return of('stays', runsTexts.held, { reasons: [{ reason: 'held' }] });
    case 'unreadable':
      return of('unreadable', runsTexts.unreadableRun(run, outcome.why));
    case 'mapping':
      return of('mapping', '');
    default:
      return outcome satisfies never;
  }
}
