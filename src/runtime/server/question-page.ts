import { createHash } from 'node:crypto';
import type { Owner } from '../../decorators/context.js';
import type { SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import { describeAnswerers, needsPage } from '../../graph/answerers.js';
import { defined } from '../../graph/defined.js';
import { isJsonObject, type Json, type JsonObject, type JsonSchema, pointerKey } from '../../graph/json.js';
import type { Node } from '../../graph/kinds/node.js';
import { bodyText, escapeXml, jsonText, oneLine } from '../../graph/printable-text.js';
import { changesRows, type FormFault, valueOfForm } from '../../print/form/fields.js';
import { formOf, wordsOf } from '../../print/form/form.js';
import { FORM_STYLE } from '../../print/form/style.js';
import { textOf } from '../engine/actions.js';
import type { AskAction } from '../engine/events.js';
import { nodeOf } from '../engine/identity.js';
import { commandOf, nodeRecord, outputOf } from '../engine/read.js';
import { noProgress } from '../runs/request.js';
import type { Envelope } from '../runs/run/envelope.js';
import { accessKey, answerId, mayAnswer } from '../runs/run/owner.js';
import type { InspectedRun, RunStore } from '../runs/run-store.js';
import { schemaProblems } from '../tools/schema-problems.js';
import { Seal } from './seal.js';

/** A page as a response over HTTP. */
export interface QuestionPage {
  readonly status: number;
  readonly html: string;
  /** For the header `Content-Security-Policy`. */
  readonly policy: string;
}

/** Who opens a page. */
export interface Visitor {
  /** Missing for a visitor whom the server does not know. */
  readonly caller?: Owner;
  /** Whether the server can know its visitors: it authenticates them. */
  readonly isKnowable: boolean;
}

export interface PagesParts {
  readonly runs: RunStore;
  /** Of the tokens of links. */
  readonly seal: Seal;
  readonly schemas: SchemaCompiler;
  /** Of the server, for people. */
  readonly info: { readonly name: string; readonly title?: string };
}

export interface LinkedQuestion {
  readonly run: string;
  readonly action: string;
  readonly owner: Owner;
}

/** A question as its page shows it. */
export interface Shown {
  readonly workflow: string;
  readonly startedAt: number;
  /** Missing where it is not open any more. */
  readonly open?: {
    readonly action: AskAction;
    /** Undefined where the schema holds a secret: it is not shown, and cannot be filled in. */
    readonly schema: JsonSchema | undefined;
    readonly dueAt?: number;
  };
  /** The answer, while the run is kept with its values. */
  readonly answer?: Json;
  readonly status: Envelope['status'];
  readonly finished: readonly string[];
  readonly next: readonly string[];
}

/** How long a page can be used for an answer, in ms: a day. */
const PAGE_MS = 86_400_000;

/** How long the page of an answer waits for the run, in ms. */
const ANSWER_MS = 1_000;

/**
 * Pages on which people answer the questions of runs. The token in the address of a page is the proof of its visitor, unless
 * the question says who may answer and the server authenticates callers.
 */
export class QuestionPages {
  readonly #parts: PagesParts;
  /** Of the pages themselves: what is sent comes from one of them. */
  readonly #forms: Seal;

  constructor(parts: PagesParts) {
    this.#parts = parts;
    this.#forms = new Seal(parts.runs, 'question form');
  }

  async show(token: string, visitor: Visitor): Promise<QuestionPage> {
    const question = await this.#question(token, visitor);
    if ('status' in question) return question;
    const { shown } = question;
    return shown.open === undefined
      ? this.#closed(shown, question.isOwner)
      : this.#form(question, { token, schema: shown.open.schema });
  }

  /** Takes what was sent with the form of a page. */
  async take(token: string, fields: URLSearchParams, visitor: Visitor): Promise<QuestionPage> {
    const question = await this.#question(token, visitor);
    if ('status' in question) return question;
    const { shown, by, isOwner, run, action } = question;
    const form = await this.#forms.open(fields.get('form') ?? '');
    if (form === undefined || form.isExpired || form.value.token !== digestOf(token))
      return problem(
        403,
        'This form is too old',
        'It was not sent from the page of this question, or more than a day after that was opened. Open the link of the question again, and answer there. No answer was taken.',
      );
    if (shown.open === undefined) {
      // The same answer, sent again, is shown again.
      return this.#closed(shown, isOwner);
    }
    const { schema } = shown.open;
    if (schema === undefined || changesRows(fields)) return this.#form(question, { token, schema, fields });
    const reading = valueOfForm(schema, fields);
    const faults = reading.ok ? faultsOf(schema, reading.value, this.#parts.schemas) : reading.faults;
    if (!reading.ok || faults.length > 0) return this.#form(question, { token, schema, fields, faults });
    const { runs } = this.#parts;
    const request = {
      principal: by,
      requestId: `page ${digestOf(token).slice(0, 16)}`,
      signal: new AbortController().signal,
      progress: noProgress,
    };
    const waiter = { request, answerMs: ANSWER_MS };
    const answer = await runs.submit(
      by,
      isOwner ? run : answerId(run),
      { actionId: action, result: reading.value },
      waiter,
    );
    if (!answer.ok && answer.failure.code === 'E_RESULT_SHAPE')
      return this.#form(question, {
        token,
        schema,
        fields,
        faults: [{ pointer: '', message: answer.failure.message }],
      });
    if (!answer.ok && answer.failure.code === 'ALREADY_SUBMITTED') return this.show(token, visitor);
    if (!answer.ok) return problem(409, 'The answer was not taken', answer.failure.message);
    const status = 'envelope' in answer && isOwner ? answer.envelope.status : undefined;
    return this.#answered(reading.value, shown, status);
  }

  async #question(
    token: string,
    visitor: Visitor,
  ): Promise<
    QuestionPage | (LinkedQuestion & { readonly shown: Shown; readonly by: Owner; readonly isOwner: boolean })
  > {
    const { runs, seal } = this.#parts;
    const opened = await seal.open(token);
    if (opened === undefined)
      return problem(
        404,
        'This link is not valid',
        'It may be incomplete: copy the whole address. Or the server that made it keeps its runs elsewhere. Ask for the link again where you got it.',
      );
    const question = opened.value as unknown as LinkedQuestion;
    if (opened.isExpired)
      return problem(
        410,
        'This link has expired',
        'Ask for the link again where you got it: the question may still be open.',
      );
    const { run, action, owner } = question;
    const shown = await runs.inspect(owner, run, (inspected) => shownOf(inspected, action));
    if (shown === undefined)
      return problem(
        410,
        'This question is over',
        'The server does not keep its run any more. An answer is not needed.',
      );
    const answerBy = shown.open?.action.answerBy;
    const caller = callerOf(answerBy, owner, visitor);
    if (caller === undefined)
      return problem(
        401,
        'Sign in to answer',
        `Only ${describeAnswerers(answerBy ?? [])} may answer this question. Open the link with a browser that is signed in to this server.`,
      );
    const by: Owner = { ...caller, person: true };
    if (shown.open !== undefined && !mayAnswer(answerBy, by, owner))
      return problem(
        403,
        'Somebody else answers',
        `Only ${describeAnswerers(answerBy ?? [])} may answer this question. Pass the link on to such a person.`,
      );
    // A closed question does not say who might see its answer.
    const viewer = shown.open === undefined && visitor.isKnowable ? visitor.caller : by;
    const isOwner = viewer !== undefined && accessKey(viewer) === accessKey(owner);
    return { ...question, shown, by, isOwner };
  }

  async #form(
    { shown, isOwner }: { readonly shown: Shown; readonly isOwner: boolean },
    {
      token,
      schema,
      fields,
      faults,
    }: {
      readonly token: string;
      readonly schema: JsonSchema | undefined;
      readonly fields?: URLSearchParams;
      readonly faults?: readonly FormFault[];
    },
  ): Promise<QuestionPage> {
    const { open } = shown;
    if (open === undefined) return this.#closed(shown, isOwner);
    const key = await this.#forms.seal({ token: digestOf(token) }, Date.now() + PAGE_MS);
    const parts = questionParts(
      { ...shown, open: { ...open, schema } },
      {
        isOwner,
        attributes: ' method="post" accept-charset="utf-8"',
        inside: `<input type="hidden" name="form" value="${key}">`,
        ...defined({ fields, faults }),
      },
    );
    return page(faults === undefined ? 200 : 422, shown.workflow, [this.#head(shown), ...parts]);
  }

  #closed(shown: Shown, isOwner: boolean): QuestionPage {
    const { answer } = shown;
    const value = answer === undefined || !isOwner ? '' : answerPart(answer);
    const text =
      shown.status === 'running' || shown.status === 'waiting'
        ? 'It was answered, or is not asked any more. The workflow does not wait for it.'
        : `The workflow is over: ${STATUS[shown.status]}.`;
    return page(200, shown.workflow, [
      this.#head(shown),
      '<h1>This question is no longer open</h1>',
      `<p>${text}</p>`,
      value,
    ]);
  }

  #answered(answer: Json, shown: Shown, status: Envelope['status'] | undefined): QuestionPage {
    const how =
      status === undefined
        ? 'The workflow continues with it.'
        : `The workflow continues with it. Now: ${STATUS[status]}.`;
    return page(200, shown.workflow, [
      this.#head(shown),
      '<h1>Your answer was taken</h1>',
      answerPart(answer),
      `<p>Received ${timeText(Date.now())}. ${how} You can close this page.</p>`,
    ]);
  }

  #head({ workflow, startedAt }: Shown): string {
    const { title, name } = this.#parts.info;
    return `<p class="from"><strong>${escapeXml(oneLine(title ?? name))}</strong> · ${escapeXml(oneLine(workflow))} · started ${timeText(startedAt)}</p>`;
  }
}

interface ShownForm {
  readonly isOwner: boolean;
  /** Attributes of the form. */
  readonly attributes: string;
  /** What is in the form before its fields. */
  readonly inside: string;
  readonly fields?: URLSearchParams;
  readonly faults?: readonly FormFault[];
}

/** An open question as HTML, with its form. */
export function questionParts(
  { open, finished, next }: Shown & Required<Pick<Shown, 'open'>>,
  { isOwner, attributes, inside, fields, faults }: ShownForm,
): readonly string[] {
  const { action, schema, dueAt } = open;
  const { mode } = action;
  const form =
    schema === undefined
      ? '<p class="note">The possible answers hold a secret, which a page does not show. Answer where the workflow was started.</p>'
      : `<form${attributes}>${inside}${formOf(
          labelled(schema, mode),
          defined({ fields, faults }),
        )}<button class="send">${mode === 'info' ? 'OK, continue' : 'Send the answer'}</button></form>`;
  return [
    `<h1>${escapeXml(bodyText(textOf(action)), 'keep')}</h1>`,
    form,
    dueAt === undefined ? '' : `<p class="note">Answer before ${timeText(dueAt)}.</p>`,
    // Others decide by the message alone.
    ...(isOwner ? [stepsPart('Done so far', finished), stepsPart('What happens next', next)] : []),
  ];
}

/** As whom a visitor answers. Undefined where the server has to know the visitor, and does not. */
function callerOf(answerBy: AskAction['answerBy'], owner: Owner, visitor: Visitor): Owner | undefined {
  if (answerBy === undefined || !visitor.isKnowable) return owner;
  // An owner without authentication is known by the link alone.
  return visitor.caller ?? (owner.kind !== 'principal' && needsPage(answerBy) ? owner : undefined);
}

export const STATUS: Readonly<Record<Envelope['status'], string>> = {
  running: 'it runs',
  waiting: 'it waits for another answer, or for a time',
  completed: 'it has completed',
  failed: 'it has failed',
  cancelled: 'it was cancelled',
};

/** Steps without an effect that a person knows. */
const UNSHOWN: ReadonlySet<Node['kind']> = new Set(['compute', 'set', 'return', 'goto']);

/** The most steps that a page lists. */
const MAX_STEPS = 12;

export function shownOf({ graph, envelope, state, mask, startedAt }: InspectedRun, action: string): Shown {
  const head = { workflow: graph.title ?? graph.name, startedAt, status: envelope.status };
  const node = nodeOf(action);
  if (state === undefined || node === undefined) return { ...head, finished: [], next: [] };
  const of = (status: (each: string | undefined) => boolean): string[] =>
    graph.nodes
      .filter(({ id, kind }) => !UNSHOWN.has(kind) && id !== node && status(nodeRecord(state, id)?.status))
      .map(stepText);
  const steps = {
    finished: of((status) => status === 'succeeded'),
    next: of((status) => status === undefined || status === 'pending'),
  };
  const command = state.run.status === 'running' ? commandOf(state, action) : undefined;
  if (command?.kind === 'requestAction' && command.action.type === 'ask') {
    const shown = mask.action(command.node, command.action);
    const schema = shown.schema === command.action.schema ? shown.schema : undefined;
    const dueAt = command.reminder === undefined ? command.dueAt : command.reminder.limitAt;
    return { ...head, ...steps, open: { action: shown, schema, ...defined({ dueAt }) } };
  }
  const answer = outputOf(state, node);
  return { ...head, ...steps, ...(answer === undefined ? {} : { answer: mask.outputOf(node, answer) }) };
}

function stepText(node: Node): string {
  if (node.title !== undefined) return node.title;
  const name = wordsOf(node.id);
  return node.kind === 'call' ? `${name} (${node.tool})` : name;
}

/** The one field of a question of a kind has no name that says more than the question. */
function labelled(schema: JsonSchema, mode: AskAction['mode']): JsonSchema {
  const { properties } = schema;
  if (!['confirm', 'text', 'choice'].includes(mode) || !isJsonObject(properties)) return schema;
  const entries = Object.entries(properties).map(([name, part]) => [
    name,
    isJsonObject(part) ? { title: 'Your answer', ...part } : part,
  ]);
  return { ...schema, properties: Object.fromEntries(entries) as JsonObject };
}

export function faultsOf(schema: JsonSchema, value: Json, schemas: SchemaCompiler): readonly FormFault[] {
  return schemaProblems(schemas.check(schema, value), schema).map(({ pointer, message, missing }) => ({
    pointer: missing === undefined ? pointer : `${pointer}/${pointerKey(missing)}`,
    message: `${message.charAt(0).toUpperCase()}${message.slice(1)}.`,
  }));
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

function timeText(at: number): string {
  const iso = new Date(at).toISOString();
  return `<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC</time>`;
}

/** Answers with one member are shown by it. */
function answerPart(answer: Json): string {
  const members = isJsonObject(answer) ? Object.values(answer) : [];
  const [only = answer] = members;
  const value = members.length === 1 ? only : answer;
  const text =
    typeof value === 'boolean'
      ? value
        ? 'Yes'
        : 'No'
      : typeof value === 'string'
        ? bodyText(value)
        : jsonText(value, 2);
  return `<figure><figcaption>The answer</figcaption><pre>${escapeXml(text, 'keep')}</pre></figure>`;
}

function stepsPart(title: string, steps: readonly string[]): string {
  if (steps.length === 0) return '';
  const items = steps.slice(0, MAX_STEPS).map((step) => `<li>${escapeXml(oneLine(step, 120))}</li>`);
  const more = steps.length > MAX_STEPS ? `<li>and ${steps.length - MAX_STEPS} more</li>` : '';
  return `<section><h2>${title}</h2><ol>${items.join('')}${more}</ol></section>`;
}

/** A page that says what is wrong, and what to do. */
export function problem(status: number, title: string, text: string): QuestionPage {
  return page(status, title, [`<h1>${escapeXml(title)}</h1>`, `<p>${escapeXml(text)}</p>`]);
}

export const PAGE_STYLE = `
:root{--paper:#f4f6f9;--card:#fff;--text:#1b202b;--quiet-text:#566072;--line:#d4d9e1;color-scheme:light dark}
@media (prefers-color-scheme:dark){:root{--paper:#0e1116;--card:#171b22;--text:#e6e9ef;--quiet-text:#a4adbc;--line:#363d49}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--text);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:640px;margin:0 auto;padding:24px;background:var(--card);min-height:100vh;overflow-wrap:anywhere}
@media (min-width:700px){main{margin:40px auto;padding:32px 36px;min-height:0;border:1px solid var(--line);border-radius:12px}}
.from{margin:0 0 20px;font-size:14px;color:var(--quiet-text)}
.from strong{color:var(--text)}
h1{margin:0 0 24px;font-size:22px;line-height:1.35;font-weight:650;white-space:pre-wrap}
form{display:grid;gap:24px}
.note{font-size:14px;color:var(--quiet-text)}
section{margin-top:32px;padding-top:20px;border-top:1px solid var(--line)}
section+section{margin-top:20px}
h2{margin:0 0 8px;font-size:14px;font-weight:600;color:var(--quiet-text)}
ol{margin:0;padding-left:22px}
figure{margin:0 0 20px;padding:14px 16px;border-left:4px solid var(--line)}
figcaption{font-size:14px;color:var(--quiet-text)}
pre{margin:4px 0 0;font:inherit;font-weight:600;white-space:pre-wrap}
${FORM_STYLE}`;

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(PAGE_STYLE).digest('base64')}'`,
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

function page(status: number, title: string, parts: readonly string[]): QuestionPage {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeXml(oneLine(title, 80))}</title>
<style>${PAGE_STYLE}</style>
</head>
<body><main>
${parts.filter((part) => part !== '').join('\n')}
</main></body>
</html>
`;
  return { status, html, policy: POLICY };
}
