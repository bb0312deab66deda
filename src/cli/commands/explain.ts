import { readFile } from 'node:fs/promises';
import { diagnosticTable } from '../../graph/diagnostics/table.js';
import { type RunTimeCode, runTimeCodes, runTimeCodeText } from '../../graph/run-time-codes.js';
import { nearestName } from '../../graph/suggest.js';
import type { Output } from '../dispatch.js';
import { parseOptions } from '../options.js';
import { texts } from '../texts.js';

/** `stepwright explain CODE`: prints the page about a diagnostic, or what a run-time code means. */
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
  // `sw3001` and `3001` name the same code.
  const code = written.toUpperCase().replace(/^(?=\d+$)/, 'SW');
  if (Object.hasOwn(runTimeCodes, code)) {
    out(`# ${code}\n\n${runTimeCodeText(code as RunTimeCode)}`);
    return 0;
  }
  if (!Object.hasOwn(diagnosticTable, code)) {
    const known = [...Object.keys(diagnosticTable), ...Object.keys(runTimeCodes)];
    err(`${texts.unknownCode(written, nearestName(code, known))}\n`);
    return 2;
  }
  // The package holds the pages, from source as when it is built.
  out(await readFile(new URL(`../../../docs/diagnostics/${code}.md`, import.meta.url), 'utf8'));
  return 0;
}
