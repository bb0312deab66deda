/** Why a view of a server, or its spec files, cannot be had. */
export type SpecErrorCode =
  | 'E_PROFILE_UNKNOWN'
  | 'E_SPEC_FETCH'
  | 'E_SPEC_HEADER'
  | 'E_SPEC_INVALID'
  | 'E_SPEC_NOT_ALLOWED'
  | 'E_SPEC_OFF';

/**
 * The workflows of files or addresses cannot be used, or what a client asks for with headers or a profile. Thrown by
 * `start` and `view` of a server.
 */
export class SpecError extends Error {
  override readonly name = 'SpecError';

  constructor(
    readonly code: SpecErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
