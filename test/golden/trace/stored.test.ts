import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MemoryJournal } from 'stepwright/runtime';
import { expect, test } from 'vitest';
import { isNightly } from '../../nightly.js';
import { cases } from './cases.js';
import { page, traceOf } from './scenario.js';

const folder = dirname(fileURLToPath(import.meta.url));
const plain = Object.entries(cases).filter(([, { graph }]) => graph.task !== true);

// The golden files are those of runs without a store.
test.each(plain.filter((_, index) => isNightly || index % 4 === 0))(
  '%s has the same trace with a store',
  async (name, scenario) => {
    const journal = new MemoryJournal();
    let writes = 0;
    const append = journal.append.bind(journal);
    journal.append = (entry) => {
      writes += 1;
      return append(entry);
    };
    const shown = page(await traceOf({ ...scenario, journal }));
    expect(shown).toBe(readFileSync(join(folder, `${name}.txt`), 'utf8'));
    expect(writes).toBeGreaterThan(0);
  },
);
