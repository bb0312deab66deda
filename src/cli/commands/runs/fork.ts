import { defined } from '../../../graph/defined.js';
import { formatDiagnostics } from '../../../graph/diagnostics/format.js';
import type { Graph } from '../../../graph/model.js';
import { singleLine } from '../../../graph/printable-text.js';
import { runText } from '../../../print/runs.js';
import { type Fork, forkAt } from '../../../runtime/runs/operate/fork.js';
import type { StoreOperator } from '../../../runtime/runs/operate/store-operator.js';
import { runStubbed } from '../../../runtime/runs/operate/stubbed-run.js';
import { readStubs, type Stubs } from '../../../runtime/runs/operate/stubs.js';
import type { StoredHead } from '../../../runtime/runs/store/reader.js';
import type { Definitions } from '../../../runtime/server/definitions.js';
import { resolveSettings } from '../../../runtime/server/options.js';
import { runRef } from '../../../runtime/tools/port.js';
import { Misuse, type Output } from '../../command-line.js';
import { isYes, openTerminal } from '../terminal.js';
import {
  COMMON,
  DEFINITION_OPTIONS,
  namesRegistry,
  numberIn,
  REGISTRY,
  RUN,
  storeCommand,
  withDefinitions,
  withRun,
} from './store-command.js';

/** Why a run cannot be forked at an entry. */
type ForkRefusal = Exclude<ReturnType<typeof forkAt>, Fork>;

const OPTIONS = {
  ...DEFINITION_OPTIONS,
  at: { type: 'string' },
  stubs: { type: 'string' },
  real: { type: 'boolean' },
  yes: { type: 'boolean' },
} as const;

const NAME = 'stepwright runs fork';

/** `stepwright runs fork RUN`: starts a new run from a point of the log of a run. */
export const forkRun = storeCommand(
  NAME,
  `Usage: stepwright runs fork RUN --at N --store STORE [options]

Starts a new run where RUN was after entry N of its log. It has the results of the steps up to there, and undoes nothing
of what RUN did. Tools are stubbed: the new run goes on in this process until it is over or waits, and is not kept.
With --real it is kept in the store, and a server that uses the store continues it: it repeats calls that RUN has
made. RUN itself is not changed. ${RUN}

Options:
  --at N           the last entry of the log that the new run has, as \`stepwright runs events\` shows it
  --stubs FILE     results and errors in YAML or JSON, by the id of a step or the name of a tool, as \`run --dry\` takes
                   them (default: by the output schema of the registry, else null)
  --real           keep the run, and call tools
  --yes            with --real: do not ask
${COMMON}${REGISTRY}`,
  OPTIONS,
  1,
  async (store, parsed, output) => {
    const { values, args } = parsed;
    const { real = false, yes = false, json = false, stubs } = values;
    const at = numberIn('at', values.at, { least: 1 });
    if (at === undefined)
      throw new Misuse(
        'stepwright: `stepwright runs fork` needs `--at N`, the number of an entry of the log; `stepwright runs events RUN` shows them',
      );
    if (real && stubs !== undefined)
      throw new Misuse(
        'stepwright: `--stubs` is for a fork without `--real`, which calls the tools themselves',
      );
    if (yes && !real)
      throw new Misuse('stepwright: `--yes` is for `--real`; without it a fork calls no tool');
    const name = args[0] ?? '';
    const fork = (definitions: readonly Definitions[] = []): Promise<number> =>
      withRun(store, args[0], NAME, output, async ({ head, loaded, graph }, reader) => {
        const entries = await reader.entries(head, 1, head.seq);
        const id = resolveSettings({}).newRunId();
        const forked = forkAt({ loaded, graph, entries }, { entry: at, id, now: Date.now() });
        if ('why' in forked) throw new Misuse(refusalText(name, at, forked));
        if (real) return keep({ store, head, fork: forked }, { yes, json }, output);
        const definition = definitionOf(definitions, graph);
        const tools = definition?.registry.tools;
        const stubbed = { graph, answers: false, ...defined({ tools }) };
        const { results, diagnostics, readSource } = await readStubs(
          stubs === undefined ? undefined : { file: stubs, root: '.' },
          stubbed,
        );
        if (diagnostics.length > 0) {
          output.err(formatDiagnostics(diagnostics, readSource, { color: output.color }));
          return 1;
        }
        return stub(forked, stubsOf(results, definition), json, output);
      });
    return namesRegistry(values) ? withDefinitions('runs fork', values, output, fork) : fork();
  },
);

function rangeOf(from: number, to: number): string {
  return from === to ? `\`--at ${to}\`` : `an entry from ${from} to ${to}`;
}

function refusalText(name: string, at: number, refusal: ForkRefusal): string {
  switch (refusal.why) {
    case 'over':
      return `stepwright: run \`${name}\` is over at entry ${at}: give an earlier entry`;
    case 'undoing':
      return `stepwright: run \`${name}\` undoes its effects at entry ${at}: give an entry before that`;
    case 'range':
      return `stepwright: run \`${name}\` has no entry ${at}: give ${rangeOf(refusal.from, refusal.to)}`;
    case 'log':
      return `stepwright: the log of run \`${name}\` does not lead to entry ${at}, since it does not begin with the run: give ${rangeOf(refusal.from, refusal.to)}`;
    default:
      return refusal satisfies never;
  }
}

function stubsOf(results: Stubs['results'], definition: Definitions | undefined): Stubs {
  return definition === undefined
    ? { results }
    : { results, tools: definition.registry.tools, toolset: definition.toolset() };
}

function definitionOf(definitions: readonly Definitions[], { name }: Graph): Definitions | undefined {
  return definitions.find(({ workflows }) => workflows.has(name)) ?? definitions[0];
}

function inherits(effects: Fork['origin']['effects']): string {
  const lines = effects.map(
    ({ step_id, tool, outcome_unknown }) =>
      `  ${step_id}: ${tool}${outcome_unknown ? ', outcome unknown' : ''}`,
  );
  return `effects of the other run, which this one does not undo:\n${lines.join('\n')}`;
}

/** Runs the fork in this process. */
async function stub(fork: Fork, stubs: Stubs, json: boolean, output: Output): Promise<number> {
  const { view, calls } = await runStubbed(fork, stubs);
  if (json) {
    output.out(`${JSON.stringify({ ...view, stubbed_calls: calls }, null, 2)}\n`);
    return 0;
  }
  const { forked_from, ...shown } = view;
  output.out(runText(shown));
  if (forked_from !== undefined && forked_from.effects.length > 0)
    output.out(`${inherits(forked_from.effects)}\n`);
  output.out(
    `${
      calls.length === 0
        ? 'no call was stubbed'
        : `stubbed calls:\n${calls
            .map(
              ({ step_id, tool, input, stub = 'input refused' }) =>
                `  ${step_id}: ${tool} ${singleLine(JSON.stringify(input))} (${stub})`,
            )
            .join('\n')}`
    }\nthe run was stubbed, and is not kept\n`,
  );
  return 0;
}

/** Adds the fork to the store, after the user has agreed to the calls it repeats. */
async function keep(
  { store, head, fork }: { readonly store: StoreOperator; readonly head: StoredHead; readonly fork: Fork },
  { yes, json }: { readonly yes: boolean; readonly json: boolean },
  output: Output,
): Promise<number> {
  const { origin, repeated } = fork;
  if (!json || !yes) {
    output.err(
      `${
        repeated.length === 0
          ? 'The other run has made no call after this entry.'
          : `The other run has made these calls, which the new run may make again:\n${repeated
              .map(({ step_id, tool, retry_safety }) => `  ${step_id}: ${tool}, retry safety ${retry_safety}`)
              .join('\n')}`
      }\n`,
    );
    if (origin.effects.length > 0) output.err(`${inherits(origin.effects)}\n`);
  }
  if (!yes) {
    if (!process.stdin.isTTY)
      throw new Misuse(
        'stepwright: the new run was not kept: no user can be asked here, so add `--yes` if the calls above may be made',
      );
    const terminal = openTerminal(output);
    const reply = await terminal.ask('Keep the new run, and let a server make these calls? [y/N]');
    terminal.close();
    if (!isYes(reply)) {
      output.err(`stepwright: the new run was not kept\n`);
      return 1;
    }
  }
  await store.add(fork, head);
  const run = runRef(fork.run);
  output.out(
    json
      ? `${JSON.stringify({ run, forked_from: origin, repeated_calls: repeated })}\n`
      : `run \`${run}\` begins where run \`${origin.run}\` was at entry ${origin.entry}; a server that uses the store goes on with it\n`,
  );
  return 0;
}
