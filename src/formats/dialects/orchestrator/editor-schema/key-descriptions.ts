/** Descriptions of the keys of nodes, which editors show. */
export const NODE_KEYS: Readonly<Record<string, string>> = {
  type: 'What the node is. Usually it follows from its other keys.',
  id: 'The name of the node, in a list of nodes.',
  title: 'A name for people.',
  depends_on: 'The nodes that this one waits for: a name, or a list of names.',
  join: 'How the nodes that this one waits for must have ended.',
  when: 'A condition. Without it, or if it is true, the node runs. `$steps.id.status` and `$steps.id.error` are how a node settled.',
  condition: 'The same as `when`.',
  output: 'The name that others refer to the result by. Default: the id.',
  timeout: 'Milliseconds, or a time such as `30s`.',
  call: 'The tool that the node calls.',
  workflow: 'The workflow that the node runs: a name, or `domain/name`.',
  args: 'The arguments. `$name` is a parameter or a result, `$name.key` a part of it.',
  on_error: 'What happens when it fails: further attempts, and the node that takes over.',
  error_as_data:
    'Whether a call that fails succeeds with `{ error: { code, message, attempts } }`. Default: false.',
  compensate: 'The call that undoes this one.',
  on: 'The cases, in order: the first one that holds is taken.',
  default: 'The node that is selected if no case holds.',
  branches: 'Nodes that run at the same time, by name.',
  on_partial_failure: '`abort`, `continue`, `rollback_all`, or a node of type `compensate`.',
  concurrency: 'How many run at once.',
  items: 'A reference to a list, or a list.',
  as: 'The name of an item in the nodes of the loop. Default: `item`.',
  step: 'The node that runs for each item.',
  steps: 'Nodes that run one after the other.',
  max_iterations: 'The largest number of items, 1,000 by default, or of repetitions.',
  on_item_error: 'Whether the loop continues when an item fails. Default: `fail`.',
  repeat: 'A node, or nodes one after the other, which run until a condition holds.',
  until: 'The condition that ends the repetitions. The name of the node is its last result.',
  delay: 'The time between two repetitions: milliseconds, or a time such as `10s`.',
  on_limit: 'Whether the node fails after the last repetition, or succeeds. Default: `fail`.',
  wait: 'For how long the workflow waits: milliseconds, a time such as `30m`, or a reference with its unit.',
  wait_until: 'Until when the workflow waits: a time such as `2026-12-24T18:00:00Z`, or a reference to one.',
  answer_by:
    'Who may answer: roles, `human` for a person on the page of the question, or `owner` for the owner of the run, which is the default.',
  remind_after: 'When a reminder of an open question is given: milliseconds, or a time such as `4h`.',
  approves: 'The call that a yes permits, with the input that the question shows.',
  escalate_to: 'Who may answer as well after the reminder: roles, or `owner`.',
  except: '`owner`: the owner of the run may not answer, even with the role.',
  expects: 'What the answer has, as parameters.',
  yield: 'The question. The same as `message`.',
  message: 'A text, which may have references.',
  code: 'The code of the failure. Default: the id.',
};

export const ON_ERROR: Readonly<Record<string, string>> = {
  retry: 'How many attempts are made after the first one.',
  delay: 'The time between attempts: milliseconds, or a time such as `2s`.',
  backoff: 'How the time between attempts grows.',
  max_delay:
    'The longest time between attempts of an exponential backoff. Default: 60 s, or `delay` if it is longer.',
  jitter: 'The random part of the time between attempts, from 0 to 1.',
  fallback: 'The node of the same list that takes over.',
};

export const PARAMETER: Readonly<Record<string, string>> = {
  type: 'The type of the value. Values are not converted.',
  required: 'Whether a caller must give it. Default: false.',
  default: 'The value where a caller gives none.',
  format: 'The format of a text.',
  enum: 'The values that are allowed.',
  items: 'The type of the items of a list: a name, or an object.',
  minimum: 'The smallest number.',
  maximum: 'The largest number.',
  min_length: 'The least number of characters.',
  max_length: 'The largest number of characters.',
  min_items: 'The least number of items.',
  max_items: 'The largest number of items.',
  pattern: 'A regular expression that the text matches.',
  description: 'What the value means, for the caller.',
  title: 'A name for people.',
  secret: 'Whether the value is masked wherever it would be shown.',
};

export const WORKFLOW: Readonly<Record<string, string>> = {
  title: 'A name for people.',
  description: 'What the workflow does, for those who choose it.',
  params: 'The parameters by name.',
  graph: 'The nodes by id.',
  returns: 'The result: a reference, or an object of values with references.',
  expose: 'What clients get: a prompt, a tool, a resource with its details. Default: a prompt and a tool.',
  fail_fast: 'Whether the first failure stops the run. Default: true.',
  on_failure:
    '`compensate`: when the workflow fails, what it did is undone. Default: it remains, and is reported.',
  max_concurrency: 'How many calls run at once. Default: 10.',
  task: 'Whether its runs are tasks: a step that fails waits for its result or for another attempt. Default: false.',
  task_support:
    'Whether clients may, or must, call its tool as an MCP task. Default: `optional` with `task`, else `forbidden`.',
};

export const DOCUMENT: Readonly<Record<string, string>> = {
  $schema: 'The JSON Schema of this file, for editors.',
  domain: 'A name for the workflows together. Default: `default`.',
  version: 'The version of the workflows, as text.',
  description: 'What the file is about.',
  rules: 'Sentences that hold for all workflows of the domain.',
  docs: 'Markdown for the users of the workflows.',
  workflows: 'The workflows by name.',
};
