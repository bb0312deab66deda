/** What codegen works on when it fails. */
export interface CodegenSubject {
  /** Relative to the project root. */
  readonly file: string;
  readonly className?: string;
}

/** A fault of codegen itself, with the source that it fails on. The original error is the `cause`. */
export class InternalError extends Error {
  override readonly name = 'InternalError';
  readonly subject: CodegenSubject;

  constructor(subject: CodegenSubject, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.subject = subject;
  }
}

/**
 * Calls a function that works on one source.
 * @throws InternalError with the innermost subject, where the function throws.
 */
export function workingOn<T>({ file, className }: CodegenSubject, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof InternalError) throw error;
    throw new InternalError(className ? { file, className } : { file }, error);
  }
}
