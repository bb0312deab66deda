import { statSync } from 'node:fs';
import { inspect } from 'node:util';
import type { CodegenOptions, CodegenResult } from '../../codegen/codegen.js';
import { readSourceIn } from '../../codegen/read-source.js';
import type { RunName } from '../../codegen/run-record.js';
import { misused, type Output, parseOptions, texts } from '../command-line.js';

const OPTIONS = {
  root: { type: 'string' },
  config: { type: 'string' },
  format: { type: 'string', oneOf: ['pretty', 'json', 'github'] },
  'no-cache': { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

type Format = (typeof OPTIONS.format.oneOf)[number];

/** `stepwright codegen`: reads the workflows, checks them, and writes the registries. */
export async function codegenCommand(args: readonly string[], output: Output): Promise<number> {
  const parsed = parseOptions('stepwright codegen', args, { ...OPTIONS, check: { type: 'boolean' } });
  if (parsed.kind === 'fault') return misused(parsed.text, output);
  const { check = false, ...options } = parsed.values;
  return run({ ...options, check, helpText: texts.codegenHelp }, output);
}

/** `stepwright check`: the same, but writes nothing. */
export async function checkCommand(args: readonly string[], output: Output): Promise<number> {
  const parsed = parseOptions('stepwright check', args, OPTIONS);
  if (parsed.kind === 'fault') return misused(parsed.text, output);
  return run({ ...parsed.values, check: true, helpText: texts.checkHelp }, output);
}

interface RunOptions {
  readonly root?: string;
  readonly config?: string;
  readonly format?: Format;
  readonly 'no-cache'?: boolean;
  readonly help?: boolean;
  readonly check: boolean;
  readonly helpText: string;
}

async function run(options: RunOptions, output: Output): Promise<number> {
  const { root = '.', config, format = 'pretty', check, 'no-cache': noCache = false } = options;
  if (options.help) {
    output.out(options.helpText);
    return 0;
  }
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory()) return misused(texts.noFolder(root), output);
  const name = { root, ...(config === undefined ? {} : { configFile: config }) };
  const result =
    (noCache ? undefined : await unchanged(name)) ?? (await compiled({ ...name, check, cache: !noCache }));
  const isFaulty = result.diagnostics.length > 0 && (await printDiagnostics(result, format, output));
  printStacks(result, output);
  // With JSON on the standard output, notes go to the standard error.
  const note = format === 'json' ? output.err : output.out;
  for (const file of result.written) note(`${texts.written(file)}\n`);
  for (const file of result.current) note(`${texts.current(file)}\n`);
  return isFaulty ? 1 : 0;
}

/** What a command prints of a run. */
type Outcome = Pick<CodegenResult, 'diagnostics' | 'written' | 'current' | 'internalErrors' | 'readSource'>;

/** Loads the compilers here: neither `--help` nor a run that changes nothing needs them. */
async function compiled(options: CodegenOptions): Promise<Outcome> {
  const { runCodegen } = await import('../../codegen/codegen.js');
  return runCodegen(options);
}

/** What the run comes to, where nothing has changed since the last one. */
async function unchanged(name: RunName): Promise<Outcome | undefined> {
  const { recallRun } = await import('../../codegen/run-record.js');
  const run = recallRun(name);
  if (run === undefined) return undefined;
  return {
    ...{ diagnostics: run.diagnostics, written: [], current: run.files, internalErrors: [] },
    readSource: readSourceIn(name.root),
  };
}

/** Returns whether one of them is an error. What it needs is loaded here, since most runs have none. */
async function printDiagnostics(
  { diagnostics, readSource }: Outcome,
  format: Format,
  output: Output,
): Promise<boolean> {
  const { formatDiagnostics, formatGithub, formatJson } = await import('../../graph/diagnostics/format.js');
  switch (format) {
    case 'pretty':
      output.err(formatDiagnostics(diagnostics, readSource, { color: output.color }));
      break;
    case 'json':
      output.out(formatJson(diagnostics));
      break;
    case 'github':
      output.out(formatGithub(diagnostics));
      break;
    default:
      format satisfies never;
  }
  const { hasErrors } = await import('../../graph/diagnostics/diagnostic.js');
  return hasErrors(diagnostics);
}

/** Prints the stacks of internal errors if `STEPWRIGHT_DEBUG` is set. */
function printStacks({ internalErrors }: Outcome, { err }: Output): void {
  if (process.env.STEPWRIGHT_DEBUG) for (const error of internalErrors) err(`${inspect(error)}\n`);
}
