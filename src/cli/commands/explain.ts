import { readFile } from 'node:fs/promises';
import { diagnosticTable } from '../../graph/diagnostics/table.js';
import { nearestName } from '../../graph/suggest.js';
import type { Output } from '../dispatch.js';
import { parseOptions } from '../options.js';
import { texts } from '../texts.js';

/** `stepwright explain CODE`: prints the page about a diagnostic. */
export async function explainCommand(given: readonly string[], { out, err }: Output): Promise<number> {
  const parsed = parseOptions('stepwright explain', given, { help: { type: 'boolean' } }, 1);
  if (parsed.kind === 'fault') {
    err(`${parsed.text}\n`);
    return 2;
  }
  const { values, args } = parsed;
  if (values.help) {
    out(texts.explainHelp);
    return 0;
  }
  const [written] = args;
  if (written === undefined) {
    err(`${texts.missingCode}\n`);
    return 2;
  }
  // `sw3001` and `3001` are no other code.
  const code = written.toUpperCase().replace(/^(?=\d+$)/, 'SW');
  if (!Object.hasOwn(diagnosticTable, code)) {
    err(`${texts.unknownCode(written, nearestName(code, Object.keys(diagnosticTable)))}\n`);
    return 2;
  }
  // The package holds the pages, from source as when it is built.
  out(await readFile(new URL(`../../../docs/diagnostics/${code}.md`, import.meta.url), 'utf8'));
  return 0;
}
