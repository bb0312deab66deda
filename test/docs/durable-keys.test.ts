import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  COMMON,
  DOCUMENT,
  INPUT,
  type Keys,
  STEPS,
  TASK,
  VALIDATION,
} from '../../src/formats/dialects/durable/keys.js';
import { ROOT } from './fences.js';

const PAGE = `${ROOT}docs/reference/durable-yaml.md`;

const TABLES: Readonly<Record<string, Keys>> = {
  file: DOCUMENT,
  input: INPUT,
  validation: VALIDATION,
  task: TASK,
  step: COMMON,
  ...STEPS,
};

function tableOf(keys: Keys): string {
  const rows = Object.entries(keys).map(
    ([name, { description, isRequired }]) => `| \`${name}\` | ${isRequired ? 'yes' : ''} | ${description} |`,
  );
  return ['| key | required | meaning |', '|---|---|---|', ...rows].join('\n');
}

test('the reference has every key: `UPDATE_GOLDEN=1` writes them', () => {
  const text = readFileSync(PAGE, 'utf8');
  const names: string[] = [];
  const written = text.replace(
    /(<!-- keys: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, start: string, name: string, end: string) => {
      names.push(name);
      return `${start}\n${tableOf(TABLES[name] ?? {})}\n\n${end}`;
    },
  );
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(PAGE, written);
  expect(names).toEqual(Object.keys(TABLES));
  expect(readFileSync(PAGE, 'utf8')).toBe(written);
});
