/** Tells a caller how far a run is. `total` is the number of steps in the plan. */
export type ReportProgress = (progress: number, total: number, message?: string) => void;

/** Reports nothing. With it no progress is computed. */
export function noProgress(): void {}
