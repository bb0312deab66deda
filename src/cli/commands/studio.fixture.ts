import type { StudioOptions } from '../../studio/studio.js';
import { listen } from './studio.js';

/** Tokens are the names of their callers. */
const ROLES: Readonly<Record<string, readonly string[]>> = { ada: ['operator'], lea: ['operator', 'lead'] };

const options = {
  auth: {
    verify: (token: string) => ({
      ...{ clientId: 'web', scopes: [], subject: token },
      roles: ROLES[token] ?? ['lead'],
    }),
  },
};

/** The studio of a store, for callers with tokens. */
export async function studioFor(store: string, projects: StudioOptions['projects'] = []) {
  const studio = await listen({ store, options, projects }, { token: 'unused', port: 0, host: '127.0.0.1' });
  const { origin } = studio.url;
  const at = (path: string): string => `${origin}${path}`;
  const signIn = (token: string, to = '/runs') =>
    fetch(at('/sign-in'), {
      method: 'POST',
      ...{ body: new URLSearchParams({ token, to }), headers: { origin }, redirect: 'manual' },
    });
  const get = (token: string, path: string) =>
    fetch(at(path), { headers: { authorization: `Bearer ${token}` } });
  return {
    ...{ ...studio, at, signIn, get },
    /** Sends a form of a page as a user who has signed in. */
    async send(
      token: string,
      run: string,
      act: string,
      fields: Readonly<Record<string, string>>,
      folder = 'runs',
    ) {
      const [cookie = ''] = ((await signIn(token)).headers.get('set-cookie') ?? '').split(';');
      const headers = { origin, cookie };
      const page = await (await fetch(at(`/${folder}/${run}`), { headers })).text();
      const key = / name="key" value="([0-9a-f]+)"/.exec(page)?.[1] ?? '';
      const body = new URLSearchParams({ key, ...fields });
      return fetch(at(`/${folder}/${run}/${act}`), { method: 'POST', body, headers, redirect: 'manual' });
    },
    /** Reads a stream of changes until it has a text. */
    async follow(token: string, path: string, text: string): Promise<void> {
      const reader = (await get(token, path)).body?.pipeThrough(new TextDecoderStream()).getReader();
      for (let all = ''; !all.includes(text); ) {
        const { value = '', done } = (await reader?.read()) ?? { done: true };
        if (done) throw new Error(`the stream has ended without '${text}': ${all}`);
        all += value;
      }
      await reader?.cancel();
    },
  };
}
