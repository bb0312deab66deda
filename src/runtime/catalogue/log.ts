import { logText } from './encode-text.js';
import type { CallOrigin } from './port.js';
import { texts } from './texts.js';

/** Takes one entry for the operator, which clients must not see. */
export type Log = (text: string) => void;

/** A log whose entries cannot pose as several, or as something else. @param log default: writes to stderr. */
export function encodedLog(log: Log = writeToStderr): Log {
  return (text) => log(logText(text));
}

/** Who asked for a call, as a log names it. */
export function callerOf(origin: CallOrigin | undefined): string {
  return origin?.source === 'workflow'
    ? texts.calledByStep(origin.workflow, origin.run, origin.node)
    : texts.calledByClient();
}

function writeToStderr(text: string): void {
  process.stderr.write(`${text}\n`);
}
