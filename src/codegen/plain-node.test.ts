import { expect, test } from 'vitest';
import { filesOfPlainNode } from './codegen.js';

test.each([
  ['node src/main.ts', ['src/main.ts']],
  ['node --watch --env-file .env src/main.mts --port 3000', ['src/main.mts']],
  ['NODE_ENV=production cross-env A=1 node "src/main.ts"', ['src/main.ts']],
  ['npm run codegen && node --experimental-strip-types src/a.ts; node b.cts', ['src/a.ts', 'b.cts']],
  ['/usr/bin/node a.ts', ['a.ts']],
  ['node --import tsx src/main.ts', []],
  ['node --import=tsx src/main.ts', []],
  ['node -r ts-node/register src/main.ts', []],
  ['node --loader ts-node/esm src/main.ts', []],
  ['node dist/main.js src/a.ts.js', []],
  ['tsx src/main.ts', []],
  ['ts-node src/main.ts', []],
  ['echo node src/main.ts', []],
  ['', []],
])('of `%s`, %j', (command, expected) => {
  expect(filesOfPlainNode(command)).toEqual(expected);
});
