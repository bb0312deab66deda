import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { CheckEnvironment } from '../../check/check-graph.js';
import { loadWorkflowFiles } from '../../formats/load-files.js';
import { defined } from '../../graph/defined.js';
import type { Diagnostic, Edit } from '../../graph/diagnostics/diagnostic.js';
import { counted, escapeUnprintable, singleLine } from '../../graph/printable-text.js';
import { formatLocation } from '../../graph/source-location.js';
import {
  type DiagnosticFormat,
  FORMAT_OPTIONS,
  Misuse,
  type Output,
  optionCommand,
  printDiagnostics,
  REGISTRY_HELP,
} from '../command-line.js';
import {
  environmentOf,
  namesRegistry,
  REGISTRY_OPTIONS,
  type RegistryChoice,
  withRegistries,
} from '../registries.js';

const OPTIONS = {
  ...REGISTRY_OPTIONS,
  strict: { type: 'boolean' },
  fix: { type: 'boolean' },
  ...FORMAT_OPTIONS,
} as const;

interface Validation {
  readonly files: readonly string[];
  readonly root: string;
  readonly isStrict: boolean;
  /** Whether faults with a certain repair are repaired in the files. */
  readonly repairs: boolean;
  readonly format: DiagnosticFormat;
}

/** `stepwright validate FILE…`: checks spec files, against the tools of a registry if there is one. */
export const validateCommand = optionCommand(
  'stepwright validate',
  `Usage: stepwright validate [FILE…] [options]

Checks workflows in files (.yaml, .yml, .json, .xml): \`stepwright validate flights.yaml\`. The files may run each
other's workflows. Calls are checked against the tools of the registries of the configuration, if there is one; else
each tool is a warning. Without a file it checks all that a configuration without TypeScript names. Fails with any
error.

Options:
  --strict         warnings are errors
  --fix            makes the edits of diagnostics that have one, and prints what it changed; comments and
                   layout stay
  --format FORMAT  how diagnostics are printed: pretty, json (one object a line) or github (default: pretty)
  --json           the same as --format json
${REGISTRY_HELP}`,
  OPTIONS,
  Number.POSITIVE_INFINITY,
  async ({ values, args }, output) => {
    const { root = '.', strict: isStrict = false, fix: repairs = false, json = false } = values;
    const { format = json ? 'json' : 'pretty' } = values;
    // `workflows/*.yaml workflows/a.yaml` names one file twice.
    const named = [...new Map(args.map((file) => [path.resolve(root, file), file])).values()];
    const plan = named.length > 0 ? undefined : await dataPlan(values);
    const files = named.length > 0 ? named : (plan?.value?.registries[0]?.specs?.files ?? []);
    // Faults of the configuration are reported below.
    const isFaulty = plan !== undefined && plan.value === undefined;
    if (files.length === 0 && !isFaulty)
      throw new Misuse('stepwright: `stepwright validate` needs a file, such as `flights.yaml`');
    const validation = { files, root, isStrict, repairs, format };
    if (!namesRegistry(values)) return validate(validation, undefined, output);
    return withRegistries('validate', { ...values, specs: 'sound' }, output, ({ registries }) =>
      validate(validation, environmentOf(registries), output),
    );
  },
);

/** What a configuration without TypeScript names. */
async function dataPlan({ root = '.', config }: RegistryChoice) {
  const { planData } = await import('../../codegen/config.js');
  return planData({ root: path.resolve(root), ...defined({ configFile: config }) });
}

async function validate(
  { files, root, isStrict, repairs, format }: Validation,
  registered: CheckEnvironment | undefined,
  output: Output,
): Promise<number> {
  const options = { root, ...defined({ registered }) };
  if (repairs) {
    for (const each of await repairFiles(files, options)) output.err(`${lineOf(each)}\n`);
  }
  const { diagnostics, workflows, readSource } = await loadWorkflowFiles(files, options);
  const reported = isStrict
    ? diagnostics.map((each): Diagnostic => ({ ...each, severity: 'error' }))
    : diagnostics;
  if (await printDiagnostics({ diagnostics: reported, readSource }, format, output)) return 1;
  const names = workflows.map(({ graph }) => graph.name).join(', ');
  if (format === 'pretty') output.out(`${counted(workflows.length, 'workflow')} without errors: ${names}\n`);
  return 0;
}

/** A repair may show other faults, and some have to wait for others. */
const MAX_ROUNDS = 20;

/** Makes the edits of all diagnostics in the files, until there are no more. */
async function repairFiles(
  files: readonly string[],
  options: { readonly root: string; readonly registered?: CheckEnvironment },
): Promise<readonly Repairable[]> {
  const repairs: Repairable[] = [];
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const { diagnostics } = await loadWorkflowFiles(files, options);
    const byFile = new Map<string, Repairable[]>();
    for (const each of diagnostics.filter(isRepairable))
      byFile.set(each.place.file, [...(byFile.get(each.place.file) ?? []), each]);
    if (byFile.size === 0) break;
    for (const [file, ofFile] of byFile) {
      const location = path.resolve(options.root, file);
      const repaired = applyEdits(await readFile(location, 'utf8'), ofFile);
      await writeFile(location, repaired.text);
      repairs.push(...repaired.repairs);
    }
  }
  return repairs;
}

function lineOf({ code, message, place, edit }: Repairable): string {
  const written = edit.text === '' ? 'removed it' : `wrote \`${singleLine(edit.text.trim())}\``;
  return escapeUnprintable(`${formatLocation(place)} - fixed ${code}: ${singleLine(message)}: ${written}`);
}

export type Repairable = Diagnostic & Required<Pick<Diagnostic, 'edit' | 'place'>>;

function isRepairable(diagnostic: Diagnostic): diagnostic is Repairable {
  return diagnostic.edit !== undefined && diagnostic.place !== undefined;
}

/** A text after repairs. */
export interface Repaired {
  readonly text: string;
  /** The diagnostics with edits that were made, in the order of the text. */
  readonly repairs: readonly Repairable[];
}

/**
 * Makes the edits of diagnostics about one text. Of edits at one place the first is made: the others may not be needed then,
 * which the next check of the text shows.
 */
export function applyEdits(text: string, diagnostics: readonly Diagnostic[]): Repaired {
  const starts = lineStartsOf(text);
  const placed = diagnostics
    .filter(isRepairable)
    .map((diagnostic) => ({ diagnostic, ...rangeOf(diagnostic.edit, starts) }))
    .sort((one, other) => one.start - other.start || one.end - other.end);
  const repairs: Repairable[] = [];
  const parts: string[] = [];
  let at = -1;
  for (const { diagnostic, start, end } of placed) {
    if (start <= at) continue;
    parts.push(text.slice(Math.max(at, 0), start), diagnostic.edit.text);
    repairs.push(diagnostic);
    at = end;
  }
  return { text: `${parts.join('')}${text.slice(Math.max(at, 0))}`, repairs };
}

function rangeOf({ span: [line, column, endLine, endColumn] }: Edit, starts: readonly number[]) {
  const offset = (of: number, column: number): number => (starts[of - 1] ?? 0) + column - 1;
  return { start: offset(line, column), end: offset(endLine, endColumn) };
}

/** A byte order mark has no column. */
function lineStartsOf(text: string): number[] {
  const first = text.startsWith('\ufeff') ? 1 : 0;
  return [first, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
}
