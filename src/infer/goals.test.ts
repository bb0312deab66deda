import { expect, test } from 'vitest';
import { planFor } from './goal.js';
import { GOAL_LISTS, type GoalList } from './goals.fixture.js';

/** What a plan answers to each goal of a list, and which acting answers it did not ask for. */
function answersTo({ workflows, tools, goals }: GoalList) {
  const reading = new Set([...workflows, ...tools].flatMap(([name, , reads]) => (reads ? [name] : [])));
  const choices = workflows.map(([name, description, reads]) => ({
    name,
    description,
    inputs: [],
    readOnly: reads === 'reads',
  }));
  const listed = tools.map(([name, description, reads]) => ({
    name,
    description,
    inputSchema: { type: 'object' },
    readOnly: reads === 'reads',
  }));
  return goals.map(([goal, ...expected]) => {
    const plan = planFor(goal, listed, choices);
    const answers = [
      ...plan.workflows.map(({ workflow }) => workflow),
      ...plan.steps.map(({ tool }) => tool),
    ];
    const isEmpty = expected.length === 0 && answers.length === 0 && (plan.missing?.length ?? 0) > 0;
    const hasAll = expected.length > 0 && expected.every((each) => answers.includes(each));
    const isRight =
      isEmpty || (hasAll && expected.includes(answers[0] ?? '') && answers.length <= expected.length + 1);
    const harmful = answers.filter((each) => !reading.has(each) && !expected.includes(each));
    return { goal, expected, answers, missing: plan.missing, isRight, harmful };
  });
}

const all = Object.values(GOAL_LISTS).flatMap(answersTo);

test('of sixty goals over five lists at least fifty are answered right', () => {
  expect(all).toHaveLength(60);
  const wrong = all.filter(({ isRight }) => !isRight);
  expect(wrong.length, JSON.stringify(wrong, undefined, 1)).toBeLessThanOrEqual(10);
});

test('no goal is answered by an act that it did not ask for', () => {
  expect(all.filter(({ harmful }) => harmful.length > 0)).toEqual([]);
});
