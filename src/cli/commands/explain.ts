import { readFile } from 'node:fs/promises';
import { packageFile } from '../../formats/own-files.js';
import { diagnosticTable } from '../../graph/diagnostics/diagnostic.js';
import { nearestName } from '../../graph/names.js';
import { type RunTimeCode, runTimeCodes, runTimeCodeText } from '../../graph/run-time-codes.js';
import { misused, type Output, parseOptions, texts } from '../command-line.js';

/** `stepwright explain CODE`: prints the page about a diagnostic, or what a run-time code means. */
export async function explainCommand(given: readonly string[], output: Output): Promise<number> {
  const parsed = parseOptions('stepwright explain', given, { help: { type: 'boolean' } }, 1);
  if (parsed.kind === 'fault') return misused(parsed.text, output);
  const { values, args } = parsed;
  if (values.help) {
    output.out(texts.explainHelp);
    return 0;
  }
  const [written] = args;
  if (written === undefined) return misused(texts.missingCode, output);
  // `sw3001` and `3001` name the same code.
  const code = written.toUpperCase().replace(/^(?=\d+$)/, 'SW');
  if (Object.hasOwn(runTimeCodes, code)) {
    output.out(`# ${code}\n\n${runTimeCodeText(code as RunTimeCode)}`);
    return 0;
  }
  if (!Object.hasOwn(diagnosticTable, code)) {
    const known = [...Object.keys(diagnosticTable), ...Object.keys(runTimeCodes)];
    return misused(texts.unknownCode(written, nearestName(code, known)), output);
  }
  output.out(await readFile(packageFile(`docs/diagnostics/${code}.md`), 'utf8'));
  return 0;
}
