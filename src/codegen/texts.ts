/** What is wrong with a comment that silences a diagnostic: what follows its name in SW9012. */
export const texts = {
  ignoreWithoutCode: 'names no code',
  ignoreWithoutReason: 'gives no reason',
  ignoreMalformed: 'is written as a code, a colon and a reason',
} as const;
