import { describe, expect, test } from 'vitest';
import { parseWorkflows } from '../../formats/index.js';
import { emptyRegistry } from '../../runtime/index.js';
import { type ClientChoice, runAsClient } from './run.js';

const FILE = `name: release
version: "1.0.0"
inputs:
  version: { type: string, required: true }
steps:
  - id: sure
    type: prompt
    prompt_type: confirm
    message: "Release {{ inputs.version }}?"
    output_to: sure
  - id: size
    type: prompt
    prompt_type: choice
    message: How large is it?
    options: [small, large]
    output_to: size
  - id: tag
    type: shell
    command: "printf %s {{ inputs.version | shq }}"
    timeout: 20
    output_to: tag
  - id: notes
    type: delegate
    agent: "@writer"
    instructions: "Write notes for {{ inputs.version }}"
    output_to: notes
  - id: publish
    type: mcp_call
    tool: registry.publish
    parameters: { version: "{{ inputs.version }}" }
    output_to: receipt
  - id: check
    type: foreach
    items: "{{ ['a', 'b'] }}"
    agent: "@checker"
    task: check_part
    output_to: checks
  - id: done
    type: return
    needs_state: [sure, size, tag, notes, receipt, checks]
    value:
      - "{{ state.sure.confirmed }}"
      - "{{ state.size.selected }}"
      - "{{ state.tag.stdout }}"
      - "{{ state.notes.response }}"
      - "{{ state.receipt }}"
      - "{{ state.checks }}"
tasks:
  check_part:
    inputs:
      part: { type: string, required: true }
    steps:
      - id: see
        type: shell
        command: printf
        argv: ["%s", "{{ inputs.part }}"]
        env: { PART: "{{ inputs.part }}", LANG: C }
        output_to: seen
      - id: done
        type: return
        needs_state: [seen]
        value: "{{ state.seen.stdout.strip() }}"
`;

/** Runs the file; the person types these lines. */
async function typing(lines: readonly string[], choice: ClientChoice = {}, version = '1.2 $HOME') {
  const { workflows, diagnostics } = await parseWorkflows(FILE, { file: 'release.yaml', format: 'yaml' });
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  const [first] = workflows;
  if (first === undefined) throw new Error('the file has no workflow');
  const typed = [...lines];
  const shown: string[] = [];
  const outcome = await runAsClient({
    registry: emptyRegistry,
    options: { log: () => {} },
    workflow: 'release',
    workflows,
    graph: first.graph,
    args: { version },
    signal: new AbortController().signal,
    choice,
    terminal: {
      print: (text) => void shown.push(text),
      async ask(question) {
        shown.push(question);
        return typed.shift();
      },
      close: () => {},
    },
  });
  return { outcome, shown: shown.join('\n') };
}

const RESULT = [true, 'large', '1.2 $HOME', 'NOTES', { id: 7 }, ['a', 'b']];

describe('a run whose client is the terminal', () => {
  test('asks before it runs a command, and for all that it cannot do', async () => {
    const lines = ['y', 'large', 'y', 'NOTES', '{"id":7}', 'yes', 'y'];
    const { outcome, shown } = await typing(lines);
    expect(outcome).toEqual({ status: 'succeeded', result: RESULT });
    expect(shown).toContain(`Step 'tag' has a command:\n  printf %s '1.2 $HOME'\nRun it? [y/N]`);
    expect(shown).toContain(
      `Step 'notes' has a task for @writer:\n  Write notes for 1.2 $HOME\nThe response:`,
    );
    expect(shown).toContain(
      `Task for item "b"\nStep 'see' has a program to run without a shell, with the variables PART="b" LANG="C":\n` +
        `  "printf" "%s" "b"\nRun it? [y/N]`,
    );
  });

  test('runs commands without a question with --yes, and gives tasks to the command of --agent', async () => {
    const agent = `tr a-z A-Z | sed 's/WRITE \\(NOTES\\).*/\\1/'`;
    const { outcome, shown } = await typing(['y', 'large', '{"id":7}'], { yes: true, agent });
    expect(outcome).toEqual({ status: 'succeeded', result: RESULT });
    expect(shown).not.toContain('Run it?');
  });

  test('shows characters of a command that a terminal would hide', async () => {
    const { shown } = await typing(['y', 'large', 'no'], {}, '1\u001b[2K');
    expect(shown).toContain(`Step 'tag' has a command:\n  printf %s '1\\u001b[2K'\nRun it? [y/N]`);
  });

  test('shows why an answer does not fit, and asks again', async () => {
    const lines = ['y', 'huge', 'large', 'NOTES', '{"id":7}'];
    const { outcome, shown } = await typing(lines, { yes: true });
    expect(outcome).toEqual({ status: 'succeeded', result: RESULT });
    expect(shown).toContain('`/selected` must be one of "small", "large"');
  });

  test.each<[string, ClientChoice, readonly string[], object]>([
    [
      '--deny-shell',
      { 'deny-shell': true, yes: true },
      ['y', 'large'],
      { message: 'Commands are denied by --deny-shell' },
    ],
    [
      'a command that is not wanted',
      {},
      ['y', 'large', 'no'],
      { message: 'The user does not run the command' },
    ],
    ['the end of the input', {}, [], { code: 'E_NOBODY_TO_ASK' }],
    [
      'an agent that fails',
      { yes: true, agent: 'echo tired >&2; exit 3' },
      ['y', 'large'],
      { message: expect.stringContaining('The agent ended with exit code 3: tired') },
    ],
  ])('fails with %s', async (_what, choice, lines, failure) => {
    expect((await typing(lines, choice)).outcome).toMatchObject({ status: 'failed', failure });
  });
});
