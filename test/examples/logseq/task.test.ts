import { expect, test } from 'vitest';
import { projectsOf, tasksIn } from '../../../examples/logseq/task.js';

test('tasks are bullets that begin with a state, at any depth', () => {
  const journal = [
    '- TODO [[Website]] Fix login bug',
    '  id:: 1',
    '\t- DONE  See [[Blog]] and [[Website]] \r',
    '- Not TODO [[Website]]',
    '- TODOS',
    '- DOING',
    'TODO no bullet',
    '- CANCELED alone',
  ].join('\n');
  expect(tasksIn(journal, '2026-01-12')).toEqual([
    { state: 'TODO', text: '[[Website]] Fix login bug', project: 'Website', day: '2026-01-12' },
    { state: 'DONE', text: 'See [[Blog]] and [[Website]]', project: 'Blog', day: '2026-01-12' },
    { state: 'CANCELED', text: 'alone', day: '2026-01-12' },
  ]);
});

test('projects are named once, in the order of the first mention', () => {
  const tasks = tasksIn('- TODO [[b]] x\n- DONE [[a]] x\n- TODO x\n- DONE [[b]] y', '2026-01-12');
  expect(projectsOf(tasks)).toEqual(['b', 'a']);
});
