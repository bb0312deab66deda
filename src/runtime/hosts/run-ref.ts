import { sha256Hex } from '../../graph/sha256.js';

/**
 * What names a run in logs, middleware and other output of an operator: 12 hexadecimal digits. The id itself is not shown
 * there, since it is all it takes to reach a run that was started without authentication.
 */
export function runRef(id: string): string {
  return sha256Hex(id).slice(0, 12);
}
