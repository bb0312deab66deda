import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testWorkflow } from 'stepwright/testing';
import { registry } from '../generated/registry.js';
import { TidyNotes } from './tidy-notes.workflow.js';

const args = { word: 'old' };

test('deletes what was found, once it is confirmed', async () => {
  const run = await testWorkflow(registry, TidyNotes, { args });
  assert.equal(run.waiting[0]?.message, 'Delete 1 notes?');
  await run.answer(true);
  assert.deepEqual(run.result, { deleted: 1 });
});

test('deletes no note without a yes', async () => {
  const tools = { 'find-notes': [{ notes: ['Old: one', 'Old: two'] }] };
  const run = await testWorkflow(registry, TidyNotes, { args, tools, answers: { sure: false } });
  assert.deepEqual(run.result, { deleted: 0 });
  assert.deepEqual(run.effects, []);
});
