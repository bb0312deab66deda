import { Console } from 'node:console';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type LocalOutcome, runLocally } from '../../runtime/server/local-run.js';
import { cassetteText, RecordingUpstream } from '../../runtime/upstream/cassette.js';
import { misused, type Output, texts } from '../command-line.js';
import { type OpenRegistries, REGISTRY_OPTIONS, registryCommand, withRegistries } from '../registries.js';

const OPTIONS = {
  ...REGISTRY_OPTIONS,
  arg: { type: 'string', isRepeatable: true },
  json: { type: 'boolean' },
  record: { type: 'string' },
} as const;

/** `stepwright run WORKFLOW`: runs a workflow in this process. */
export const runCommand = registryCommand('run', texts.runHelp, OPTIONS, 1, async (parsed, output) => {
  const { values, args } = parsed;
  const [name] = args;
  if (name === undefined) return misused(texts.missingWorkflow('stepwright run'), output);
  const read = readPairs(values.arg ?? []);
  if ('fault' in read) return misused(read.fault, output);
  return withRegistries('run', values, output, async (open) => {
    const found = find(open, name);
    if ('fault' in found) return misused(found.fault, output);
    // Stdout has the result alone.
    globalThis.console = new Console(process.stderr);
    const stop = new AbortController();
    process.once('SIGINT', () => stop.abort(new Error('interrupted')));
    const { upstream } = open.options;
    const { record } = values;
    if (record !== undefined && upstream === undefined) return misused(texts.nothingToRecord, output);
    const recording =
      record === undefined || upstream === undefined ? undefined : new RecordingUpstream(upstream);
    const outcome = await runLocally({
      registry: found.registry,
      options: recording === undefined ? open.options : { ...open.options, upstream: recording },
      workflow: name,
      given: read.given,
      signal: stop.signal,
      progress: (_done, _total, message) => {
        if (message !== undefined) output.err(`${message}\n`);
      },
    });
    if (record !== undefined && recording !== undefined) {
      const file = path.resolve(values.root ?? '.', record);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, cassetteText(recording.cassette));
      output.err(`${texts.written(record)}\n`);
    }
    return report(outcome, values.json ?? false, output);
  });
});

type Given = { readonly given: Readonly<Record<string, string>> } | { readonly fault: string };

function readPairs(pairs: readonly string[]): Given {
  const given = new Map<string, string>();
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, at);
    if (at < 1) return { fault: texts.unreadableArgument(pair) };
    if (given.has(name)) return { fault: texts.repeatedArgument(name) };
    given.set(name, pair.slice(at + 1));
  }
  return { given: Object.fromEntries(given) };
}

function find({ registries }: OpenRegistries, name: string) {
  const [first, ...others] = registries.filter(({ registry }) => Object.hasOwn(registry.workflows, name));
  if (first === undefined) {
    const known = registries.flatMap(({ registry }) => Object.keys(registry.workflows));
    return { fault: texts.unknownWorkflow(name, known) };
  }
  if (others.length === 0) return first;
  return {
    fault: texts.severalWorkflows(
      name,
      [first, ...others].map(({ file }) => file),
    ),
  };
}

function report(outcome: LocalOutcome, json: boolean, output: Output): number {
  if (outcome.status === 'refused') {
    return misused(outcome.problems.map(({ message }) => `stepwright: ${message}`).join('\n'), output);
  }
  if (json) output.out(`${JSON.stringify(outcome)}\n`);
  else if (outcome.status === 'left') output.err(`${outcome.handOff}\n`);
  else if (outcome.status !== 'succeeded')
    output.err(`${outcome.failure.code}: ${outcome.failure.message}\n`);
  else if (typeof outcome.result === 'string') output.out(`${outcome.result}\n`);
  else if (outcome.result !== undefined) output.out(`${JSON.stringify(outcome.result, null, 2)}\n`);
  return outcome.status === 'succeeded' ? 0 : 1;
}
