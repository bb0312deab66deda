/** How a run ends, and what its limits are. */
export const runs = {
  E_FAIL: {
    meaning: 'The workflow ended itself.',
    cause: 'A `fail(message)` without a `code` ran.',
    repair:
      'Read the message, which its author wrote. `fail(message, { code })` gives programs a code of their own.',
  },
  E_NOT_APPROVED: {
    meaning: 'A call was not made, because its question has no yes.',
    cause:
      'A question with `approves` was answered with no, or not by a caller, and the call has no condition on its answer.',
    repair: 'Make the call depend on the answer. `call` in `approves` of `ask.confirm` does so.',
  },
  E_TIMEOUT: {
    meaning: 'An attempt took longer than its limit.',
    cause:
      '`timeoutMs` of the step, or the limit of a direct call, has passed. A call in flight has an unknown outcome.',
    repair:
      'Check whether the call took effect before you repeat it. Raise `timeoutMs` or make the work shorter.',
  },
  E_CALL_LOST: {
    meaning: 'The process that made a call stopped before the call returned.',
    cause:
      'The server, or a worker of Temporal, was killed while it called the tool for a task. Whether the call took effect is unknown, and the tool is not known to be idempotent.',
    repair:
      'Check whether the call took effect. If it did, submit its result, else have it made again. Set `retrySafety` of the tool where a repetition does no harm: the call is then repeated.',
  },
  E_DEADLINE: {
    meaning: 'The run reached its deadline.',
    cause:
      'A prompt run has `promptTimeoutMs` in all, 45 s by default. A call in flight has an unknown outcome.',
    repair: 'Make the calls of the hand-off, raise `promptTimeoutMs`, or expose the workflow as a tool.',
  },
  E_CANCELLED: {
    meaning: 'The run, or this call, was cancelled.',
    cause:
      'The request or the run was cancelled, the server was drained, or another failure aborted the call.',
    repair: '`outcome_unknown` marks a call that may have taken effect: check it before you repeat it.',
  },
  E_IDLE: {
    meaning: 'The run was cancelled because no answer came.',
    cause:
      'It waited for an answer and no request asked for it during `runs.idleMs`, one day by default; without limit in a file.',
    repair: 'Start the workflow again, or raise `runs.idleMs`.',
  },
  E_STEP_LIMIT: {
    meaning: 'The run started more steps than it may: 100,000, or the `steps` of its limits.',
    cause: 'A loop or a `goto` repeats far too often.',
    repair: 'Shorten the list, or split the work into several runs.',
  },
  E_STATE_SIZE: {
    meaning: 'A step would make the state larger than it may be.',
    cause:
      'The written fields have more bytes as JSON than the `stateBytes` of the limits; or the state of a run on Temporal is too large to continue in another workflow, and the run is undone.',
    repair: 'Write less: a part of the value, or where it is stored.',
  },
  E_INPUT: {
    meaning: 'A nested workflow was run with the wrong arguments.',
    cause: 'A required argument of `run(Workflow, args)` is absent at run time, or an argument is unknown.',
    repair: 'Give the argument a value or a default. `details` names the missing and the unknown ones.',
  },
  E_DEPTH: {
    meaning: 'Something is nested too deep.',
    cause:
      'Workflows run each other more than 5 deep, or a value or an expression is nested more than 1,000 levels.',
    repair: 'End the recursion by a condition, or flatten the value.',
  },
  E_JOURNAL: {
    meaning: 'The run left this process because its journal failed.',
    cause:
      'Three writes in a row failed. The journal keeps the run as last written. With a store in a file the run goes on from there instead, and its status is `running` until then.',
    repair: 'Repair the journal. Look the outcome up in it before you start the workflow again.',
  },
  E_INTERNAL: {
    meaning: 'The server itself failed.',
    cause: 'A defect of stepwright or of a host; a call in flight has an unknown outcome.',
    repair: "Report it with the stack from the server's log.",
  },
  E_NOT_PAUSED: {
    meaning: 'An operator decided about a call that waits for no decision.',
    cause:
      'The decision was made already, the run went on or is over, or the call is still in flight in a server.',
    repair:
      'See the run with `stepwright runs show RUN`: it names the calls that wait, under `paused_steps`.',
  },
  E_NOT_REOPENED: {
    meaning: 'A failed run cannot be reopened.',
    cause:
      'Its workflow failed it, as by `fail(...)`; it has acted on its failure, as by undoing effects; its deadline has passed; or it was forked or moved.',
    repair: 'Start its workflow again, or fork the run before the failure.',
  },
  E_UNFINISHED: {
    meaning: 'The prompt run ended before it had a result.',
    cause: 'A step of the conversation had no outcome when the run stopped.',
    repair: 'Make the calls that the hand-off lists.',
  },
  E_WAITING: {
    meaning: 'The run waits for an answer or a time.',
    cause: 'The workflow asks or waits. This is a state in `pause_reason`, not a failure.',
    repair: 'Answer with `submit_result`, or ask later with `get_workflow_status`.',
  },
  E_RUNNING: {
    meaning: 'The run goes on after the conversation has ended.',
    cause: 'The prompt reached its cap. This is a state in `pause_reason`, not a failure.',
    repair: 'Ask for the run with `get_workflow_status`.',
  },
} as const;

/** Failures of steps that hold or order other steps. */
export const constructs = {
  E_NO_MATCH: {
    meaning: 'No case of a branch matched.',
    cause: 'A value at run time is none of the keys of `match`, and the branch has no `else`.',
    repair: 'Add an arm for the value.',
  },
  E_FOREACH_ITEMS: {
    meaning: 'The items of a loop are not a list.',
    cause: 'The expression gave null, an absent value or another type at run time.',
    repair: 'Give a default: `this.found.items ?? []`.',
  },
  E_FOREACH_LIMIT: {
    meaning: 'The list of a loop is longer than `max`.',
    cause: '`max` is 1,000 by default. No item was started.',
    repair: 'Raise `max`, or shorten the list with `.slice`.',
  },
  E_LOOP_LIMIT: {
    meaning: 'A `goto` has gone back `max` times.',
    cause: 'Its condition was still true after the last round.',
    repair: "Raise `max`, correct the condition, or write `onLimit: 'continue'`.",
  },
  E_PARTIAL_FAILURE: {
    meaning: 'A branch of a `parallel` failed and the others were rolled back.',
    cause:
      "`onPartialFailure: 'rollback'` applies. `details.failed` has each failure, `details.compensation` what was undone.",
    repair: 'Repair the cause in `details.failed`. Undo by hand what `not_undone` lists.',
  },
  E_COMPENSATION: {
    meaning: 'A compensation failed or has no input.',
    cause: 'A call that undoes an effect failed, or its input refers to a step that has not succeeded.',
    repair: 'Undo by hand what `not_undone` lists, and correct the compensation.',
  },
  E_NOT_UNDOABLE: {
    meaning: 'A rollback could not undo a call.',
    cause: 'The call has an effect and no `compensate`.',
    repair: 'Write `compensate` on the call. SW4037 reports it at build time.',
  },
  E_INHERITED: {
    meaning: 'A side effect was not undone, since another run made the call.',
    cause:
      'The run was forked after that call: it has its result, and undoes nothing of the run it comes from.',
    repair: 'Undo the effect by hand if it should not remain, or cancel the other run with `compensate`.',
  },
  E_WAIT: {
    meaning: 'The time to wait for is not valid.',
    cause: 'The span is negative, not finite or longer than ten years, or `until` is not a time.',
    repair: 'Send a time as RFC 3339 or in milliseconds.',
  },
  E_NOT_TEXT: {
    meaning: 'A URI or a message is not text.',
    cause: 'The expression for it gave another type at run time.',
    repair: 'Make it text with a template literal.',
  },
  E_CALL_INPUT: {
    meaning: 'The input of a call is not an object.',
    cause: 'The expression for the whole input gave another type at run time.',
    repair: 'Write the input as an object literal.',
  },
  E_COMPUTE_ARGUMENTS: {
    meaning: 'The arguments of a function are not a list.',
    cause: 'A built graph has an expression for the arguments that gave another type.',
    repair: 'Correct the graph.',
  },
} as const;

/** Failures of questions, and refusals of the tools that look after runs. */
export const questions = {
  E_MODEL_VALUE: {
    meaning: 'A model supplied no value.',
    cause:
      'Three values in a row do not fit the schema, the model could not be asked, or the message of `ask.model` holds a secret.',
    repair: 'Read the problems in `details`, say in the message what is wanted, and leave secrets out of it.',
  },
  E_WORK_SECRET: {
    meaning: 'Work of the client cannot be done as it is shown.',
    cause:
      'A command, the arguments of a tool of the client, or the instructions for an agent hold a secret.',
    repair:
      'Leave the secret out: let the client read it from its environment, or call a tool of the server.',
  },
  E_EXIT_CODE: {
    meaning: 'A command that the client ran ended with an exit code other than 0.',
    cause: 'The step has `failOnError`. `details.result` is what the client returned.',
    repair: 'Correct the command, retry it, or leave `failOnError` out and read `exit_code`.',
  },
  E_ASK_OPTIONS: {
    meaning: 'A choice cannot be asked.',
    cause: 'Its options are not one or more distinct texts.',
    repair: 'Filter empty lists and duplicates before you ask.',
  },
  E_ASK_DECLINED: {
    meaning: 'The user declined to answer.',
    cause: 'The client reported that the form was declined.',
    repair: 'Handle it with `attempt(ask.…, …)` where the workflow can go on.',
  },
  E_ASK_CANCELLED: {
    meaning: 'The user closed the question without an answer.',
    cause: 'The client reported that the form was dismissed.',
    repair: 'Handle it with `attempt(ask.…, …)`, or ask again with a `retry`.',
  },
  E_ACTION_FAILED: {
    meaning: 'The action was answered with an error.',
    cause: '`submit_result` sent `error` without a `code` in capital letters.',
    repair: 'Read the message of the caller.',
  },
  E_NOBODY_TO_ASK: {
    meaning: 'The run cannot ask.',
    cause: 'The run ends with its call, so an answer could not reach it.',
    repair: 'Use a server, which keeps runs that wait.',
  },
  E_RESULT_SHAPE: {
    meaning: 'The answer does not fit the schema of the action.',
    cause:
      '`details.problems` lists what is wrong and `details.schema` what fits. The action is still open, unless it was the third response to a `delegate` with a schema: then the step has failed.',
    repair: 'Send an answer that fits. For a step that failed, say in its instructions what is wanted.',
  },
  RESULT_IS_ERROR: {
    meaning: 'The result that was sent for a step of a task is an error.',
    cause: 'The step had failed before, and waits for a result. The action is still open.',
    repair: 'Send the result of a call that succeeded, or have the step tried again.',
  },
  NO_OPEN_ACTION: {
    meaning: 'The run has no open action.',
    cause: 'It is running, or waits for a time.',
    repair: 'Ask for its status later with `get_workflow_status`.',
  },
  AMBIGUOUS_ACTION: {
    meaning: 'The answer does not say which open action it is for.',
    cause:
      'Several actions are open, or the answer repeats one that was accepted while another action is open.',
    repair: 'Send `action_id`; `details.open_actions` lists the open ones.',
  },
  UNKNOWN_ACTION: {
    meaning: 'The run has no action with this id.',
    cause: '`action_id` is misspelt or belongs to another run.',
    repair: 'Take the id from `actions` of `get_workflow_status`.',
  },
  ACTION_OF_AGENTS: {
    meaning: 'The action is done by sub-agents, and the caller of the run does not submit it.',
    cause:
      'It is a loop with an agent, which is complete when all of its children are, or an action of one of these children.',
    repair:
      'Give each sub-agent the `prompt` of its child. It submits its steps with `submit_step_result`. Ask for the status when the sub-agents have finished.',
  },
  WRONG_STEP: {
    meaning: 'The step of a task is not pending.',
    cause:
      '`step_id` is misspelt, belongs to another task, or its turn has not come. `details.pending_steps` has the steps that are pending.',
    repair: 'Call `get_next_step`, and submit the step that it returns.',
  },
  ACTION_EXPIRED: {
    meaning: 'The time to answer this action is over.',
    cause:
      '`timeoutMs` of the step has passed; for work of an agent, that time and 30 seconds more since the action was first returned.',
    repair: 'Look at the status: the step has failed or its fallback has run.',
  },
  ACTION_CANCELLED: {
    meaning: 'The action is no longer open.',
    cause: 'The run went on without the answer: a step failed, or a result was reached.',
    repair: 'Look at the status.',
  },
  ALREADY_SUBMITTED: {
    meaning: 'The action has a different answer already.',
    cause: 'The first accepted answer counts.',
    repair: 'Look at the status. Start the workflow again for another answer.',
  },
  TOO_EARLY: {
    meaning: 'A `wait` takes no answer.',
    cause: 'The action waits for a time; `details.remaining_ms` says how long.',
    repair: 'Ask for the status at that time.',
  },
  WORKFLOW_CANCELLED: {
    meaning: 'The run was cancelled and takes no answer.',
    cause: 'A caller, a limit or the server cancelled it.',
    repair: 'Start the workflow again.',
  },
  WORKFLOW_NOT_FOUND: {
    meaning: 'The caller has no run with this id.',
    cause:
      'The run does not exist, was forgotten, or belongs to another caller. All three get the same response.',
    repair: 'Check the id, and call as the principal that started the run.',
  },
  NOT_PERMITTED: {
    meaning: 'The owner of the run may not answer this action.',
    cause:
      'Its `answerBy` names other callers: `answer_by` of the action says which. The action is still open.',
    repair: 'Let one of them answer it; `get_workflow_status` shows when the run has gone on.',
  },
  E_NO_ROLES: {
    meaning: 'The run was not started, because no caller could answer a question of its workflow.',
    cause:
      '`answerBy` names roles only, and no caller of this server has one of them. Or the roles are for callers that are not the owner, and the request had no token: an anonymous owner cannot be distinguished from others. Or only a person on the page of the question may answer (`human()`), and the server has no pages.',
    repair:
      'Give roles to callers over HTTP with `roles` of what `auth.verify` returns, and over stdio with `localRoles`. Start the run with a token. For `human()` serve over HTTP with `questions: { page: true }`.',
  },
  E_STORE_SECRETS: {
    meaning:
      'The run was not started, because its workflow has secrets and the store is a file without encryption.',
    cause: 'An argument of the workflow is secret, or a value is passed on to a secret input of a tool.',
    repair: "Serve the workflow with `store: 'memory'`.",
  },
  E_STORE: {
    meaning: 'The store of the runs failed, and it is open whether the request took effect.',
    cause:
      'The file of the store cannot be read or written: its disk is full, it is damaged, or another program keeps it locked. The log of the server says which.',
    repair:
      'Repair what the log names. Then ask with `list_workflows` or `get_workflow_status` what became of the request: the same answer may be sent again.',
  },
  E_STORE_REPLACED: {
    meaning:
      'The file of the store, or one beside it, was removed or replaced. The server accepts no run and no answer, since a restart would lose them.',
    cause:
      'A program removed, moved or replaced the file, its `-wal`, its `-shm` or its folder while the server used it. The log of the server names it (`store.replaced`), and `/ready` answers 503.',
    repair:
      'Put the files back where they were, or restore a backup, and start the server again. Then ask what became of the request: the same answer may be sent again.',
  },
  E_STORE_DAMAGED: {
    meaning: 'The store has the run, and cannot read it: the request had no effect.',
    cause:
      'Bytes of the file were changed by a disk that fails, or by another program. The log of the server names the run (`run.not_resumed`).',
    repair:
      'List the damaged runs with `stepwright runs check`, and restore the file from a backup. Other runs continue.',
  },
  E_STORE_VERSION: {
    meaning: 'The store has the run, and another version of stepwright wrote it: the request had no effect.',
    cause: 'A later version used the file. The log of the server names the run (`run.not_resumed`).',
    repair: 'Send the request to a server of that version, or update this one.',
  },
  E_TASK_OVER: {
    meaning: 'The task is over, and cannot be changed.',
    cause: 'It was completed, failed, or was cancelled; or its time to live has passed.',
    repair: 'Read it. To do its work again, start another task.',
  },
  E_TASK_UNSUPPORTED: {
    meaning: 'The task cannot do this, or the router of tasks does not have this method.',
    cause:
      'A call was to continue a run of a workflow without `task`, a program asked `server.tasks` to complete a task, or `taskRouter` replaces it by one that has less.',
    repair:
      'A task of a run completes by itself: see it with `get_workflow_status`. Override the method in the router, or do without it.',
  },
  E_TASK_VARIABLES: {
    meaning: 'A variable of a task cannot be set.',
    cause:
      'Its name begins with `_workflow.`; or it is nested more than 10 levels, has a text of more than 65,536 bytes, or the variables have more than 1,048,576 bytes.',
    repair: 'Use another name. Keep large values elsewhere, and set a link to them.',
  },
  E_TASK_VERSION: {
    meaning: 'The variables of a task were changed by another program.',
    cause: 'Its version is not the one that the change expects. `details` has both.',
    repair: 'Read the variables, and change them again with the version that they have.',
  },
  RESOURCE_EXHAUSTED: {
    meaning: 'A limit on open runs or actions is reached.',
    cause:
      '`runs.maxOpenRuns`, `runs.maxPendingActions` or `runs.maxAnonymousRuns`. The run was not started.',
    repair: 'Finish or cancel a run, or raise the limit.',
  },
} as const;

/** Warnings beside results: the run succeeded or the request was accepted. */
export const warnings = {
  W_STRINGIFIED: {
    meaning: 'The answer came as text that holds a JSON object.',
    cause: 'The client sent JSON in quotes. It was read as the object.',
    repair: 'Send the object itself.',
  },
  W_STORED: {
    meaning: 'What was sent is stored, and no server has taken it yet.',
    cause:
      'The run needs a tool, a function or a version that this server does not have, or the server that has the run does not respond.',
    repair:
      'Ask for the status later. `missing_capabilities` of the run names what a server needs to continue it.',
  },
  W_EXTRA_CALL: {
    meaning: 'The result of the call belongs to no step of the task.',
    cause:
      'No step waits for a call of this tool, several do, or the step that `_step` names waits for another one.',
    repair:
      'Name a step that waits by `_step`. The result is kept as the variable `_workflow.extra.<tool>` of the task.',
  },
  W_NOT_USED: {
    meaning: 'The request came too late to change the run.',
    cause: 'The run was over when the answer or the cancellation came.',
    repair: 'Look at the status in the same response.',
  },
  W_NOT_UNDONE: {
    meaning: 'Effects that were to be undone remain.',
    cause: 'A compensation failed, has no outcome, or does not exist.',
    repair: 'Undo by hand what `not_undone` lists. Check first where it says `outcome_unknown`.',
  },
  W_OUTCOME_UNKNOWN: {
    meaning: 'Calls without an answer may have taken effect.',
    cause: 'They were cancelled, or took longer than their limit.',
    repair: 'Check each of `unknown_outcomes` before you repeat it.',
  },
  W_ITEMS_FAILED: {
    meaning:
      'Items of a loop failed. They are null in the result, or `{ error }` with `onItemError: report`.',
    cause: 'The loop has `onItemError: continue` or `onItemError: report`.',
    repair: 'Repair the items that `failed_items` lists, and run them again.',
  },
} as const;
