/** Where a run comes from that was forked. Plain JSON. */
export interface ForkOrigin {
  /** Names the other run; see `runRef`. */
  readonly run: string;
  /** The last entry of its log that is in this one. */
  readonly entry: number;
  /** Calls of the other run with an effect, as far as this one has their results. It does not undo them. */
  readonly effects: readonly InheritedEffect[];
}

export interface InheritedEffect {
  readonly step_id: string;
  readonly tool: string;
  /** It returned no result, and may have taken effect. */
  readonly outcome_unknown?: true;
}
