import { inspect } from 'node:util';
import type { CodegenOptions, CodegenResult } from '../../codegen/codegen.js';
import { readSourceIn } from '../../codegen/diagnostics.js';
import type { RunName } from '../../codegen/incremental/run-record.js';
import type { WatchedRun } from '../../codegen/watch.js';
import { defined } from '../../graph/defined.js';
import {
  COMMON_OPTIONS,
  changedFiles,
  type DiagnosticFormat,
  FORMAT_OPTIONS,
  folderAt,
  Misuse,
  type Output,
  optionCommand,
  type Parsed,
  printDiagnostics,
  texts,
} from '../command-line.js';
import { isWithoutCompilers, needTypeScript, readProject } from '../registries.js';

const OPTIONS = {
  root: { type: 'string' },
  config: { type: 'string' },
  ...FORMAT_OPTIONS,
  'no-cache': { type: 'boolean' },
} as const;

/** `stepwright codegen`: reads the workflows, checks them, and writes the registries. */
export const codegenCommand = optionCommand(
  'stepwright codegen',
  `Usage: stepwright codegen [options]

Reads the project's workflows, checks them, and writes its registries. With any error nothing is written.

Options:
  --check          write nothing; fail when a registry is stale or missing
  --watch          go on, and do it again whenever something changes that a registry depends on
${COMMON_OPTIONS}`,
  { ...OPTIONS, check: { type: 'boolean' }, watch: { type: 'boolean' } },
  0,
  async ({ values }, output) => {
    const { check = false, watch = false } = values;
    if (check && watch)
      throw new Misuse('stepwright: `stepwright codegen` takes `--check` or `--watch`, not both');
    return run({ ...values, check }, output);
  },
);

/** `stepwright check`: the same, but writes nothing. */
export const checkCommand = optionCommand(
  'stepwright check',
  `Usage: stepwright check [options]

Reads the project's workflows and checks them. Fails with any error, and when a registry is stale or missing.
No registry is written.

Options:
${COMMON_OPTIONS}`,
  OPTIONS,
  0,
  ({ values }, output) => run({ ...values, check: true }, output),
);

type RunOptions = Parsed<typeof OPTIONS>['values'] & { readonly check: boolean; readonly watch?: boolean };

async function run(options: RunOptions, output: Output): Promise<number> {
  const { root = '.', config, json = false, check, 'no-cache': noCache = false } = options;
  const { format = json ? 'json' : 'pretty' } = options;
  folderAt(root);
  const name = { root, ...defined({ configFile: config }) };
  if (options.watch) await needTypeScript('stepwright codegen --watch', name);
  if (options.watch) return watch({ ...name, cache: !noCache }, format, output);
  const result =
    (noCache ? undefined : await unchanged(name)) ??
    (await readProject(check ? 'check' : 'codegen', { ...name, check, cache: !noCache }, output));
  if (typeof result === 'number') return result;
  const isFaulty = result.diagnostics.length > 0 && (await printDiagnostics(result, format, output));
  printStacks(result, output);
  // With JSON on the standard output, notes go to the standard error.
  const note = format === 'json' ? output.err : output.out;
  for (const file of result.written) note(`${texts.written(file)}\n`);
  for (const file of result.current) note(`${texts.current(file)}\n`);
  return isFaulty ? 1 : 0;
}

/** Prints a line for each run, until a signal ends it. */
async function watch(options: CodegenOptions, format: DiagnosticFormat, output: Output): Promise<number> {
  if (isWithoutCompilers('codegen', output)) return 1;
  const { watchCodegen } = await import('../../codegen/watch.js');
  const note = format === 'json' ? output.err : output.out;
  let printed = Promise.resolve();
  const print = async ({ changes, result, error, milliseconds }: WatchedRun): Promise<void> => {
    if (result !== undefined) {
      if (result.diagnostics.length > 0) await printDiagnostics(result, format, output);
      printStacks(result, output);
    }
    note(
      `${`${changedFiles(changes)}: ${outcomeOf(result, error)} (${(milliseconds / 1000).toFixed(2)} s)`}\n`,
    );
  };
  return new Promise((resolve) => {
    const watcher = watchCodegen({
      ...options,
      onRun: (run) => {
        printed = printed.then(() => print(run));
      },
      onError: ({ message }) => output.err(`${`stepwright: cannot watch the files: ${message}`}\n`),
    });
    const stop = (): void => void watcher.close().then(() => printed.then(() => resolve(0)));
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  });
}

/** In a few words. */
function outcomeOf(result: CodegenResult | undefined, error: Error | undefined): string {
  if (result === undefined) return `stepwright failed: ${error?.message.split('\n', 1)[0] ?? ''}`;
  const errors = result.diagnostics.filter(({ severity }) => severity === 'error').length;
  if (errors > 0) return `${errors} ${errors === 1 ? 'error' : 'errors'}`;
  return [...result.written.map(texts.written), ...result.current.map(texts.current)].join(', ');
}

/** What a command prints of a run. */
type Outcome = Pick<CodegenResult, 'diagnostics' | 'written' | 'current' | 'internalErrors' | 'readSource'>;

/** What the run comes to, where nothing has changed since the last one. */
async function unchanged(name: RunName): Promise<Outcome | undefined> {
  const { recallRun } = await import('../../codegen/incremental/run-record.js');
  const run = recallRun(name);
  if (run === undefined) return undefined;
  return {
    ...{ diagnostics: run.diagnostics, written: [], current: run.files, internalErrors: [] },
    readSource: readSourceIn(name.root),
  };
}

/** Prints the stacks of internal errors if `STEPWRIGHT_DEBUG` is set. */
function printStacks({ internalErrors }: Outcome, { err }: Output): void {
  if (process.env.STEPWRIGHT_DEBUG) for (const error of internalErrors) err(`${inspect(error)}\n`);
}
