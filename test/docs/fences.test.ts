import { expect, test } from 'vitest';
import { fencesOf } from './fences.js';

test('fences know their language, file and section', () => {
  const text = '# A\n```ts src/a.ts\nconst a = 1;\n# no heading\n```\n## B\ntext\n```\n\n```\n';
  expect(fencesOf(text)).toEqual([
    { language: 'ts', file: 'src/a.ts', body: 'const a = 1;\n# no heading\n', section: 'A' },
    { language: '', body: '\n', section: 'B' },
  ]);
});
