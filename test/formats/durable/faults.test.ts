import { describe, expect, test } from 'vitest';
import { parseWorkflows } from '../../../src/formats/index.js';
import { said } from '../spec-file.fixture.js';

const head = `name: w
version: "1.0.0"
inputs: { path: { type: string, required: true }, tags: { type: array, default: [] } }
initial_state: { user: Ann, count: 0 }
`;

/** A workflow with these steps, each line of which starts in the third column of line 6. */
const doc = (steps: string, more = ''): string =>
  `${head}${more}steps:\n${steps
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n')}\n`;

describe('every fault of a file is reported at its place, with its repair', () => {
  test.each([
    {
      what: 'state that is not declared',
      text: doc(
        '- id: a\n  type: prompt\n  message: Hi {{ state.user }} {{ state.count }}\n  prompt_type: info',
      ),
      faults: [
        'f:8:20 SW4033 step `a` reads the state\'s field `user`, which it does not declare (write `needs_state: ["user", "count"]`)',
        'f:8:37 SW4033 step `a` reads the state\'s field `count`, which it does not declare (write `needs_state: ["user", "count"]`)',
      ],
    },
    {
      what: 'a list of needs_state in lines',
      text: doc(
        '- id: a\n  type: prompt\n  needs_state:\n    - user\n  message: Hi {{ state.user }} {{ state.count }}\n  prompt_type: info',
      ),
      faults: [
        'f:10:37 SW4033 step `a` reads the state\'s field `count`, which it does not declare (write `needs_state: ["user", "count"]`)',
      ],
    },
    {
      what: 'an unknown secret field, and one that is no name',
      text: doc('- { id: a, type: return, value: 1 }', 'secret_state: [count, usr, 3]\n'),
      faults: [
        'f:5:23 SW4031 the state of workflow `w` has no field `usr` (did you mean `user`?)',
        'f:5:28 SW5006 `secret_state` of the file must be a list of names, not something else',
      ],
    },
    {
      what: 'the whole state without a field that is declared',
      text: doc('- id: a\n  type: prompt\n  message: Hi {{ state }}\n  prompt_type: info'),
      faults: [
        'f:8:20 SW5014 this is not a template: `state` has no field that may be read here (name the fields in `needs_state` of the step)',
      ],
    },
    {
      what: 'conditions that are never true or false, and bounds that no value keeps',
      text: doc(
        '- { id: a, type: condition, if: "{{ 5 }}", then: [{ id: b, type: condition, if: "{{ [] }}", then: [{ id: c, type: return, value: 1 }] }] }',
      ).replace('required: true', 'required: true, validation: { min_length: 5, max_length: 4 }'),
      faults: [
        'f:3:90 SW5006 `max_length` of `validation` of input `path` must be at least `min_length`, 5, not 4',
        'f:6:35 SW5014 this is not a condition: its value is never true or false (write a comparison in `{{ … }}`)',
        'f:6:83 SW5014 this is not a condition: its value is never true or false (write a comparison in `{{ … }}`)',
      ],
    },
    {
      what: 'items that are no list',
      text: doc(
        '- { id: a, type: foreach, items: "{{ 5 }}", task: t, output_to: count }',
        'tasks: { t: { steps: [{ id: b, type: return, value: 1 }] } }\n',
      ),
      faults: ['f:7:40 SW4029 step `a` goes through a list, and is given an integer'],
    },
    {
      what: 'a step in braces',
      text: doc('- { id: a, type: prompt, message: "{{ state.user }}", prompt_type: info }'),
      faults: [
        'f:6:41 SW4033 step `a` reads the state\'s field `user`, which it does not declare (write `needs_state: ["user"]`)',
      ],
    },
    {
      what: 'an unknown field',
      text: doc(
        '- id: a\n  type: prompt\n  needs_state: [usr]\n  message: Hi {{ state.usr }}\n  prompt_type: info',
      ),
      faults: [
        'f:8:19 SW4031 the state of workflow `w` has no field `usr` (did you mean `user`?)',
        'f:9:20 SW4031 the state of workflow `w` has no field `usr` (did you mean `user`?)',
      ],
    },
    {
      what: 'a misspelt field',
      text: doc(
        '- id: a\n  type: prompt\n  needs_state: [user]\n  message: Hi {{ state.usre.name }}\n  prompt_type: info',
      ),
      faults: [
        'f:8:19 SW5040 step `a` declares the state field `user`, and does not read it (remove `user` from its `needs_state`)',
        'f:9:20 SW4031 the state of workflow `w` has no field `usre` (did you mean `user`?)',
      ],
    },
    {
      what: 'a misspelt key',
      text: doc('- id: a\n  type: prompt\n  mesage: Hi\n  prompt_type: info'),
      faults: [
        'f:6:5 SW5007 step `a` needs `message`',
        'f:8:5 SW5005 step `a` has no `mesage` (did you mean `message`?)',
      ],
    },
    {
      what: 'a misspelt type',
      text: doc('- id: a\n  type: promt\n  message: Hi\n  prompt_type: info'),
      faults: ['f:7:11 SW5021 `type` of step `a` cannot be `promt` (did you mean `prompt`?)'],
    },
    {
      what: 'no type',
      text: doc('- id: a\n  message: Hi'),
      faults: ['f:6:5 SW5007 step `a` needs `type`'],
    },
    {
      what: 'a misspelt type of prompt',
      text: doc('- id: a\n  type: prompt\n  message: Hi\n  prompt_type: confrim'),
      faults: ['f:9:18 SW5021 `prompt_type` of step `a` cannot be `confrim` (did you mean `confirm`?)'],
    },
    {
      what: 'templates',
      text: doc(
        '- id: a\n  type: prompt\n  message: "Hi {{ inputs.pth }}"\n  prompt_type: info\n- id: b\n  type: prompt\n  message: |\n    Hello\n    {{ inputs.path | uper }}\n  prompt_type: info\n- id: c\n  type: prompt\n  message: \'it\'\'s {{ 1 + }}\'\n  prompt_type: info\n- id: d\n  type: prompt\n  message: "q \\"{{ path }}\\""\n  prompt_type: info',
      ),
      faults: [
        'f:8:28 SW5014 this is not a template: there is no input `pth` (did you mean `path`?)',
        'f:14:24 SW5014 this is not a template: there is no filter `uper` (did you mean `upper`?)',
        'f:18:28 SW5014 this is not a template: an expression is expected, not the end of the tag',
        'f:22:22 SW5014 this is not a template: `path` is not known here (write `inputs.path`)',
      ],
    },
    {
      what: 'templates where names are literal',
      text: doc(
        '- id: a\n  type: mcp_call\n  tool: "{{ inputs.path }}"\n- id: b\n  type: delegate\n  instructions: x\n  agent: "{{ inputs.path }}"',
      ),
      faults: [
        'f:8:11 SW5015 `tool` takes no reference such as `{{ inputs.path }}` (what a workflow calls and the order of its nodes are fixed: write the name)',
        'f:12:12 SW5015 `agent` takes no reference such as `{{ inputs.path }}` (what a workflow calls and the order of its nodes are fixed: write the name)',
      ],
    },
    {
      what: 'a name of an agent',
      text: doc('- id: b\n  type: delegate\n  instructions: x\n  agent: Code_Reviewer'),
      faults: [
        "f:9:12 SW5010 'Code_Reviewer' is not a valid name of an agent: use `@`, then lower-case letters, digits and `-` (write `@code-reviewer`)",
      ],
    },
    {
      what: 'two steps of one id',
      text: doc(
        '- id: a\n  type: prompt\n  message: Hi\n  prompt_type: info\n- id: a\n  type: prompt\n  message: Hi\n  prompt_type: info',
      ),
      faults: ['f:10:9 SW4009 two steps have the id `a` (give one of them another id)'],
    },
    {
      what: 'two types',
      text: doc(
        '- id: a\n  type: confirm\n  message: Hi\n  type: prompt\n- id: b\n  type: prompt\n  type: prompt\n  message: x',
      ),
      faults: [
        'f:7:5 SW5036 `type` is written twice: this one is read as `prompt_type` (write `prompt_type`)',
        'f:12:5 SW5004 `type` is written twice (remove one of them, or give it another name)',
      ],
    },
    {
      what: 'jumps out of scope',
      text: doc(
        '- id: a\n  type: prompt\n  message: Hi\n  prompt_type: info\n- id: b\n  type: condition\n  if: "{{ true }}"\n  then:\n    - { id: c, type: goto, target: d }\n    - { id: d2, type: goto, target: a, max_iterations: 200 }\n- id: x\n  type: condition\n  if: "{{ true }}"\n  then:\n    - { id: d, type: goto, target: a }\n    - { id: e, type: goto, target: aa, max_iterations: 2 }',
      ),
      faults: [
        'f:14:38 SW4017 `target` of step `c` names `d`, which is in another list of steps (name a step of the same list, or of a list around it)',
        'f:15:58 SW5006 `max_iterations` of step `d2` must be a whole number from 1 to 100, not 200',
        'f:20:11 SW5007 step `d` needs `max_iterations`',
        'f:21:15 SW4013 step `e` is never reached: `d` always ends this list of steps (give `d` a condition, or remove `e`)',
        'f:21:38 SW4017 `target` of step `e` names `aa`, which is not a step of this workflow (did you mean `a`?)',
      ],
    },
    {
      what: 'steps behind a return',
      text: doc(
        '- id: a\n  type: return\n  value: 1\n- id: b\n  type: prompt\n  message: Hi\n  prompt_type: info',
      ),
      faults: [
        'f:9:9 SW4013 step `b` is never reached: `a` always ends the run (give `a` a `when`, or remove the step)',
      ],
    },
    {
      what: 'steps behind a jump',
      text: doc(
        '- id: a\n  type: prompt\n  message: Hi\n  prompt_type: info\n- id: g\n  type: goto\n  target: a\n  max_iterations: 3\n- id: b\n  type: prompt\n  message: Hi\n  prompt_type: info',
      ),
      faults: [
        'f:14:9 SW4013 step `b` is never reached: `g` always ends this list of steps (give `g` a condition, or remove `b`)',
      ],
    },
    {
      what: 'conditions without braces',
      text: doc(
        '- id: a\n  type: condition\n  if: inputs.path == "x"\n  then:\n    - { id: b, type: return, value: 1 }\n- id: c\n  type: prompt\n  when: yes please\n  message: Hi\n  prompt_type: info',
      ),
      faults: [
        'f:8:9 SW5014 this is not a condition: it has no `{{ … }}`, and is text (write `{{ inputs.path == "x" }}`)',
        'f:13:11 SW5014 this is not a condition: it has no `{{ … }}`, and is text (write a comparison in `{{ … }}`)',
      ],
    },
    {
      what: 'keys of other prompts',
      text: doc(
        '- id: a\n  type: prompt\n  message: Hi\n  prompt_type: choice\n- id: b\n  type: prompt\n  message: Hi\n  prompt_type: text\n  options: [a]\n- id: c\n  type: prompt\n  message: Hi\n  prompt_type: info\n  validation: { pattern: a }',
      ),
      faults: [
        'f:6:5 SW5007 step `a` needs `options`',
        'f:14:5 SW5018 a prompt of type `text` takes no `options` (remove it: only a prompt with `prompt_type: choice` has it)',
        'f:19:5 SW5018 a prompt of type `info` takes no `validation` (remove it: only a prompt with `prompt_type: text` has it)',
      ],
    },
    {
      what: 'values in a command',
      text: doc(
        '- id: a\n  type: shell\n  command: cat "{{ inputs.path }}" \'x {{ inputs.path }}\' {{ inputs.path }} {{ inputs.path | shq }} "{{ inputs.path | shq }}"\n  fail_on_error: true',
      ),
      faults: [
        'f:8:19 SW5033 `{{ inputs.path }}` becomes a part of a command in `command` as it is (quotes do not protect it: write `{{ inputs.path | shq }}` without quotes)',
        'f:8:41 SW5033 `{{ inputs.path }}` becomes a part of a command in `command` as it is (quotes do not protect it: write `{{ inputs.path | shq }}` without quotes)',
        'f:8:60 SW5033 `{{ inputs.path }}` becomes a part of a command in `command` as it is (write `{{ inputs.path | shq }}`, or `| raw_shell` for several words on purpose; `argv` needs no quotes)',
        'f:8:103 SW5011 node `a` has `{{ inputs.path | shq }}` inside double quotes, which become a part of the value (write `{{ inputs.path | shq }}` without quotes)',
      ],
    },
    {
      what: 'an unknown task',
      text: doc(
        '- id: a\n  type: foreach\n  items: "{{ inputs.tags }}"\n  task: oen\n  output_to: r',
        'tasks:\n  one:\n    steps: [{ id: x, type: return, value: 1 }]\n',
      ),
      faults: [
        'f:12:11 SW5016 `task` of node `a` names `oen`, which is not one of the `tasks` of the file (did you mean `one`?)',
      ],
    },
    {
      what: 'inputs of a task',
      text: doc(
        '- id: a\n  type: foreach\n  items: "{{ inputs.tags }}"\n  task: one\n  inputs: { c: 1 }\n  output_to: r',
        'tasks:\n  one:\n    inputs: { a: { type: string, required: true }, b: { type: string } }\n    steps: [{ id: x, type: return, value: "{{ inputs.a }} {{ inputs.b }}" }]\n',
      ),
      faults: [
        'f:14:5 SW4003 step `a` gives workflow `one` no `a` (add it to `inputs` of the step, or give it a default in the task)',
        'f:14:15 SW4004 workflow `one` of step `a` takes no `c`',
      ],
    },
    {
      what: 'a version that is a number',
      text: 'name: w\nversion: 1.0\nsteps:\n  - { id: a, type: return, value: 1 }\n',
      faults: [
        'f:2:10 SW5009 `version` must be text: 1.0 without quotes is a number (write `version: "1.0.0"`)',
      ],
    },
    {
      what: 'a version of two numbers',
      text: 'name: w\nversion: "1.0"\nsteps:\n  - { id: a, type: return, value: 1 }\n',
      faults: ['f:2:10 SW5006 `version` of the file must be three numbers such as `"1.0.0"`, not `1.0`'],
    },
    {
      what: 'inputs',
      text: 'name: W x\ninputs:\n  a: { type: strng, validation: { min: 1 } }\n  b: { type: string, validation: { min: 1, pattern: "(" } }\n  c: { type: number, default: x }\n  d: { type: string, required: true, default: x }\n  e: {}\n  1f: { type: string }\nsteps: []\n',
      faults: [
        "f:1:7 SW5010 'W x' is not a valid name of a workflow: use lower-case letters, digits, `_` and `-`, a letter first, and at most 62 characters",
        'f:3:14 SW5021 `type` of input `a` cannot be `strng` (did you mean `string`?)',
        'f:4:36 SW5005 `validation` of input `b` has no `min` (it has `pattern`, `min_length`, `max_length`, `enum`; keys of your own begin with `x-`)',
        'f:4:53 SW5006 `pattern` of `validation` of input `b` must be a usable regular expression, not `(`, which is not a regular expression: /(/u: Unterminated group',
        'f:5:31 SW5006 `default` of input `c` must be a value of its type, not "x" (must be number)',
        'f:6:47 SW5031 parameter `d` is required, so that its default is never used (remove `required`, or the default)',
        'f:7:6 SW5007 input `e` needs `type`',
        "f:8:3 SW5010 '1f' is not a valid name of an input: use letters, digits and `_`, a letter or `_` first",
        'f:9:8 SW5006 `steps` of the file must be a list of one or more steps, not an empty list',
      ],
    },
    {
      what: 'names of updates',
      text: doc(
        '- id: a\n  type: set_state\n  updates:\n    total: 4\n    half: "{{ total / 2 }}"\n    bad: "{{ totl }}"',
      ),
      faults: ['f:11:16 SW5014 this is not a template: `totl` is not known here (did you mean `total`?)'],
    },
    {
      what: 'durations',
      text: doc(
        '- { id: a, type: wait, duration_seconds: soon }\n- { id: b, type: wait, duration_seconds: 30s, output_to: w }\n- { id: c, type: wait, duration_seconds: "{{ inputs.tags | length }}", timeout: 3 }',
      ),
      faults: [
        'f:6:44 SW5006 `duration_seconds` of step `a` must be seconds, a time such as `30s`, or a template, not `soon`',
        'f:8:74 SW5005 step `c` has no `timeout` (it has `id`, `type`, `description`, `needs_state`, `when`, `output_to`, `duration_seconds`, `message`; keys of your own begin with `x-`)',
      ],
    },
    {
      what: 'templates in the initial state',
      text: 'name: w\ninitial_state: { a: "{{ inputs.x }}" }\nsteps:\n  - { id: a, type: return, value: 1 }\n',
      faults: [
        'f:2:21 SW5015 `initial_state.a` takes no reference such as `{{ inputs.x }}` (write a value, and compute it in a step of type `set_state`; `{% raw %}` writes braces in a text)',
      ],
    },
    {
      what: 'numbers out of range',
      text: doc(
        '- { id: a, type: mcp_call, tool: x, timeout: 0 }\n- { id: b, type: delegate, instructions: x, timeout: -1 }\n- { id: c, type: shell, command: x, fail_on_error: true, timeout: 0s }\n- { id: d, type: wait, duration_seconds: -3 }\n- { id: e, type: wait, duration_seconds: 90000h }\n- { id: f, type: foreach, items: "{{ inputs.tags }}", task: one, max_iterations: 0, concurrency: 1.5, output_to: r }',
        'tasks:\n  one:\n    steps: [{ id: x, type: return, value: 1 }]\n',
      ),
      faults: [
        'f:9:48 SW5006 `timeout` of step `a` must be a time above 0, not 0',
        'f:10:56 SW5006 `timeout` of step `b` must be a time above 0, not -1',
        'f:11:69 SW5006 `timeout` of step `c` must be a time above 0, not `0s`',
        'f:12:44 SW5006 `duration_seconds` of step `d` must be from 0 to 316224000 seconds (ten years), not -3',
        'f:13:44 SW5006 `duration_seconds` of step `e` must be from 0 to 316224000 seconds (ten years), not `90000h`',
        'f:14:84 SW5006 `max_iterations` of step `f` must be a whole number from 1 to 100000, not 0',
        'f:14:100 SW5006 `concurrency` of step `f` must be a whole number from 1 to 100, not 1.5',
      ],
    },
    {
      what: 'a response of an unknown type',
      text: doc(
        '- { id: a, type: delegate, instructions: x, response_schema: { type: strin } }\n- { id: b, type: delegate, instructions: x, response_schema: { type: string } }',
      ),
      faults: [
        'f:6:64 SW5006 `response_schema` of step `a` must be rules that a value can keep, not `/type`: must be equal to one of the allowed values',
      ],
    },
    {
      what: 'arguments and environments of commands',
      text: doc(
        '- { id: a, type: shell, command: x, fail_on_error: true, argv: [1, a, true, null, [b]] }\n- { id: b, type: shell, command: x, fail_on_error: true, argv: x, env: [a] }\n- { id: c, type: shell, command: x, fail_on_error: true, env: { A_1: 1, a-b: x, B: {} } }',
      ),
      faults: [
        'f:6:79 SW5006 a part of `argv` of step `a` must be text, not nothing',
        'f:6:85 SW5006 a part of `argv` of step `a` must be text, not a list',
        'f:7:66 SW5006 `argv` of step `b` must be a list of texts, or `{{ … }}`, not text',
        'f:7:74 SW5006 `env` of step `b` must be an object of texts, or `{{ … }}`, not a list',
        "f:8:75 SW5010 'a-b' is not a valid name of an environment variable: use letters, digits and `_`, a letter or `_` first",
        'f:8:86 SW5006 a part of `env` of step `c` must be text, not an empty object',
      ],
    },
    {
      what: 'a misspelt list of steps',
      text: 'name: w\nversion: "1.0.0"\nstep:\n  - { id: a, type: return, value: 1 }\n',
      faults: [
        'f:1:1 SW5007 the file needs `steps`',
        'f:3:1 SW5005 the file has no `step` (did you mean `steps`?)',
      ],
    },
    {
      what: 'a list of steps in capitals',
      text: 'Steps:\n  - { id: a, type: return, value: 1 }\n',
      faults: [
        'f:1:1 SW5005 the file has no `Steps` (did you mean `steps`?)',
        'f:1:1 SW5007 the file needs `name`',
        'f:1:1 SW5007 the file needs `steps`',
      ],
    },
    {
      what: 'a file without steps',
      text: 'name: w\nversion: "1.0.0"\n',
      faults: ['f:1:1 SW5007 the file needs `steps`'],
    },
    {
      what: 'timeouts',
      text: doc(
        '- { id: a, type: mcp_call, tool: x, timeout: soon }\n- { id: b, type: mcp_call, tool: x, timeout: PT30S }\n- { id: c, type: mcp_call, tool: x, parameters: [1] }',
      ),
      faults: [
        'f:6:48 SW5006 `timeout` of step `a` must be seconds, or a time such as `30s`, not `soon`',
        'f:8:51 SW5006 `parameters` of step `c` must be an object, not a list',
      ],
    },
    {
      what: 'loops',
      text: doc(
        '- id: a\n  type: foreach\n  items: 3\n  task: one\n  sequential: true\n  concurrency: 2\n  agent: "@task"\n  output_to: r\n- id: b\n  type: foreach\n  items: abc\n  concurrency: 101\n  task: one\n  output_to: r',
        'tasks:\n  one:\n    steps: [{ id: x, type: prompt, message: "{{ previous }}", prompt_type: info }]\n',
      ),
      faults: [
        'f:6:3 SW5039 task `one` has no step of type `return`: its result is null (add a step of `type: return` with the `value`)',
        'f:11:12 SW5006 `items` of step `a` must be a list, or `{{ … }}`, not a number',
        'f:14:5 SW5018 a sequential `foreach` takes no `concurrency` (remove one of them: items of a sequential loop run one at a time)',
        'f:19:12 SW4029 step `b` goes through a list, and is given a string',
        'f:20:18 SW5006 `concurrency` of step `b` must be a whole number from 1 to 100, not 101',
        'f:21:11 SW5042 task `one` reads `previous`, and `b` runs its items at the same time (add `sequential: true` to `b`)',
      ],
    },
  ])('$what', async ({ text, faults }) => {
    const { diagnostics } = await parseWorkflows(text, { file: 'f', format: 'yaml' });
    // Not all cases use all inputs.
    expect(said(diagnostics.filter(({ code }) => code !== 'SW3011'))).toEqual(faults);
  });
});
