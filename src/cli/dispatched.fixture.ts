import { dispatch } from './dispatch.js';

/** What a command printed, with its exit code. */
export interface Dispatched {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command in this process. */
export async function dispatched(...args: readonly string[]): Promise<Dispatched> {
  let out = '';
  let err = '';
  const code = await dispatch(args, {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    color: false,
  });
  return { code, out, err };
}
