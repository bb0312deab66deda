/** `once`, `3 times`. */
export function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

/** `3 at once`, where there is a limit. */
export function atOnce(concurrency: number | undefined): string[] {
  return concurrency === undefined ? [] : [`${concurrency} at once`];
}
