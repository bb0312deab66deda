/** Thrown by a tool that cannot do its work now. `code` says why. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';

  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}
