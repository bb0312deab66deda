import { existsSync } from 'node:fs';
import path from 'node:path';
import type { CheckEnvironment } from '../../check/check-graph.js';
import { loadWorkflowFiles } from '../../formats/load-files.js';
import { defined } from '../../graph/defined.js';
import { type Diagnostic, hasErrors } from '../../graph/diagnostics/diagnostic.js';
import { formatDiagnostics, formatGithub, formatJson } from '../../graph/diagnostics/format.js';
import { counted } from '../../graph/printable-text.js';
import { Misuse, type Output, optionCommand, REGISTRY_HELP } from '../command-line.js';
import { environmentOf, REGISTRY_OPTIONS, withRegistries } from '../registries.js';

const OPTIONS = {
  ...REGISTRY_OPTIONS,
  strict: { type: 'boolean' },
  format: { type: 'string', oneOf: ['pretty', 'json', 'github'] },
} as const;

type Format = (typeof OPTIONS.format.oneOf)[number];

interface Validation {
  readonly files: readonly string[];
  readonly root: string;
  readonly isStrict: boolean;
  readonly format: Format;
}

/** `stepwright validate FILE…`: checks spec files, against the tools of a registry if there is one. */
export const validateCommand = optionCommand(
  'stepwright validate',
  `Usage: stepwright validate FILE… [options]

Checks workflows in files (.yaml, .yml, .json, .xml): \`stepwright validate flights.yaml\`. The files may run each
other's workflows. Calls are checked against the tools of the registries of the configuration, if there is one; else
each tool is a warning. Fails with any error.

Options:
  --strict         warnings are errors
  --format FORMAT  how diagnostics are printed: pretty, json (one object a line) or github (default: pretty)
${REGISTRY_HELP}`,
  OPTIONS,
  Number.POSITIVE_INFINITY,
  async ({ values, args }, output) => {
    const { root = '.', strict: isStrict = false, format = 'pretty' } = values;
    // `workflows/*.yaml workflows/a.yaml` names one file twice.
    const files = [...new Map(args.map((file) => [path.resolve(root, file), file])).values()];
    if (files.length === 0)
      throw new Misuse('stepwright: `stepwright validate` needs a file, such as `flights.yaml`');
    const validation = { files, root, isStrict, format };
    const hasRegistry =
      values.registry !== undefined ||
      values.config !== undefined ||
      existsSync(path.join(root, 'stepwright.config.json'));
    if (!hasRegistry) return validate(validation, undefined, output);
    return withRegistries('validate', values, output, ({ registries }) =>
      validate(validation, environmentOf(registries), output),
    );
  },
);

async function validate(
  { files, root, isStrict, format }: Validation,
  registered: CheckEnvironment | undefined,
  output: Output,
): Promise<number> {
  const options = { root, ...defined({ registered }) };
  const { diagnostics, workflows, readSource } = await loadWorkflowFiles(files, options);
  const reported = isStrict
    ? diagnostics.map((each): Diagnostic => ({ ...each, severity: 'error' }))
    : diagnostics;
  if (format === 'json') output.out(formatJson(reported));
  else if (format === 'github') output.out(formatGithub(reported));
  else if (reported.length > 0) output.err(formatDiagnostics(reported, readSource, { color: output.color }));
  if (hasErrors(reported)) return 1;
  const names = workflows.map(({ graph }) => graph.name).join(', ');
  if (format === 'pretty') output.out(`${counted(workflows.length, 'workflow')} without errors: ${names}\n`);
  return 0;
}
