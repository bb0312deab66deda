import { defined } from '../graph/defined.js';
import { needText } from '../print/runs.js';
import { type ListedRow, shownState } from '../runtime/runs/store/reader.js';
import { Html, html, noticeParts, type Part, status, time, type View } from './html.js';
import type { RunPage, RunQuery } from './run-source.js';

/** The states that runs are filtered by, as pages name them. */
const STATES = ['running', 'waiting', 'paused', 'completed', 'failed', 'cancelled'] as const;

const DEFAULT_LIMIT = 50;
/** A page of so many has less than 250 kB. */
const MOST_RUNS = 500;

/** Reads a query of the address of a list. What is malformed is left out; see {@link leftOut}. */
export function queryOf(search: URLSearchParams): RunQuery {
  const text = (name: string): string | undefined => search.get(name)?.trim() || undefined;
  const number = (name: string): number | undefined => {
    const value = text(name);
    return value !== undefined && /^[1-9]\d{0,14}$/.test(value) ? Number(value) : undefined;
  };
  const state = STATES.find((each) => each === text('status'));
  return {
    limit: Math.min(number('limit') ?? DEFAULT_LIMIT, MOST_RUNS),
    ...(state === undefined ? {} : { state: state === 'completed' ? 'succeeded' : state }),
    ...defined({
      workflow: text('workflow'),
      owner: text('owner'),
      text: text('text'),
      before: number('before'),
    }),
  };
}

/** The parts of an address that its query does not have. */
export function leftOut(search: URLSearchParams): readonly string[] {
  const query = queryOf(search);
  const applied = new URLSearchParams(addressOf(query));
  applied.set('limit', String(query.limit));
  return [...search]
    .filter(([name, value]) => value.trim() !== '' && applied.get(name) !== value.trim())
    .map(([name, value]) => `${name}=${value}`);
}

/** The address of a list of runs. */
function addressOf({ state, limit, ...rest }: RunQuery, more: { readonly before?: number } = {}): string {
  const names = {
    ...rest,
    status: state && shownState(state),
    limit: limit === DEFAULT_LIMIT ? undefined : limit,
    ...more,
  };
  const pairs = Object.entries(names).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  const text = new URLSearchParams(pairs).toString();
  return text === '' ? '' : `?${text}`;
}

interface RunListOptions {
  /** The names that runs are filtered by. */
  readonly workflows: readonly string[];
  readonly version: string;
  /** What the address has and the list does not. */
  readonly ignored: readonly string[];
}

/** The list of runs. */
export function runsView(
  page: RunPage,
  query: RunQuery,
  { workflows, version, ignored }: RunListOptions,
): View {
  const address = addressOf(query);
  return {
    title: 'Runs',
    tab: 'runs',
    live: `/live/runs${address}${address === '' ? '?' : '&'}at=${version}`,
    parts: [
      { id: 'filters', content: filters(query, workflows) },
      ...noticeParts(ignored.length === 0 ? undefined : ignoredText(ignored)),
      ...runsParts(page, query),
    ],
  };
}

function ignoredText(ignored: readonly string[]): Html {
  return html`The list does not apply <code>${ignored.join('&')}</code> of its address. It takes <code>workflow</code>, <code>owner</code>, <code>text</code>, <code>status</code> (${STATES.join(', ')}), <code>before</code> (the number of a run) and <code>limit</code> (1 to ${MOST_RUNS}).`;
}

/** The parts of the list that change. */
export function runsParts(page: RunPage, query: RunQuery): readonly Part[] {
  return [{ id: 'runs', content: table(page, query) }];
}

function filters(query: RunQuery, workflows: readonly string[]): Html {
  const option = (value: string, chosen: string | undefined, text = value): Html =>
    html`<option value="${value}"${value === (chosen ?? '') && new Html(' selected')}>${text}</option>`;
  const state = query.state && shownState(query.state);
  const names = [...new Set([...workflows, ...(query.workflow === undefined ? [] : [query.workflow])])];
  return html`<h1>Runs</h1><form class="filters" method="get" action="/runs" role="search">
<label>Workflow <select name="workflow">${option('', query.workflow, 'all')}${names.map((name) => option(name, query.workflow))}</select></label>
<label>Status <select name="status">${option('', state, 'all')}${STATES.map((each) => option(each, state))}</select></label>
<label>Owner <input name="owner" value="${query.owner ?? ''}" autocomplete="off"></label>
<label>Search <input name="text" type="search" value="${query.text ?? ''}" placeholder="run, workflow, step ( / )" autocomplete="off" id="search"></label>
<button>Filter</button>
</form>`;
}

function table({ rows, next, isCut }: RunPage, query: RunQuery): Html {
  const isFiltered = query.workflow ?? query.state ?? query.owner ?? query.text;
  if (rows.length === 0)
    return html`<p class="empty">${isFiltered === undefined ? html`There are no runs yet. <a href="/workflows">Start one</a>, or serve the store with <code>stepwright serve --store</code>.` : html`No run matches. <a href="/runs">All runs</a>`}</p>`;
  const older =
    next !== undefined &&
    html`<a rel="next" href="/runs${addressOf(query, { before: next })}">Older runs</a>`;
  const latest =
    query.before !== undefined &&
    html`<a href="/runs${addressOf({ ...query, before: undefined } as unknown as RunQuery)}">Latest runs</a>`;
  return html`<div class="wide"><table class="runs"><thead><tr><th scope="col">Run</th><th scope="col">Workflow</th><th scope="col">Status</th><th scope="col">Waits for</th><th scope="col">Owner</th><th scope="col">Started</th><th scope="col">Ended</th></tr></thead><tbody>${rows.map(row)}</tbody></table></div><p class="pages">${latest}${older}${isCut && html`<span class="soft">Older runs were not searched.</span>`}</p>`;
}

function row({ ref, workflow, state, owner, startedAt, endedAt, waits, missing }: ListedRow): Html {
  const pending = [
    ...missing.map((need) => html`${needText(need)}`),
    ...waits.map(({ for: what, of, until }) =>
      what === 'time' && until !== undefined
        ? html`${time(until)} <span class="soft">${of}</span>`
        : html`${what} <span class="soft">${of}</span>${until !== undefined && html` until ${time(until)}`}`,
    ),
  ];
  return html`<tr><th scope="row"><a class="row" href="/runs/${ref}"><code>${ref}</code></a></th><td>${workflow}</td><td>${status(shownState(state))}</td><td>${pending.slice(0, 3).map((each, index) => html`${index > 0 && ', '}${each}`)}${pending.length > 3 && ` and ${pending.length - 3} more`}</td><td>${owner}</td><td>${time(startedAt)}</td><td>${endedAt !== undefined && time(endedAt)}</td></tr>`;
}
