import { createHash } from 'node:crypto';
import type { SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import { describeAnswerers, isForOthers, needsPage } from '../../graph/answerers.js';
import { defined } from '../../graph/defined.js';
import { escapeXml } from '../../graph/printable-text.js';
import { changesRows, type FormFault, valueOfForm } from '../../print/form/fields.js';
import type { IdentifiedRequest } from '../runs/request.js';
import type { Envelope } from '../runs/run/envelope.js';
import type { RunStore } from '../runs/run-store.js';
import { textOf } from './composite/results.js';
import { APP_TYPE, QUESTION_APP } from './composite/run-tools.js';
import { faultsOf, PAGE_STYLE, questionParts, STATUS, shownOf } from './question-page.js';
import { failureResult, type ResourceContents, type ToolResult } from './wire.js';

interface AppParts {
  readonly runs: RunStore;
  readonly schemas: SchemaCompiler;
  /** How long an answer waits for the run, in ms: the next question follows in the same frame. */
  readonly answerMs: number;
}

/** What a person has sent with a form, and what is wrong with it. */
interface Sent {
  readonly fields?: URLSearchParams;
  readonly faults?: readonly FormFault[];
}

/**
 * Questions in a frame of a host that shows apps. The app is one resource; the forms are those of the pages, made here and
 * put into its frame, and what is filled in is read here. A host can fake what comes from its frame: it proves a person
 * only for an authenticated caller, who could send the page as well.
 */
export class QuestionApp {
  readonly #parts: AppParts;

  constructor(parts: AppParts) {
    this.#parts = parts;
  }

  get resource(): ResourceContents {
    return { uri: QUESTION_APP, mimeType: APP_TYPE, text: APP };
  }

  /** Takes what was filled in, if there is any, and returns the next open question of a run as HTML. */
  async answer(input: Readonly<Record<string, unknown>>, request: IdentifiedRequest): Promise<ToolResult> {
    const { workflow_id: id, action_id: actionId, fields } = input;
    if (typeof id !== 'string')
      return failureResult({ code: 'E_INPUT_INVALID', message: 'workflow_id must be a string' });
    const { runs, schemas, answerMs } = this.#parts;
    const principal = personOf(request);
    const before = await runs.get(principal, id);
    if (!before.ok) return failureResult(before.failure);
    const action = before.envelope.actions.find(({ action_id }) => action_id === actionId);
    if (typeof fields !== 'string' || action === undefined) return this.#shown(before.envelope, request);
    const sent = new URLSearchParams(fields);
    const { schema } = action;
    if (schema === undefined || changesRows(sent))
      return this.#shown(before.envelope, request, { fields: sent });
    const reading = valueOfForm(schema, sent);
    const faults = reading.ok ? faultsOf(schema, reading.value, schemas) : reading.faults;
    if (!reading.ok || faults.length > 0)
      return this.#shown(before.envelope, request, { fields: sent, faults });
    const submission = { actionId: action.action_id, result: reading.value };
    const answer = await runs.submit(principal, id, submission, { request, answerMs });
    if (!answer.ok) {
      const wrong = [{ pointer: '', message: answer.failure.message }];
      return this.#shown(before.envelope, request, { fields: sent, faults: wrong });
    }
    const after = await runs.get(principal, id);
    return after.ok ? this.#shown(after.envelope, request) : failureResult(after.failure);
  }

  async #shown(envelope: Envelope, request: IdentifiedRequest, sent: Sent = {}): Promise<ToolResult> {
    const { workflow_id, status } = envelope;
    const html = await this.#html(envelope, request, sent);
    return {
      content: [{ type: 'text', text: textOf(envelope) }],
      structuredContent: { workflow_id, status, html },
    };
  }

  async #html(envelope: Envelope, request: IdentifiedRequest, sent: Sent): Promise<string> {
    const { status, workflow_id, definition } = envelope;
    const principal = personOf(request);
    const [action] = envelope.actions.filter(
      ({ type, parameters }) => type === 'prompt' && (parameters as { type: string }).type !== 'model',
    );
    const id = action?.action_id ?? '';
    const shown = await this.#parts.runs.inspect(principal, workflow_id, (run) => shownOf(run, id));
    const from = `<p class="from"><strong>${escapeXml(shown?.workflow ?? definition.name)}</strong></p>`;
    if (action === undefined || shown?.open === undefined)
      return `${from}<p>The workflow waits for no answer here. Now: ${STATUS[status]}.</p>`;
    const { answer_by: answerBy, page_url: url } = action;
    const isPersons = needsPage(answerBy);
    if (isPersons ? principal.person === true : !isForOthers(answerBy)) {
      const parts = questionParts(
        { ...shown, open: shown.open },
        { isOwner: true, attributes: ` data-action="${escapeXml(id)}"`, inside: '', ...defined({ ...sent }) },
      );
      return [from, ...parts].join('');
    }
    const link =
      isPersons && url !== undefined
        ? `<p><button class="send" data-link="${escapeXml(url)}">Open the page of the question</button></p>`
        : '';
    return `${from}<p>Only ${escapeXml(describeAnswerers(answerBy ?? []))} may answer the open question.</p>${link}`;
  }
}

/** The caller of the app: a person, if the server knows who it is. */
function personOf({ principal }: IdentifiedRequest): IdentifiedRequest['principal'] {
  return principal.kind === 'principal' ? { ...principal, person: true } : principal;
}

/**
 * The script of the app. It speaks JSON-RPC with the host around its frame. A frame without the permission for forms has no
 * event of sending: the buttons of the form are followed instead.
 */
const SCRIPT = `
const main = document.querySelector('main');
const open = new Map();
let count = 0;
let run;
const post = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
const request = (method, params) => new Promise((resolve, reject) => {
  count += 1;
  open.set(count, { resolve, reject });
  post({ id: count, method, params });
});
const handlers = {
  'ui/notifications/tool-result': ({ structuredContent, content }) => {
    const { workflow_id } = structuredContent ?? {};
    if (typeof workflow_id === 'string') show({ workflow_id });
    else main.textContent = textOf(content);
  },
};
const textOf = (content) => (content ?? []).map(({ text }) => text ?? '').join('\\n');
addEventListener('message', ({ source, data }) => {
  if (source !== parent || data?.jsonrpc !== '2.0') return;
  if (data.method === undefined) {
    const call = open.get(data.id);
    open.delete(data.id);
    if (data.error) call?.reject(new Error(data.error.message));
    else call?.resolve(data.result);
  } else if (data.id === undefined) handlers[data.method]?.(data.params ?? {});
  else if (['ping', 'ui/resource-teardown'].includes(data.method)) post({ id: data.id, result: {} });
  else post({ id: data.id, error: { code: -32601, message: 'Method not found' } });
});
async function show(args) {
  run = args.workflow_id;
  main.setAttribute('aria-busy', 'true');
  try {
    const result = await request('tools/call', { name: 'answer_question', arguments: args });
    const { html } = result.structuredContent ?? {};
    const parts = document.createElement('template');
    parts.innerHTML = html ?? '';
    // Browsers block the attribute in frames.
    const first = parts.content.querySelector('[autofocus]');
    first?.removeAttribute('autofocus');
    if (typeof html === 'string') main.replaceChildren(parts.content);
    else main.textContent = textOf(result.content);
    first?.focus();
    if (args.fields !== undefined)
      request('ui/update-model-context', { content: result.content }).catch(() => {});
  } catch (error) {
    const fault = document.createElement('p');
    fault.className = 'note';
    fault.setAttribute('role', 'alert');
    fault.textContent = 'The answer was not sent: ' + error.message;
    main.prepend(fault);
  }
  main.removeAttribute('aria-busy');
}
addEventListener('click', (event) => {
  const button = event.target.closest('button');
  if (button === null) return;
  event.preventDefault();
  if (button.dataset.link) request('ui/open-link', { url: button.dataset.link }).catch(() => {});
  const { form } = button;
  if (!form || main.hasAttribute('aria-busy')) return;
  if (!button.formNoValidate && !form.reportValidity()) return;
  const fields = new URLSearchParams(new FormData(form, button.name ? button : undefined)).toString();
  show({ workflow_id: run, action_id: form.dataset.action, fields });
});
new ResizeObserver(() => {
  const { offsetWidth: width, offsetHeight: height } = document.body;
  post({ method: 'ui/notifications/size-changed', params: { width, height } });
}).observe(document.body);
request('ui/initialize', {
  protocolVersion: '2026-01-26',
  appInfo: { name: 'stepwright-question', version: '1.0.0' },
  appCapabilities: { availableDisplayModes: ['inline'] },
}).then(() => post({ method: 'ui/notifications/initialized', params: {} }));
`;

const STYLE = `${PAGE_STYLE}
main{min-height:0;margin:0 auto;border:0}
[aria-busy]{opacity:.6}
`;

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const POLICY = [
  "default-src 'none'",
  `script-src ${hashOf(SCRIPT)}`,
  `style-src ${hashOf(STYLE)}`,
  "form-action 'none'",
  "base-uri 'none'",
].join('; ');

const APP = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Question</title>
<style>${STYLE}</style>
</head>
<body><main></main><script type="module">${SCRIPT}</script></body>
</html>
`;
