import { recoveryCases } from './recovery-cases.js';
import { runCases } from './run-cases.js';
import type { Scenario } from './scenario.js';

/** Every trace that has a golden file, by its name. */
export const cases: Readonly<Record<string, Scenario>> = { ...runCases, ...recoveryCases };
