import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../graph/json.js';
import { isReservedKey, workflowExtraKey } from '../../runs/actions/run-variables.js';
import {
  progressVariable,
  readProgress,
  TaskVariableError,
  WORKFLOW_PAUSE_REASON_KEY,
  WORKFLOW_PROGRESS_KEY,
  WORKFLOW_SCHEMA_VERSION,
  type WorkflowProgress,
  workflowResultKey,
} from './progress.js';

const deploy: WorkflowProgress = {
  goal: 'deploy: Deploys a service',
  steps: [
    { name: 'validate', tool: 'validate_config', status: 'completed' },
    { name: 'read', status: 'skipped' },
    { name: 'deploy', tool: 'deploy_service', status: 'failed' },
    { name: 'verify', tool: 'verify_deployment', status: 'pending' },
  ],
  schemaVersion: WORKFLOW_SCHEMA_VERSION,
};

const step = fc.record(
  {
    name: fc.string(),
    tool: fc.string(),
    status: fc.constantFrom('pending' as const, 'completed' as const, 'failed' as const, 'skipped' as const),
  },
  { requiredKeys: ['name', 'status'] },
);

const progress = fc.record({
  goal: fc.string(),
  steps: fc.array(step),
  schemaVersion: fc.nat(),
});

describe('the progress of a task', () => {
  test('has this form', () => {
    expect(`${JSON.stringify(progressVariable(deploy), null, 2)}\n`).toMatchInlineSnapshot(`
      "{
        "goal": "deploy: Deploys a service",
        "steps": [
          {
            "name": "validate",
            "tool": "validate_config",
            "status": "completed"
          },
          {
            "name": "read",
            "status": "skipped"
          },
          {
            "name": "deploy",
            "tool": "deploy_service",
            "status": "failed"
          },
          {
            "name": "verify",
            "tool": "verify_deployment",
            "status": "pending"
          }
        ],
        "schemaVersion": 1
      }
      "
    `);
  });

  test('is read back as it was written', () => {
    fc.assert(
      fc.property(progress, (each) => {
        const text = JSON.stringify(progressVariable(each));
        expect(readProgress(JSON.parse(text) as Json)).toEqual(each);
      }),
    );
  });

  test('keeps members that a reader does not know', () => {
    const names = fc.string().filter((name) => name !== '__proto__');
    const more = fc.dictionary(
      names.map((name) => `x${name}`),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(progress, more, more, (each, ofProgress, ofStep) => {
        const later = {
          ...each,
          steps: [...each.steps, { name: 's', status: 'pending' as const, ...ofStep }],
          ...ofProgress,
        };
        const written = JSON.parse(JSON.stringify(later)) as JsonObject;
        expect(progressVariable(readProgress(written))).toEqual(written);
      }),
    );
  });

  test.each<[Json, string]>([
    [null, 'is not an object'],
    [[], 'is not an object'],
    [{ steps: [], schemaVersion: 1 }, 'has no text `goal`'],
    [{ goal: 'g', steps: [] }, 'has no number `schemaVersion`'],
    [{ goal: 'g', schemaVersion: 1 }, 'has no list `steps`'],
    [
      { goal: 'g', schemaVersion: 1, steps: [{ name: 's', status: 'lost' }] },
      'a malformed step at `steps[0]`',
    ],
    [
      { goal: 'g', schemaVersion: 1, steps: [{ name: 's', tool: 1, status: 'failed' }] },
      'a malformed step at `steps[0]`',
    ],
  ])('that is malformed is refused by its name: %j', (variable, problem) => {
    const read = (): unknown => readProgress(variable);
    expect(read).toThrow(TaskVariableError);
    expect(read).toThrow(problem);
    expect(read).toThrow(WORKFLOW_PROGRESS_KEY);
  });
});

test('the keys of the server are reserved, and no other ones', () => {
  const reserved = [
    WORKFLOW_PROGRESS_KEY,
    WORKFLOW_PAUSE_REASON_KEY,
    workflowResultKey('deploy'),
    workflowExtraKey('notify'),
    '_workflow.',
  ];
  expect(reserved).toMatchInlineSnapshot(`
    [
      "_workflow.progress",
      "_workflow.pause_reason",
      "_workflow.result.deploy",
      "_workflow.extra.notify",
      "_workflow.",
    ]
  `);
  expect(reserved.every(isReservedKey)).toBe(true);
  expect(['workflow.progress', '_workflow', 'region'].some(isReservedKey)).toBe(false);
});
