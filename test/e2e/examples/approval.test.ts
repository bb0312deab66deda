import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { ROOT } from './example-client.js';

test('an expense survives nine servers, and its submitter cannot approve it', { timeout: 120_000 }, () => {
  const args = [
    '--conditions=@stepwright/source',
    '--import',
    './scripts/register.mjs',
    'scripts/approval.ts',
  ];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout.split('\n').filter((line) => /^ {2}the |^ {2}her |servers/.test(line))).toEqual([
    '  the books: ["reserved 120"]',
    '  her answer: "refused"',
    '  the run: ["completed",{"payment":"E-2"}]',
    '  the books: ["reserved 120","paid 120"]',
    '  the run: "failed"',
    '  the books: ["reserved 120","paid 120","reserved 9000","released 9000"]',
    '9 servers were killed. Nothing was lost, and nothing was done twice.',
  ]);
});
