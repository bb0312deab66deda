/*
 * Runs of workflows. Folders in the order in which they may import each other: `store`, `run`, `actions`, this folder,
 * `operate`.
 *
 * run       One execution of a workflow. `run/live-run.ts` drives it in this process; `stored-run.ts` outlasts requests.
 * journal   Where the transitions of runs are written before they take effect (`store/journal.ts`). In memory it is
 *           volatile (`store/local-journal.ts`), in a file it is SQLite (`store/sqlite`).
 * lease     The right of one process to write to a run. It ends when the run only waits, or when the process is gone.
 * inbox     The items of a journal that were sent to a run and are not consumed: answers, cancellations, commands.
 * action    What a run waits for from outside: a question, work of the client, a value of a model, a time
 *           (`actions/action.ts`).
 * child     An item of a loop that an agent drives, by an id that reaches this item alone (`actions/children.ts`).
 * answer    What a caller sends for an action; the first one that fits is accepted (`actions/run-questions.ts`).
 * operator  The user of a store's file: decides about paused calls, forks, moves and removes runs (`operate`).
 *
 * Ports: `RunStore` (callers), `RunJournal` (drivers), `StoreReader` and `StoreOperator` (operators).
 */
