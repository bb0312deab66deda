/** Why a run cannot move to another graph. */
export type Obstacle =
  /** The graph cannot run, or has another name. */
  | 'graph'
  /** The run is over. */
  | 'over'
  /** What the run did is being undone, or was to be. */
  | 'undoing'
  /** A call, a read or a function has not returned. */
  | 'call_in_flight'
  /** A call has an unknown outcome, or may still return although it was abandoned. */
  | 'unknown_outcome'
  /** A transition has not finished its work. */
  | 'unfinished'
  /** The inputs of the workflow were changed. */
  | 'inputs'
  /** A field of the state was changed or removed. */
  | 'state'
  /** An option of the whole workflow was changed. */
  | 'option'
  /** Questions are put to callers other than the owner of the run, and were not before. */
  | 'answerers'
  /** The graph has secrets, which the store would keep unencrypted. */
  | 'secrets'
  /** A node that has started was removed, or has another id. */
  | 'removed'
  /** A node that has started is in another scope. */
  | 'moved'
  /** A node that has started was changed, or something inside it that has run. */
  | 'changed'
  /** A node that has started waits for other nodes, or is selected by others. */
  | 'edges'
  /** A node that a `goto` started over, or of an earlier attempt, was changed. */
  | 'ran_before'
  /** A node is new where nothing starts any more. */
  | 'scope_ended'
  /** A new run would have started the node before others, and that could have changed them. */
  | 'too_late';

/** An obstacle at a node, by its key. */
export interface MigrationReason {
  /** Missing for the run as a whole. */
  readonly node?: string;
  readonly reason: Obstacle;
}

/** Whether a run can move to another graph. */
export type Verdict =
  /** `starts` are the keys of nodes that start at once. */
  | { readonly kind: 'safe'; readonly starts: readonly string[] }
  /** It could with these new ids of settled nodes, by the old ones. */
  | { readonly kind: 'needsMapping'; readonly mapping: ReadonlyMap<string, string> }
  | { readonly kind: 'stays'; readonly reasons: readonly MigrationReason[] };
