import { existsSync } from 'node:fs';
import path from 'node:path';
import type { CheckEnvironment } from '../../check/check-graph.js';
import { loadWorkflowFiles } from '../../formats/spec-files.js';
import { defined } from '../../graph/defined.js';
import { type Diagnostic, hasErrors } from '../../graph/diagnostics/diagnostic.js';
import { formatDiagnostics, formatGithub, formatJson } from '../../graph/diagnostics/format.js';
import { misused, type Output, parseOptions, texts } from '../command-line.js';
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
export async function validateCommand(args: readonly string[], output: Output): Promise<number> {
  const parsed = parseOptions('stepwright validate', args, OPTIONS, Number.POSITIVE_INFINITY);
  if (parsed.kind === 'fault') return misused(parsed.text, output);
  const { values } = parsed;
  if (values.help) {
    output.out(texts.validateHelp);
    return 0;
  }
  const { root = '.', strict: isStrict = false, format = 'pretty' } = values;
  // `workflows/*.yaml workflows/a.yaml` names one file twice.
  const files = [...new Map(parsed.args.map((file) => [path.resolve(root, file), file])).values()];
  if (files.length === 0) return misused(texts.missingFile('stepwright validate'), output);
  const validation = { files, root, isStrict, format };
  const hasRegistry =
    values.registry !== undefined ||
    values.config !== undefined ||
    existsSync(path.join(root, 'stepwright.config.json'));
  if (!hasRegistry) return validate(validation, undefined, output);
  return withRegistries('validate', values, output, ({ registries }) =>
    validate(validation, environmentOf(registries), output),
  );
}

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
  if (format === 'pretty') output.out(`${texts.validated(workflows.map(({ graph }) => graph.name))}\n`);
  return 0;
}
