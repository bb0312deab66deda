import { readdirSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { TravelAgency } from '../../../examples/travel/agency.js';
import { TOOL_NAMES } from '../../../examples/travel/failures.js';
import { travelTools } from '../../../examples/travel/tools.js';
import { readMetadata } from '../../../src/decorators/metadata.js';

const agency = await TravelAgency.open();
afterAll(() => agency.close());
const factories = Object.entries(travelTools(agency));

test('every tool has a factory and a switch', () => {
  const files = readdirSync(new URL('../../../examples/travel/tools', import.meta.url));
  const names = files.map((file) => file.replace('.tool.ts', '').replaceAll('-', '_'));
  expect(factories.map(([name]) => name).sort()).toEqual(names.sort());
  expect([...TOOL_NAMES].sort()).toEqual(names);
});

test.each(factories)('%s makes the tool of that name', (name, make) => {
  expect(readMetadata(make().constructor as new () => object)).toMatchObject({
    kind: 'tool',
    options: { name },
  });
});
