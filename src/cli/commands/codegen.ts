import { statSync } from 'node:fs';
import { runCodegen } from '../../codegen/codegen.js';
import { hasErrors } from '../../graph/diagnostics/diagnostic.js';
import { formatDiagnostics } from '../../graph/diagnostics/format.js';
import type { Output } from '../dispatch.js';
import { parseOptions } from '../options.js';
import { texts } from '../texts.js';

const OPTIONS = {
  check: { type: 'boolean' },
  root: { type: 'string' },
  config: { type: 'string' },
  help: { type: 'boolean' },
} as const;

/** `stepwright codegen`: reads the workflows, checks them, and writes the registries. */
export async function codegenCommand(args: readonly string[], { out, err, color }: Output): Promise<number> {
  const parsed = parseOptions('stepwright codegen', args, OPTIONS);
  if (parsed.kind === 'fault') {
    err(`${parsed.text}\n`);
    return 2;
  }
  const { check = false, root = '.', config, help } = parsed.values;
  if (help) {
    out(texts.codegenHelp);
    return 0;
  }
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory()) {
    err(`${texts.noFolder(root)}\n`);
    return 2;
  }
  const result = await runCodegen({ root, check, ...(config === undefined ? {} : { configFile: config }) });
  if (result.diagnostics.length > 0) err(formatDiagnostics(result.diagnostics, result.readSource, { color }));
  for (const file of result.written) out(`${texts.written(file)}\n`);
  for (const file of result.current) out(`${texts.current(file)}\n`);
  return hasErrors(result.diagnostics) ? 1 : 0;
}
