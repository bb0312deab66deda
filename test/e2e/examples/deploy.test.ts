import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { ROOT } from './example-client.js';

test('a prompt is resumed by calls after its server was killed', { timeout: 120_000 }, () => {
  const args = ['--conditions=@stepwright/source', '--import', './scripts/register.mjs', 'scripts/deploy.ts'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout.split('\n').filter((line) => /^ {2}(paused|the|status|deployments)/.test(line))).toEqual([
    '  paused: "APPROVAL_MISSING"',
    '  the watcher sees: "working"',
    '  the watcher sees: "working"',
    `  the client calls deploy_service {"approved_by":"Grace"} for step 'deployment'`,
    '  paused: "NOT_READY"',
    '  the watcher sees: "working"',
    `  the client calls verify_deployment {} for step 'verified'`,
    '  the watcher sees: "completed"',
    '  status: "completed"',
    '  deployments: 1',
  ]);
});
