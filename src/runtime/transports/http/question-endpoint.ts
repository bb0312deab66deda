import { tokenOf } from '../../server/question-links.js';
import { problem, type QuestionPage, type QuestionPages, type Visitor } from '../../server/question-page.js';
import { readBody } from './bodies.js';

interface PageRequest {
  readonly pages: QuestionPages;
  readonly visitor: Visitor;
  /** The longest body, in bytes. */
  readonly bodyBytes: number;
}

/** Answers a request for the page of a question, or the form of it. */
export async function answerPage(
  request: Request,
  url: URL,
  { pages, visitor, bodyBytes }: PageRequest,
): Promise<Response> {
  const token = tokenOf(url) ?? '';
  const { method } = request;
  if (method === 'GET' || method === 'HEAD') return responseOf(await pages.show(token, visitor), method);
  if (method !== 'POST') {
    const response = responseOf(problem(405, 'Not possible', 'Open the page, and answer with its form.'));
    response.headers.set('allow', 'GET, HEAD, POST');
    return response;
  }
  if (isForeign(request.headers, url))
    return responseOf(
      problem(
        403,
        'The answer was not taken',
        'It was sent by another web page. Open the link of the question, and answer there.',
      ),
    );
  const body = await readBody(request, bodyBytes);
  if (body === undefined)
    return responseOf(
      problem(413, 'The answer is too long', `It may have ${bodyBytes} bytes. Go back, and shorten it.`),
    );
  return responseOf(await pages.take(token, new URLSearchParams(body), visitor));
}

/**
 * Whether another page has sent a form. The policy of pages, which sends no referrer, makes browsers send the origin `null` with their
 * own forms. A proxy that adds TLS changes the scheme of the server, and not its host.
 */
function isForeign(headers: Headers, { host }: URL): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== null && site !== 'same-origin' && site !== 'none') return true;
  const origin = headers.get('origin');
  if (origin === null || origin === 'null') return false;
  return !URL.canParse(origin) || new URL(origin).host !== host;
}

function responseOf({ status, html, policy }: QuestionPage, method = 'POST'): Response {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-robots-tag': 'noindex',
  };
  return new Response(method === 'HEAD' ? null : html, { status, headers });
}
