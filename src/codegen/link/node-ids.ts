/** The id, or the first of `id-2`, `id-3`, … that neither a step of the workflow nor one of these nodes has. */
export function freeId(
  base: string,
  nodes: readonly { readonly id: string }[],
  isTaken: (id: string) => boolean,
): string {
  const ids = new Set(nodes.map(({ id }) => id));
  let id = base;
  for (let count = 2; isTaken(id) || ids.has(id); count++) id = `${base}-${count}`;
  return id;
}
