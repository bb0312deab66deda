import type { Output } from './dispatch.js';

/** The streams of this process. Colours follow the terminal, `NO_COLOR` and `FORCE_COLOR`. */
export const processOutput: Output = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  color: process.stderr.isTTY && process.stderr.hasColors(),
};
