import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { ROOT } from './example-client.js';

test('two plans survive a server that is killed at every second step', { timeout: 600_000 }, () => {
  const args = [
    '--conditions=@stepwright/source',
    '--import',
    './scripts/register.mjs',
    'scripts/planning.ts',
  ];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const lines = stdout.split('\n');
  const steps = (agent: string): string[] =>
    lines.flatMap((line) => {
      const [, name, step] = /^ {2}(.+?): (\S+)( \(the server is killed\))?$/.exec(line) ?? [];
      return name === agent && step !== undefined ? [step] : [];
    });
  const research = ['search-web', 'analyze-results', 'save-research'];
  expect(steps('@task')).toEqual(Array.from({ length: 7 }, () => research).flat());
  const plan = ['generate-initial-plan', 'review-plan', 'finalize-plan', 'approve-plan'];
  const begin = ['get-user-request', 'generate-research-tasks'];
  expect(steps('main agent')).toEqual([...begin, ...plan, 'save-plan', ...begin, ...plan]);
  expect(lines.filter((line) => /^ {2}the run:|^ {2}state\.status|^The agents|servers/.test(line))).toEqual([
    '  the run: completed',
    '  state.status: "Plan approved and saved"',
    '  the run: completed',
    '  state.status: "Plan rejected by user"',
    'The agents remember 5 topics and 1 plan.',
    '17 servers were killed for 34 results. Each step was done once.',
  ]);
});
