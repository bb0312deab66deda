import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { scoreFolder, sumOf } from '../../scripts/call-samples.js';

const root = mkdtempSync(path.join(tmpdir(), 'stepwright-score-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const text = (description: string, required = true) => ({ type: 'string', description, required });

const SPEC = [
  {
    name: 'find_museum',
    description: 'Finds a museum of a town',
    query_parameters: { town: text('The town') },
    output_parameters: { museum_name: { type: 'string' }, town: { type: 'string' } },
  },
  {
    name: 'reserve_tour',
    description: 'Reserves a tour',
    arguments: { museum_name: text('The museum'), hour: text('The hour', false) },
    output_parameters: { tour_number: { type: 'string' } },
  },
  {
    name: 'print_badge',
    description: 'Prints a badge',
    parameters: { type: 'object', properties: { color: { type: 'string' } }, required: ['color'] },
    output_parameters: { badge: { type: 'string' } },
  },
];

const call = (name: string, label: string, given: Readonly<Record<string, string>>) => ({
  name,
  label,
  arguments: given,
});

const DATA = [
  {
    output: [
      call('find_museum', 'var1', { town: 'Delft' }),
      call('reserve_tour', 'var2', { museum_name: '$var1.museum_name$' }),
      { name: 'var_result', arguments: { tour: '$var2$' } },
    ],
  },
  {
    output: [
      call('reserve_tour', 'var1', { museum_name: 'Prinsenhof' }),
      call('print_badge', 'var2', { color: '$var1.tour_number$' }),
    ],
  },
];

function folderOf(name: string, spec: unknown, data: unknown): string {
  const folder = path.join(root, name);
  mkdirSync(folder);
  writeFileSync(path.join(folder, 'tours-spec.json'), JSON.stringify(spec));
  writeFileSync(path.join(folder, 'tours-data.json'), JSON.stringify(data));
  return folder;
}

test('counts recorded, inferred and correct edges', () => {
  const scores = scoreFolder(folderOf('plain', SPEC, DATA));
  expect([...scores]).toEqual([['tours', { samples: 2, recorded: 2, inferred: 1, correct: 1, cyclic: 0 }]]);
});

test('keeps the tools of a sample that gives two calls one label', () => {
  const sample = {
    output: [
      call('find_museum', 'var1', { town: 'Delft' }),
      call('print_badge', 'var1', { color: 'red' }),
      call('reserve_tour', 'var1', { museum_name: 'Prinsenhof' }),
    ],
  };
  const score = sumOf(scoreFolder(folderOf('labels', SPEC, [sample])).values());
  expect(score).toEqual({ samples: 1, recorded: 0, inferred: 1, correct: 0, cyclic: 0 });
});

test('refuses a folder without samples', () => {
  expect(() => scoreFolder(root)).toThrow('no file *-data.json in');
});
