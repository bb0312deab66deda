import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { ServerSettings } from 'stepwright/runtime';
import { describe, expect, test } from 'vitest';
import { type Answer, atDesk, callOf, failureIn, runIn, textIn } from './client.js';
import { all, ask, built, workflow } from './fixture/workflows.js';

/** What a test does before the call that is refused. */
type Made = { readonly client: Client; readonly call: (name: string, args?: object) => Promise<Answer> };

interface Case {
  readonly what: string;
  readonly code: string;
  /** The fact, and what to do. */
  readonly says: readonly string[];
  readonly settings?: ServerSettings;
  readonly refused: (made: Made) => Promise<Answer>;
}

const approval = workflow('approval', [
  ask('approved', { answerBy: [{ kind: 'role', role: 'lead', except: 'owner' }] }),
]);
const workflows = built([...all, approval]);

const NO_RUN = '0'.repeat(32);
const city = 'Rome';

/** Starts a run, and makes a call for it. */
const inRun =
  (workflowTool: string, args: object, tool: string, more: object) =>
  async ({ call }: Made): Promise<Answer> =>
    call(tool, { workflow_id: runIn(await call(workflowTool, args)), ...more });

const submit = (more: object) => inRun('w_careful', { city }, 'submit_result', more);

const cases: readonly Case[] = [
  // The tool of a workflow.
  {
    what: 'a missing argument',
    code: 'E_INPUT_INVALID',
    says: ['missing required `city`'],
    refused: ({ call }) => call('w_book'),
  },
  {
    what: 'an unknown argument',
    code: 'E_INPUT_INVALID',
    says: ['town'],
    refused: ({ call }) => call('w_book', { city, town: 'Rome' }),
  },
  {
    what: 'an argument of another type',
    code: 'E_INPUT_INVALID',
    says: ['/seats', 'integer'],
    refused: ({ call }) => call('w_book', { city, seats: 'two' }),
  },
  {
    what: 'more runs than may be open',
    code: 'RESOURCE_EXHAUSTED',
    says: ['1 runs are open', 'finish or cancel one first'],
    settings: { runs: { maxOpenRuns: 1 } },
    async refused({ call }) {
      await call('w_careful', { city });
      return call('w_careful', { city });
    },
  },
  {
    what: 'a question that no caller could answer',
    code: 'E_NO_ROLES',
    says: ["role 'lead'", 'localRoles'],
    refused: ({ call }) => call('w_approval'),
  },

  // submit_result
  {
    what: 'an answer without a run',
    code: 'E_INPUT_INVALID',
    says: ['missing required `workflow_id`'],
    refused: ({ call }) => call('submit_result', { result: true }),
  },
  {
    what: 'an answer to two runs',
    code: 'E_INPUT_INVALID',
    says: ['workflow_id', 'run_id'],
    refused: ({ call }) => call('submit_result', { workflow_id: NO_RUN, run_id: 'b', result: true }),
  },
  {
    what: 'an answer to no run',
    code: 'WORKFLOW_NOT_FOUND',
    says: ['not found', 'Check the id'],
    refused: ({ call }) => call('submit_result', { workflow_id: NO_RUN, result: true }),
  },
  {
    what: 'an answer to no action',
    code: 'UNKNOWN_ACTION',
    says: ["no action 'nope'", 'Open are:'],
    refused: submit({ action_id: 'nope', result: true }),
  },
  {
    what: 'an answer that does not fit',
    code: 'E_RESULT_SHAPE',
    says: ['Send true or false', 'still open'],
    refused: submit({ result: 'perhaps' }),
  },
  {
    what: 'an answer with a result and an error',
    code: 'E_RESULT_SHAPE',
    says: ['either `result` or `error`'],
    refused: submit({ result: true, error: { message: 'no' } }),
  },
  {
    what: 'an error without a message',
    code: 'E_RESULT_SHAPE',
    says: ['{ code?, message }'],
    refused: submit({ error: { code: 'E_NO' } }),
  },
  {
    what: 'an answer to one of two questions',
    code: 'AMBIGUOUS_ACTION',
    says: ['2 actions are open', 'say which one by action_id'],
    refused: inRun('w_twice', {}, 'submit_result', { result: true }),
  },
  {
    what: 'another answer to the same question',
    code: 'ALREADY_SUBMITTED',
    says: ['The first answer counts'],
    async refused({ call }) {
      const begun = await call('w_careful', { city });
      const [{ action_id } = {}] = (begun.structuredContent?.actions ?? []) as { action_id?: string }[];
      const answer = { workflow_id: runIn(begun), action_id };
      await call('submit_result', { ...answer, result: true });
      return call('submit_result', { ...answer, result: false });
    },
  },
  {
    what: 'an answer to a run that asks nothing',
    code: 'NO_OPEN_ACTION',
    says: ['Ask for its status later'],
    settings: { toolAnswerMs: 1 },
    refused: inRun('w_slow', {}, 'submit_result', { result: true }),
  },
  {
    what: 'an answer to a time',
    code: 'TOO_EARLY',
    says: ['ms are left', 'Ask for the status then'],
    async refused({ call }) {
      const begun = await call('w_nap');
      const [{ action_id } = {}] = (begun.structuredContent?.actions ?? []) as { action_id?: string }[];
      return call('submit_result', { workflow_id: runIn(begun), action_id, result: true });
    },
  },
  {
    what: 'an answer to a cancelled run',
    code: 'WORKFLOW_CANCELLED',
    says: ['takes no further answers'],
    async refused({ call }) {
      const workflow_id = runIn(await call('w_careful', { city }));
      await call('cancel_workflow', { workflow_id });
      return call('submit_result', { workflow_id, result: true });
    },
  },
  {
    what: 'an answer that fails the run',
    code: 'E_NO',
    says: ['not today'],
    refused: submit({ error: { code: 'E_NO', message: 'not today' } }),
  },

  // get_workflow_status
  {
    what: 'the status of no run',
    code: 'WORKFLOW_NOT_FOUND',
    says: ['not found', 'Check the id'],
    refused: ({ call }) => call('get_workflow_status', { workflow_id: NO_RUN }),
  },
  {
    what: 'a status by another name',
    code: 'E_INPUT_INVALID',
    says: ['did you mean `workflow_id`?'],
    refused: ({ call }) => call('get_workflow_status', { workflow: NO_RUN }),
  },
  {
    what: 'a part of no result',
    code: 'E_INPUT_INVALID',
    says: ['`result_from` is 0', 'leave it out'],
    refused: inRun('w_careful', { city }, 'get_workflow_status', { result_from: 0 }),
  },

  // cancel_workflow
  {
    what: 'a cancellation of no run',
    code: 'WORKFLOW_NOT_FOUND',
    says: ['not found', 'Check the id'],
    refused: ({ call }) => call('cancel_workflow', { workflow_id: NO_RUN }),
  },
  {
    what: 'a cancellation with a reason that is no text',
    code: 'E_INPUT_INVALID',
    says: ['/reason', 'string'],
    refused: ({ call }) => call('cancel_workflow', { workflow_id: NO_RUN, reason: 7 }),
  },

  // list_workflows
  {
    what: 'a list by no status',
    code: 'E_INPUT_INVALID',
    says: ['/status', 'waiting'],
    refused: ({ call }) => call('list_workflows', { status: 'open' }),
  },
  {
    what: 'a list of no items',
    code: 'E_INPUT_INVALID',
    says: ['/limit', '1'],
    refused: ({ call }) => call('list_workflows', { limit: 0 }),
  },
  {
    what: 'a list by a cursor of another server',
    code: 'E_INPUT_INVALID',
    says: ['`cursor` is not one that list_workflows returned'],
    refused: ({ call }) => call('list_workflows', { cursor: 'bm8' }),
  },
];

describe('a refusal is a result that a model can act on', () => {
  test.each(cases)('$what: $code', async ({ code, says, settings, refused }) => {
    const { client, desk } = await atDesk({ workflows, ...settings });
    const call = (name: string, args: object = {}) => callOf(client, name, { ...args });
    const answer = await refused({ client, call });
    desk.finish(null);
    expect(answer.isError).toBe(true);
    expect(failureIn(answer)).toMatchObject({ code, message: expect.any(String) });
    for (const part of says) expect(textIn(answer)).toContain(part);
    // The connection goes on.
    expect((await call('list_workflows')).isError).toBeUndefined();
  });
});
