/** What the shop has, by product. */
export const stock: ReadonlyMap<string, number> = new Map([
  ['pen', 12],
  ['notebook', 3],
]);
