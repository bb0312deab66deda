/** What tools, resources, workflows and prompts may be called. */
export const NAME_RULE = /^[a-z][a-z0-9_-]{0,61}$/;

/** What steps and arguments may be called; parts of a derived id are joined by dots. */
export const BINDING_RULE = /^[\p{ID_Start}_$][\p{ID_Continue}$.-]{0,127}$/u;

/**
 * What a function beside a graph is known by: the identifier it is exported by, after `#` where what it belongs to is
 * named before it, and with a number where that leaves two of one name.
 */
export const FUNCTION_NAME_RULE =
  /^(?!__proto__$)(?:[^#\s]{1,255}#)?[\p{ID_Start}_$][\p{ID_Continue}$]{0,127}(?:-[0-9]{1,9})?$/u;

/** True for a name of a tool, resource, workflow or prompt. */
export function isValidName(name: string): boolean {
  return NAME_RULE.test(name);
}

/** True for a name of a step or an argument. `__proto__` is none: it means something else to half the world. */
export function isValidBinding(name: string): boolean {
  return name !== '__proto__' && BINDING_RULE.test(name);
}
