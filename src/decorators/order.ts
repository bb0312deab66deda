/** The option that every verb of a step takes; `chain` takes it in the step it begins with. */
export interface OrderOptions {
  /**
   * The steps that this one waits for, as `this.step`; `[]` starts it at once. It also waits for the steps whose values
   * it uses. The same as `after` of `@Step(...)`, in references that editors rename. Default: the step before it.
   */
  readonly after?: readonly unknown[];
}
