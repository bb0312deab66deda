import { readFile } from 'node:fs/promises';
import { packageFile } from '../../formats/own-files.js';
import { diagnosticTable } from '../../graph/diagnostics/diagnostic.js';
import { nearestName } from '../../graph/names.js';
import { Misuse, optionCommand, suggestionOrNames } from '../command-line.js';

/** `stepwright explain CODE`: prints the page about a diagnostic, or what a run-time code means. */
export const explainCommand = optionCommand(
  'stepwright explain',
  `Usage: stepwright explain CODE

Shows what a diagnostic means, an example, and its repair: \`stepwright explain SW3001\`.
Of a code that a run gives it shows the meaning, the cause and the repair: \`stepwright explain E_TIMEOUT\`.

Options:
  --help           show this
`,
  {},
  1,
  async ({ args }, output) => {
    const [name] = args;
    if (name === undefined)
      throw new Misuse('stepwright: `stepwright explain` needs a code, such as `SW3001` or `E_TIMEOUT`');
    // `sw3001` and `3001` name the same code.
    const code = name.toUpperCase().replace(/^(?=\d+$)/, 'SW');
    const sections = sectionsOf(await readFile(packageFile('docs/run-time-codes.md'), 'utf8'));
    const section = sections.get(code);
    if (section !== undefined) {
      output.out(`# ${code}\n\n${section}`);
      return 0;
    }
    if (!Object.hasOwn(diagnosticTable, code)) {
      const codes = [...Object.keys(diagnosticTable), ...sections.keys()];
      throw new Misuse(
        `stepwright: there is no code \`${name}\`${suggestionOrNames(nearestName(code, codes))}; \`docs/diagnostics/README.md\` and \`docs/run-time-codes.md\` of the package list all`,
      );
    }
    output.out(await readFile(packageFile(`docs/diagnostics/${code}.md`), 'utf8'));
    return 0;
  },
);

/** The text about each run-time code, by the headings of the page. */
function sectionsOf(page: string): ReadonlyMap<string, string> {
  const parts = page.split(/^##+ /m).map((part) => /^([A-Z_]+)\s+(.*?)\s*$/s.exec(part) ?? []);
  return new Map(parts.flatMap(([, code, text]) => (code === undefined ? [] : [[code, `${text}\n`]])));
}
