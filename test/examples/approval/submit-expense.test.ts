import { testWorkflow } from 'stepwright/testing';
import { describe, expect, test } from 'vitest';
import { registry } from '../../../examples/approval/generated/approval.registry.js';
import { SubmitExpense } from '../../../examples/approval/submit-expense.workflow.js';

const args = { purpose: 'Train tickets', amount: 120 };

/** Books that are a list of what was written. */
const tools = {
  'reserve-budget': [{ reservation: 'E-1' }],
  'release-budget': [{ release: 'E-2' }],
  'pay-expense': [{ payment: 'E-3' }],
} as const;

describe('an expense', () => {
  test('is paid when a lead agrees', async () => {
    const run = await testWorkflow(registry, SubmitExpense, { args, tools });
    expect(run.status).toBe('waiting');
    expect(run.waiting).toMatchObject([{ kind: 'confirm', message: 'Pay 120 EUR for Train tickets?' }]);

    await run.answer(true);
    expect(run.result?.payment).toBe('E-3');
    expect(run.calls.map(({ tool, input }) => [tool, input])).toEqual([
      ['reserve-budget', args],
      ['pay-expense', { reservation: 'E-1' }],
    ]);
  });

  test('is not approved by the person who submitted it', async () => {
    const owner = { kind: 'principal', subject: 'ada', roles: ['lead'] } as const;
    const run = await testWorkflow(registry, SubmitExpense, { args, tools, owner });
    await expect(run.answer(true, { as: owner })).rejects.toMatchObject({ code: 'NOT_PERMITTED' });
    expect(run.status).toBe('waiting');
  });

  test('leaves no reservation when a lead declines', async () => {
    const run = await testWorkflow(registry, 'submit-expense', { args, tools });
    expect(run.effects).toMatchObject([{ tool: 'reserve-budget' }]);
    await run.answer(false);
    expect(run.failure?.message).toContain('A lead declined the expense');
    expect(run.effects).toEqual([]);
    expect(run.trace).toContain("calling tool 'release-budget'");
  });

  test('is paid once by a server that is killed while it pays', async () => {
    const crashAt = { tool: 'pay-expense', when: 'after' } as const;
    const run = await testWorkflow(registry, SubmitExpense, { args, tools, crashAt });
    await run.kill();
    await run.answer(true);
    expect(run.result).toEqual({ payment: 'E-3' });
    expect(run.calls.map(({ tool }) => tool)).toEqual(['reserve-budget', 'pay-expense', 'pay-expense']);
  });
});
