import { createInterface } from 'node:readline/promises';
import { defined } from '../../../graph/defined.js';
import { formatDiagnostics } from '../../../graph/diagnostics/format.js';
import type { Graph } from '../../../graph/model.js';
import { runText } from '../../../print/runs.js';
import { type Fork, type ForkRefusal, forkAt } from '../../../runtime/runs/operate/fork.js';
import type { StubResults, Stubs } from '../../../runtime/runs/operate/stub-port.js';
import { runStubbed } from '../../../runtime/runs/operate/stubbed-run.js';
import { addRun } from '../../../runtime/runs/store/sqlite/add-run.js';
import type { Definitions } from '../../../runtime/server/definitions.js';
import { resolveSettings } from '../../../runtime/server/options.js';
import { runRef } from '../../../runtime/tools/port.js';
import { misused, type Output } from '../../command-line.js';
import { runsTexts } from '../../runs-texts.js';
import { readStubs } from '../stubs.js';
import { DEFINITION_OPTIONS, namesRegistry, withDefinitions } from './definitions.js';
import { numberIn, storeCommand, withRun } from './store-command.js';

const OPTIONS = {
  ...DEFINITION_OPTIONS,
  at: { type: 'string' },
  stubs: { type: 'string' },
  real: { type: 'boolean' },
  yes: { type: 'boolean' },
} as const;

const NAME = 'stepwright runs fork';

/** `stepwright runs fork RUN`: starts a new run from a point of the log of a run. */
export const forkRun = storeCommand(NAME, runsTexts.forkHelp, OPTIONS, 1, async (path, parsed, output) => {
  const { values, args } = parsed;
  const { real = false, yes = false, json = false, stubs } = values;
  const at = numberIn('at', values.at, { least: 1 });
  if (typeof at === 'object') return misused(at.fault, output);
  if (at === undefined) return misused(runsTexts.missingAt, output);
  if (real && stubs !== undefined) return misused(runsTexts.stubsWithReal, output);
  if (yes && !real) return misused(runsTexts.yesWithoutReal, output);
  const name = args[0] ?? '';
  const fork = (definitions: readonly Definitions[] = []): Promise<number> =>
    withRun(path, args[0], NAME, output, async (found, reader) => {
      const { head, loaded, graph } = found;
      const entries = reader.entries(head, 1, head.seq);
      const id = resolveSettings({}).newRunId();
      const made = forkAt({ loaded, graph, entries }, { entry: at, id, now: Date.now() });
      if ('why' in made) return misused(refusalText(name, at, made), output);
      if (real) return keep(path, made, { yes, json }, output);
      const definition = definitionOf(definitions, graph);
      const tools = definition?.registry.tools;
      const stubbed = { graph, answers: false, ...defined({ tools }) };
      const { results, diagnostics, readSource } = await readStubs(stubs, '.', stubbed);
      if (diagnostics.length > 0) {
        output.err(formatDiagnostics(diagnostics, readSource, { color: output.color }));
        return 1;
      }
      return stub(made, stubsOf(results, definition), json, output);
    });
  return namesRegistry(values) ? withDefinitions('runs fork', values, output, fork) : fork();
});

function refusalText(name: string, at: number, refusal: ForkRefusal): string {
  switch (refusal.why) {
    case 'over':
      return runsTexts.overAt(name, at);
    case 'undoing':
      return runsTexts.undoingAt(name, at);
    case 'range':
      return runsTexts.noEntry(name, at, refusal.from, refusal.to);
    case 'log':
      return runsTexts.noLog(name, at, refusal.from, refusal.to);
    default:
      return refusal satisfies never;
  }
}

function stubsOf(results: StubResults, found: Definitions | undefined): Stubs {
  return found === undefined
    ? { results }
    : { results, tools: found.registry.tools, toolset: found.toolset() };
}

function definitionOf(definitions: readonly Definitions[], { name }: Graph): Definitions | undefined {
  return definitions.find(({ workflows }) => workflows.has(name)) ?? definitions[0];
}

/** Goes on with the fork in this process. */
async function stub(fork: Fork, stubs: Stubs, json: boolean, output: Output): Promise<number> {
  const { view, calls } = await runStubbed(fork, stubs);
  if (json) {
    output.out(`${JSON.stringify({ ...view, stubbed_calls: calls }, null, 2)}\n`);
    return 0;
  }
  const { forked_from, ...shown } = view;
  output.out(runText(shown));
  if (forked_from !== undefined && forked_from.effects.length > 0)
    output.out(`${runsTexts.inherits(forked_from.effects)}\n`);
  output.out(`${runsTexts.stubbed(calls)}\n${runsTexts.notKept}\n`);
  return 0;
}

/** Adds the fork to the store, once somebody has agreed to the calls it repeats. */
async function keep(
  path: string,
  fork: Fork,
  { yes, json }: { readonly yes: boolean; readonly json: boolean },
  output: Output,
): Promise<number> {
  const { origin, repeated } = fork;
  if (!json || !yes) {
    output.err(`${runsTexts.repeats(repeated)}\n`);
    if (origin.effects.length > 0) output.err(`${runsTexts.inherits(origin.effects)}\n`);
  }
  if (!yes) {
    if (!process.stdin.isTTY) return misused(runsTexts.unasked, output);
    if (!(await agrees(runsTexts.askReal))) {
      output.err(`${runsTexts.declined}\n`);
      return 1;
    }
  }
  await addRun(path, fork);
  const run = runRef(fork.run);
  output.out(
    json
      ? `${JSON.stringify({ run, forked_from: origin, repeated_calls: repeated })}\n`
      : `${runsTexts.forked(run, origin.run, origin.entry)}\n`,
  );
  return 0;
}

async function agrees(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(question)).trim());
  } finally {
    terminal.close();
  }
}
