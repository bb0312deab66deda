// `npm run house`: measures of the source. Nothing fails here; test/structure/house.test.ts keeps what is reached.
import { parseArgs } from 'node:util';
import { type Figure, measure } from './house/figures.js';
import { measureRequests } from './house/requests.js';

const USAGE = `npm run house                    every figure, with its target
npm run house -- --list FIGURE   what is behind a figure: its files, chain, names or pairs
npm run house -- --requests      the files that a warm request enters; also with --list
npm run house -- --names PATH    the participle names of the files below a path`;

const { values } = parseArgs({
  options: {
    list: { type: 'string' },
    names: { type: 'string' },
    requests: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});

if (values.help === true) console.log(USAGE);
else if (values.names !== undefined) listNames(values.names);
else {
  const figures = values.requests === true ? await measureRequests() : measure();
  if (values.list === undefined) printTable(figures);
  else list(figures, values.list);
}

function list(figures: readonly Figure[], id: string): void {
  const figure = figures.find((other) => other.id === id);
  if (figure === undefined)
    console.log(`'${id}' is not a figure: use ${figures.map((one) => one.id).join(', ')}`);
  else for (const row of figure.rows) console.log(row);
}

function listNames(path: string): void {
  const rows = measure().find(({ id }) => id === 'names')?.rows ?? [];
  for (const row of rows.filter((one) => one.startsWith(path))) console.log(row);
}

function printTable(figures: readonly Figure[]): void {
  const rows = figures.map(({ id, title, value, target }) => [
    id,
    title,
    value.toLocaleString('en'),
    target === undefined ? '' : `<= ${target.toLocaleString('en')}`,
    target === undefined || value > target ? '' : 'reached',
  ]);
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows) {
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  }
}
