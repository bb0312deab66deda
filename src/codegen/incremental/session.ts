/**
 * Joins the runs of one process on one project: those of a watcher, or of an editor. A run reads again only what has
 * changed since the last one, and comes to the same result as a run without it. Pass it to one run at a time.
 */
export class CodegenSession {
  readonly kind = 'codegen session';
}
