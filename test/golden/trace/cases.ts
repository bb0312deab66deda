/** Every situation whose trace is kept as a golden file, by the file's name. */
import { attemptCases } from './attempt-cases.js';
import { constructCases } from './construct-cases.js';
import { handOffCases } from './hand-off-cases.js';
import { loopCases } from './loop-cases.js';
import { recoveryCases } from './recovery-cases.js';
import { runCases } from './run-cases.js';
import type { Scenario } from './scenario.js';
import { taskCases } from './task-cases.js';
import { undoCases } from './undo-cases.js';
import { waitingCases } from './waiting-cases.js';

/** Every trace that has a golden file, by its name. */
export const cases: Readonly<Record<string, Scenario>> = {
  ...runCases,
  ...recoveryCases,
  ...constructCases,
  ...loopCases,
  ...undoCases,
  ...waitingCases,
  ...handOffCases,
  ...attemptCases,
  ...taskCases,
};
