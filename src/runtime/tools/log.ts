import type { LogLevel } from '../../decorators/client.js';
import { logText } from '../../graph/printable-text.js';
import type { CallOrigin } from './port.js';

/** How much a record matters, from the least. `error`: somebody should look at it. */
export const RECORD_LEVELS = ['debug', 'info', 'warning', 'error'] as const satisfies readonly LogLevel[];

export type RecordLevel = (typeof RECORD_LEVELS)[number];

/** What happened. */
export type LogEvent =
  | `${'tool' | 'resource' | 'prompt' | 'function' | 'middleware'}.threw`
  | 'tool.schema'
  | 'prompt.system_message'
  | 'workflow.warning'
  | 'store.retry_safety'
  | 'store.without_key'
  | 'workflow.result'
  | 'store.not_looked_after'
  | 'store.failed'
  | 'store.replaced'
  | 'model.failed'
  | `upstream.${'drift' | 'unreachable'}`
  | `specs.${'loaded' | 'refused' | 'header_ignored'}`
  | `run.${'started' | 'resumed' | 'not_resumed' | 'ended' | 'fault' | 'not_forgotten' | 'waits_for_capability' | 'reminded'}`
  | `server.${'listening' | 'draining' | 'drained' | 'unanswered' | 'stop'}`
  | `process.${'stray_error' | 'fatal_error' | 'stray_output' | 'exit_in_call'}`
  | `connection.${'message' | 'aborted' | 'progress' | 'unread'}`
  | 'request.fault'
  | 'attach.hidden'
  | 'auth.fault';

/** What a record is about. No member holds a secret, or the id of a run. */
interface LogSubject {
  /** The `ref` of the run: 12 hexadecimal digits. */
  readonly run?: string;
  readonly workflow?: string;
  /** The step, by the key of its node. */
  readonly node?: string;
  readonly tool?: string;
  readonly resource?: string;
  readonly prompt?: string;
  readonly function?: string;
  readonly middleware?: string;
  /** The method of a request. */
  readonly method?: string;
  /** How a run ended. `left`: a prompt handed its next call to the caller, who supplies a value. */
  readonly status?: 'succeeded' | 'failed' | 'cancelled' | 'left';
  /** The code of the failure of a run that did not succeed. */
  readonly code?: string;
  /** How long a run took, in ms. */
  readonly durationMs?: number;
}

/** One entry of the log of a server. */
export interface LogRecord extends LogSubject {
  readonly level: RecordLevel;
  readonly event: LogEvent;
  /** The entry as text; stacks have several lines, of which all but the first are indented. */
  readonly message: string;
}

/** Receives the log of a server, an entry at a time: as text, and as a record. */
export type LogFunction = (text: string, record: LogRecord) => void;

/** What the product says about an entry beside its text. @internal */
export interface LogAbout extends LogSubject {
  readonly event: LogEvent;
  /** Default: `error`. */
  readonly level?: RecordLevel;
}

/** Writes one entry of the operator's log; clients never receive it. */
export interface Log {
  (text: string, about: LogAbout): void;
  /** Whether entries of a level are left out: what they say need not be made. Default: all are written. */
  readonly leavesOut?: (level: RecordLevel) => boolean;
}

/**
 * A log in which no text can pose as another entry.
 *
 * @param log default: writes to stderr.
 * @param least what matters less is left out. Default: `info`.
 */
export function encodedLog(log: LogFunction = writeToStderr, least: RecordLevel = 'info'): Log {
  const from = RECORD_LEVELS.indexOf(least);
  const leavesOut = (level: RecordLevel): boolean => RECORD_LEVELS.indexOf(level) < from;
  const write = (text: string, about: LogAbout): void => {
    const { level = 'error' } = about;
    if (leavesOut(level)) return;
    const message = logText(text);
    log(message, { ...about, level, message });
  };
  return Object.assign(write, { leavesOut });
}

/** The members of a record that say where a call came from. */
export function subjectOf(origin: CallOrigin | undefined): Pick<LogSubject, 'run' | 'workflow' | 'node'> {
  if (origin?.source !== 'workflow') return {};
  const { run, workflow, node } = origin;
  return { run, workflow, node };
}

function writeToStderr(text: string): void {
  process.stderr.write(`${text}\n`);
}
