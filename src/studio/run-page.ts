import { type Answerer, describeAnswerers } from '../graph/answerers.js';
import { isJsonObject, type Json } from '../graph/json.js';
import type { Graph } from '../graph/model.js';
import { elapsedText } from '../graph/printable-text.js';
import { type Chart, chartOf } from '../print/chart/chart.js';
import { shownStates } from '../print/chart/page.js';
import type { FormFault, FormFields } from '../print/form/fields.js';
import { formOf } from '../print/form/form.js';
import { needText } from '../print/runs.js';
import {
  Html,
  html,
  json,
  MOST_REASON_CHARS,
  members,
  noticeParts,
  type Part,
  picture,
  status,
  time,
  type View,
} from './html.js';
import { MOST_EVENTS, type OpenRun } from './run-source.js';

/** What a page says of the last form that it has sent. */
export interface FormOutcome {
  readonly notice?: string;
  /** An answer that is not complete: it is shown again. */
  readonly answer?: {
    readonly actionId: string;
    readonly fields: FormFields;
    readonly faults: readonly FormFault[];
  };
}

/** Who looks at a run, and what became of the last form. */
export interface RunPageOptions extends FormOutcome {
  /** The name of the reader of the page. */
  readonly reader: string;
  /** Whether the reader may answer a question. */
  readonly mayAnswer: (answerBy: readonly Answerer[] | undefined) => boolean;
  /** A secret of the page, which each form sends back. */
  readonly formKey: string;
  readonly version: string;
}

const REASON = html`<label>Reason <input name="reason" required autocomplete="off" maxlength="${MOST_REASON_CHARS}"></label>`;

type RunView = OpenRun['shown']['view'];
type NodeState = OpenRun['states'] extends ReadonlyMap<string, infer S> ? S : never;

/** The page of one run. Its parts are replaced when the run changes. */
export function runView(run: OpenRun, options: RunPageOptions): View {
  const { view } = run.shown;
  const { notice, version } = options;
  return {
    title: `${view.definition.name} ${view.run}`,
    tab: 'runs',
    live: `/live/runs/${view.run}?at=${encodeURIComponent(version)}`,
    parts: [...noticeParts(notice), ...runParts(run, options)],
  };
}

/** The parts of the page of a run that change. */
export function runParts(run: OpenRun, options: RunPageOptions): readonly Part[] {
  const { view } = run.shown;
  return [
    { id: 'head', content: head(view) },
    { id: 'waits', content: waits(run, view, options) },
    { id: 'operate', content: operations(view, options.formKey) },
    { id: 'graph', content: graph(run) },
    { id: 'end', content: outcome(view) },
    { id: 'timeline', content: timeline(run, view) },
    { id: 'steps', content: steps(run, undoneIn(view)) },
    { id: 'log', content: log(run) },
  ];
}

function isOpen({ status: state }: RunView): boolean {
  return state === 'running' || state === 'waiting';
}

/** The state in one word: what a reader has to know first. */
function stateOf(view: RunView): string {
  if (view.cancelling === true || view.failing === true) return 'undoing';
  if ((view.paused_steps?.length ?? 0) > 0) return 'paused';
  return view.status;
}

function head(view: RunView): Html {
  const { definition, run, started_at, ended_at, owner, forked_from } = view;
  const version = definition.version === undefined ? '' : ` ${definition.version}`;
  const took =
    ended_at === undefined
      ? html`<span data-since="${started_at}"></span>`
      : elapsedText(Date.parse(ended_at) - Date.parse(started_at));
  return html`<h1><a href="/runs?workflow=${encodeURIComponent(definition.name)}">${definition.name}</a>${version} ${status(stateOf(view))}</h1>
<p class="facts"><span>run <code>${run}</code></span><span>started ${time(started_at)}</span>${ended_at !== undefined && html`<span>ended ${time(ended_at)}</span>`}<span>${took}</span><span>owner ${ownerText(owner)}</span>${forked_from !== undefined && html`<span>forked from <code>${JSON.stringify(forked_from)}</code></span>`}</p>`;
}

function ownerText(owner: RunView['owner']): string {
  if (owner === undefined || owner.kind === 'anonymous') return 'without authentication';
  if (owner.kind === 'local') return 'the user of this machine';
  return String(owner.subject ?? owner.clientId ?? 'unknown');
}

const OWNER: readonly Answerer[] = [{ kind: 'owner' }];

function waits(run: OpenRun, view: RunView, options: RunPageOptions): Html {
  const { actions, paused_steps: paused = [], running_steps: running = [], waiting_steps = [] } = view;
  const path = `/runs/${view.run}`;
  const cards = [
    ...paused.map(({ step_id, tool }) => decision(path, step_id, tool, options.formKey)),
    ...actions.map((action) => question(path, action, options)),
    ...waiting_steps
      .filter(({ for: what }) => what === 'retry')
      .map(
        ({ step_id, until }) =>
          html`<li class="card"><p>${stepLink(step_id)} tries again${until !== undefined && html` at ${time(until)}`}</p></li>`,
      ),
    ...running.map((step) => html`<li class="card busy"><p>${stepLink(step)} is running</p></li>`),
    ...run.missing.map((need) => html`<li class="card"><p>Waits for ${needText(need)}</p></li>`),
  ];
  if (cards.length === 0) return html``;
  return html`<h2>Now</h2><ul class="cards">${cards}</ul>`;
}

function stepLink(step: string): Html {
  return html`<a href="#step-${step}"><b>${step}</b></a>`;
}

/** A form of the page. Without its key no form is taken. */
function form(action: string, formKey: string, content: Html, id: string): Html {
  return html`<form method="post" action="${action}" id="${id}"><input type="hidden" name="key" value="${formKey}">${content}</form>`;
}

function question(path: string, action: RunView['actions'][number], options: RunPageOptions): Html {
  const { action_id, step_id, answer_by, created_at, expires_at, reminded_at } = action;
  const until = expires_at !== undefined && html` · until ${time(expires_at)}`;
  const reminded = reminded_at !== undefined && html` · reminded ${time(reminded_at)}`;
  const about = html`<p class="soft">${stepLink(step_id)} · since ${time(created_at)}${until}${reminded}</p>`;
  if (action.type === 'wait') {
    return html`<li class="card">${'message' in action.parameters && html`<p>${action.parameters.message}</p>`}<p class="soft">${stepLink(step_id)}${action.resume_at !== undefined && html` · continues at ${time(action.resume_at)}`}</p></li>`;
  }
  const text =
    'message' in action.parameters
      ? html`<p class="ask">${action.parameters.message}</p>`
      : json(action.parameters as unknown as Json);
  const may = options.mayAnswer(answer_by);
  const permitted = describeAnswerers(answer_by ?? OWNER);
  const who = html`<p class="soft">${may ? `For ${permitted}: you answer as ${options.reader}.` : `To be answered by ${permitted}.`}</p>`;
  const fields = may && action.schema !== undefined && answerFields(action, options);
  const refused = (action.refused_values ?? []).map(
    ({ problems }) => html`<p class="soft">Refused: ${problems.join('; ')}</p>`,
  );
  return html`<li class="card waits">${text}${refused}${about}${who}${
    fields !== false &&
    form(
      `${path}/answer`,
      options.formKey,
      html`<input type="hidden" name="action" value="${action_id}">${fields}`,
      `answer-${action_id}`,
    )
  }</li>`;
}

/** The controls of an answer: buttons for a yes or no and for a choice, else the form of its schema. */
function answerFields(action: RunView['actions'][number], { answer }: FormOutcome): Html {
  const { type } = action.parameters as { readonly type?: string };
  if (type === 'confirm')
    return html`<button name="json/confirmed" value="true" class="main">Yes</button><button name="json/confirmed" value="false">No</button>`;
  const sent = answer?.actionId === action.action_id ? answer : undefined;
  const fields = formOf(action.schema ?? {}, {
    idPrefix: `${action.action_id}-`,
    ...(sent === undefined ? {} : { fields: sent.fields, faults: sent.faults }),
  });
  return html`${new Html(fields)}<button class="main">${type === 'info' ? 'Acknowledge' : 'Answer'}</button>`;
}

/** A call that may have taken effect before its server stopped: an operator decides. */
function decision(path: string, step: string, tool: string, formKey: string): Html {
  return html`<li class="card waits"><p>The call of <code>${tool}</code> in ${stepLink(step)} may have taken effect before its server stopped. Find out, then say what became of it.</p>${form(
    `${path}/decide`,
    formKey,
    html`<input type="hidden" name="step" value="${step}"><label>It happened, and returned (JSON) <input name="value" placeholder="{}" autocomplete="off"></label>${REASON}<button name="how" value="happened" class="main">It happened</button><button name="how" value="did-not-happen">It did not happen</button>`,
    `decide-${step}`,
  )}</li>`;
}

function operations(view: RunView, formKey: string): Html {
  const path = `/runs/${view.run}`;
  const canRetry = view.status === 'failed' || (isOpen(view) && (view.paused_steps?.length ?? 0) > 0);
  const retry = html`<details id="do-retry"><summary>Retry…</summary>${form(
    `${path}/retry`,
    formKey,
    html`<p>Makes the calls again that failed or paused the run, with their idempotency keys. Effects stay done.</p>${REASON}<button class="main">Retry the run</button>`,
    'retry',
  )}</details>`;
  const cancel = html`<details id="do-cancel"><summary>Cancel…</summary>${form(
    `${path}/cancel`,
    formKey,
    html`<p>Ends the run. Calls in flight may still take effect.</p>${REASON}<label class="check"><input type="checkbox" name="compensate" value="1"> Undo what it did</label><button class="danger">Cancel the run</button>`,
    'cancel',
  )}</details>`;
  if (!canRetry && !isOpen(view)) return html``;
  return html`<h2 class="hidden">Operate</h2><div class="operate">${canRetry && retry}${isOpen(view) && cancel}</div>`;
}

/** The charts of the latest definitions, by their hashes: placing boxes takes longer than all else of a page. */
const charts = new Map<string, Chart>();
const MOST_CHARTS = 50;

function chartOfRun({ shown, head: { graph: hash } }: OpenRun): Chart {
  const chart = charts.get(hash) ?? chartOf(shown.graph as unknown as Graph);
  charts.delete(hash);
  charts.set(hash, chart);
  for (const oldest of [...charts.keys()].slice(0, -MOST_CHARTS)) charts.delete(oldest);
  return chart;
}

function graph(run: OpenRun): Html {
  const { states } = run;
  const options = { states: shownStates(states), linkOf: (key: string) => `#step-${key}` };
  return html`<h2>Graph</h2>${picture(chartOfRun(run), 'Graph of the run', options)}`;
}

function outcome(view: RunView): Html {
  const { arguments: given, arguments_omitted: omitted = [], result, state, error, remains } = view;
  const rest = { ...remains, ...error } as Readonly<Record<string, Json>>;
  const { code, message, node, undone, undone_calls, partial, ...left } = rest;
  const calls = (Array.isArray(undone_calls) ? undone_calls : []) as readonly Json[];
  return html`${
    error !== undefined &&
    html`<h2>Why it ${view.status === 'cancelled' ? 'was cancelled' : 'failed'}</h2><p class="failure"><code>${String(code)}</code> ${String(message)}${node !== undefined && html` · ${stepLink(String(node))}`}</p>`
  }${
    (Array.isArray(undone) || calls.length > 0) &&
    html`<h3>Undone</h3><ul class="undone">${(Array.isArray(undone) ? undone : []).map((step) => html`<li>${stepLink(String(step))}</li>`)}${calls.map((call) => isJsonObject(call) && html`<li>${stepLink(String(call.step))}: <code>${String(call.tool)}</code> ${call.input !== undefined && html`<code>${JSON.stringify(call.input)}</code>`}</li>`)}</ul>`
  }${Object.entries(left).map(([name, value]) =>
    REMAINS[name] === undefined
      ? html`<details id="left-${name}"><summary>${name.replaceAll('_', ' ')}</summary>${json(value)}</details>`
      : html`<h3>${REMAINS[name]}</h3>${json(value)}`,
  )}${
    result !== undefined && html`<h2>Result</h2>${json(result)}`
  }${state !== undefined && html`<h2>State</h2>${json(state)}`}${
    partial !== undefined &&
    JSON.stringify(partial) !== '{}' &&
    html`<details id="partial"><summary>Values of steps that had succeeded</summary>${json(partial)}</details>`
  }<h2>Arguments</h2>${json(given)}${omitted.length > 0 && html`<p class="soft">Too large to be shown: ${omitted.join(', ')}</p>`}`;
}

const REMAINS: Readonly<Record<string, string>> = {
  not_undone: 'Effects that remain',
  unknown_outcomes: 'Calls with an unknown outcome: check before you repeat them',
  failed_items: 'Failed items',
  outcome_unknown: 'A call may have taken effect',
};

/** A bar for each step that has started, on the time of the run. */
function timeline({ states }: OpenRun, view: RunView): Html {
  const timed = [...states].filter(([, { startedAt }]) => startedAt !== undefined);
  if (timed.length === 0) return html``;
  const start = Date.parse(view.started_at);
  const ends = timed.flatMap(([, { startedAt = 0, endedAt = startedAt }]) => [startedAt, endedAt]);
  const last = view.ended_at === undefined ? Date.now() : Date.parse(view.ended_at);
  const span = Math.max(1, last - start, ...ends.map((at) => at - start));
  const percent = (ms: number): string => ((100 * ms) / span).toFixed(2);
  // The script of the page moves the bars of a run that is open.
  const since = view.ended_at === undefined && html` data-start="${start}"`;
  const rows = timed.map(([key, { startedAt = start, endedAt, status: state, attempts }]) => {
    const end = endedAt ?? last;
    const took = elapsedText(Math.max(0, end - startedAt));
    const isOpen = endedAt === undefined && view.ended_at === undefined;
    const text = isOpen ? html`<span data-since="${new Date(startedAt).toISOString()}">${took}</span>` : took;
    const width = Math.max(0.4, (100 * Math.max(0, end - startedAt)) / span);
    return html`<tr><th scope="row"><a href="#step-${key}">${key}</a></th><td><svg class="track" aria-hidden="true"><rect class="span t-${state}" data-from="${startedAt}"${!isOpen && html` data-to="${end}"`} x="${Math.min(99.6, Number(percent(startedAt - start))).toFixed(2)}%" width="${width.toFixed(2)}%" height="100%" rx="3"/></svg></td><td class="number">${text}${attempts > 1 && `, ${attempts} attempts`}</td></tr>`;
  });
  return html`<h2>Time line</h2><table class="timeline"${since}><caption class="hidden">Steps by their start</caption><tbody>${rows}</tbody></table>`;
}

/** The steps of which a call was undone. */
function undoneIn({ error }: RunView): ReadonlySet<string> {
  const { undone = [], undone_calls: calls = [] } = error ?? {};
  return new Set([...undone, ...calls.map((call) => call.step)]);
}

/** Each step with its last call. */
function steps({ graph: { nodes }, states }: OpenRun, undone: ReadonlySet<string>): Html {
  const at = (key: string): number => states.get(key)?.startedAt ?? Number.POSITIVE_INFINITY;
  // In the order of their starts: those inside a step follow it.
  const keys = [...new Set([...nodes.map(({ id }) => id), ...states.keys()])].sort((one, other) =>
    at(one) === at(other) ? 0 : at(one) - at(other),
  );
  return html`<h2>Steps</h2>${keys.map((key) => step(key, states.get(key), undone.has(key)))}`;
}

function step(key: string, state: NodeState | undefined, isUndone: boolean): Html {
  const {
    status: name = 'pending',
    attempts = 0,
    reason,
    failure,
    call,
    counts = {},
    startedAt,
    endedAt,
  } = state ?? {};
  const items = Object.values(counts).reduce((sum: number, count = 0) => sum + count, 0);
  const took =
    startedAt === undefined || endedAt === undefined ? undefined : elapsedText(endedAt - startedAt);
  const summary = [
    ...(items > 1 ? [`${items} items`] : []),
    ...(attempts > 1 ? [`${attempts} attempts`] : []),
    ...(reason === undefined ? [] : [reason.replaceAll('_', ' ')]),
    ...(took === undefined ? [] : [took]),
  ].join(' · ');
  const entries: (readonly [string, Html | string])[] = [
    ...(startedAt === undefined ? [] : [['started', time(startedAt)] as const]),
    ...(endedAt === undefined ? [] : [['ended', time(endedAt)] as const]),
    ...(failure === undefined
      ? []
      : [['failure', html`<code>${failure.code}</code> ${failure.message}`] as const]),
    ...(call === undefined
      ? []
      : [['tool', html`<code>${call.tool}</code>`] as const, ['arguments', json(call.input)] as const]),
    ...(call?.result === undefined ? [] : [['result', json(call.result)] as const]),
  ];
  return html`<details class="step" id="step-${key}"><summary><span class="name">${key}</span> ${status(name)} ${isUndone && status('undone')} <span class="soft">${summary}</span></summary>${entries.length === 0 ? html`<p class="soft">It has not started.</p>` : members(entries)}</details>`;
}

function log({ events }: OpenRun): Html {
  if (events.length === 0) return html`<h2>Events</h2><p class="soft">None yet.</p>`;
  const rows = [...events].reverse().map(({ entry, at, kind, ...rest }) => {
    const { command, node, by, ...more } = rest as Readonly<Record<string, Json>>;
    const about = [command ?? node].filter((each) => each !== undefined).map(String);
    const text = Object.keys(more).length === 0 ? '' : JSON.stringify(more);
    return html`<tr><td class="number">${entry}</td><td>${time(String(at))}</td><td>${String(kind)}</td><td><code>${about.join(' ')}</code></td><td>${senderText(String(kind), by)}</td><td class="value"><code>${text.length > 300 ? `${text.slice(0, 300)}…` : text}</code></td></tr>`;
  });
  const order =
    events.length < MOST_EVENTS
      ? 'The latest first. The first entry is the start.'
      : html`The latest ${MOST_EVENTS}, the latest first. <code>stepwright runs events</code> has all.`;
  return html`<details id="events" open><summary><h2>Events</h2></summary><p class="soft">${order}</p><div class="wide" tabindex="0"><table class="log"><thead><tr><th scope="col">Entry</th><th scope="col">Time</th><th scope="col">Event</th><th scope="col">Of</th><th scope="col">By</th><th scope="col">Value</th></tr></thead><tbody>${rows}</tbody></table></div></details>`;
}

/** Who caused an event: a caller, or an operator with its reason and the caller that it is. */
function senderText(event: string, by: Json | undefined): string {
  if (!isJsonObject(by)) return '';
  const { kind, name, principal, reason } = by;
  if (kind !== 'operator') return ownerText(by as RunView['owner']);
  const caller = isJsonObject(principal) ? ownerText(principal as RunView['owner']) : String(name);
  // An answer with a principal was permitted to it as to any caller.
  if (event === 'actionSubmitted' && isJsonObject(principal)) return caller;
  const who = caller === name ? '' : ` (${caller})`;
  return `${String(name)}${who}, as an operator${reason === undefined ? '' : `: ${String(reason)}`}`;
}
