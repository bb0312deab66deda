import { expect, test } from 'vitest';
import { instructionsFor } from './catalogue.js';

const tool = (name: string, hints?: object) => ({
  name,
  description: '',
  inputSchema: {},
  ...(hints === undefined ? {} : { _meta: { 'stepwright/hints': { ...hints } } }),
});
const workflow = tool('w_book');
const plain = tool('search');
const PARTS = {
  own: undefined,
  workflowTools: [],
  tools: [],
  hasSequences: false,
  prefix: 'w_',
  canPlan: false,
};
const hinted = tool('search', { category: 'search' });

test('workflows come first, then hinted sequences, then single tools', () => {
  expect(
    instructionsFor({ ...PARTS, workflowTools: [workflow, tool('submit_result')], tools: [hinted] }),
  ).toBe(
    [
      'For each request, take the first of these that fits:',
      '1. A tool that runs a whole workflow: its name begins with `w_`. Choose it by its description and give the parameters; the order of the steps, retries and undoing are done for you.',
      '2. Several tools, in the order of their descriptions: call all tools of "Requires" before, and one of "Next" after; tools of "Often after" are a habit, and no condition. Pass on the values that a later tool takes.',
      '3. A single tool.',
    ].join('\n'),
  );
});

test("the author's own instructions come before them", () => {
  expect(instructionsFor({ ...PARTS, own: 'Flights.', workflowTools: [workflow], prefix: '' })).toMatch(
    /^Flights\.\n\nFor each request/,
  );
});

test('a server without workflows and hints adds nothing', () => {
  expect(
    instructionsFor({ ...PARTS, workflowTools: [tool('submit_result')], tools: [plain] }),
  ).toBeUndefined();
  expect(instructionsFor({ ...PARTS, own: 'Own.', tools: [plain] })).toBe('Own.');
});

test('a server that plans says so', () => {
  expect(instructionsFor({ ...PARTS, tools: [plain], canPlan: true })).toMatch(
    /\n1\. A single tool\.\nIf you are not sure, `_plan` suggests one of these for a goal\.$/,
  );
});
