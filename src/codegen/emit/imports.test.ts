import { describe, expect, test } from 'vitest';
import type { ClassHandle } from '../declarations.js';
import { importExports } from './imports.js';

const handle = (file: string, className: string, exportName = className): ClassHandle => ({
  file,
  className,
  exportName,
  place: { file, span: [1, 1, 1, 1] },
});

describe('importExports', () => {
  test('sorts by specifier, one statement per file, relative to the folder of the registry', () => {
    const { statements } = importExports(
      [
        handle('src/z.ts', 'Z'),
        handle('src/a.mts', 'B'),
        handle('src/a.mts', 'A'),
        handle('gen/own.ts', 'Own'),
      ],
      'gen/registry.ts',
      [],
    );
    expect(statements).toEqual([
      "import { A, B } from '../src/a.mjs';",
      "import { Z } from '../src/z.js';",
      "import { Own } from './own.js';",
    ]);
  });

  test('gives an alias to the second class of one name, and to the names of the registry', () => {
    const [first, second, own] = [handle('a.ts', 'Add'), handle('b.ts', 'Add'), handle('c.ts', 'registry')];
    const imports = importExports([second, own, first], 'registry.ts', ['registry']);
    expect(imports.statements).toEqual([
      "import { Add } from './a.js';",
      "import { Add as Add2 } from './b.js';",
      "import { registry as registry2 } from './c.js';",
    ]);
    expect([first, second, own].map(imports.nameOf)).toEqual(['Add', 'Add2', 'registry2']);
  });

  test('never takes an alias that is a name of its own', () => {
    const imports = importExports(
      [handle('a.ts', 'Add'), handle('b.ts', 'Add2'), handle('c.ts', 'Add')],
      'r.ts',
      [],
    );
    const names = imports.statements.map((line) => /(\w+) \}/.exec(line)?.[1]);
    expect(new Set(names).size).toBe(3);
  });

  test('imports default exports and exports under another name', () => {
    const { statements } = importExports(
      [
        handle('a.tsx', 'Page', 'default'),
        handle('b.ts', '', 'default'),
        handle('c.ts', 'Kept', 'kept name'),
      ],
      'registry.ts',
      [],
    );
    expect(statements).toEqual([
      "import { default as Page } from './a.js';",
      "import { default as Anonymous } from './b.js';",
      "import { 'kept name' as Kept } from './c.js';",
    ]);
  });

  test('imports a class once that was given twice', () => {
    const add = handle('a.ts', 'Add');
    expect(importExports([add, { ...add }], 'r.ts', []).statements).toHaveLength(1);
  });
});
