/** Indexes to render: those in range plus `others`, such as the focused line; -1 is ignored. */
export const withIndexes = (shown: readonly number[], others: readonly number[]): number[] =>
  [...new Set([...shown, ...others.filter((index) => index !== -1)])].sort((a, b) => a - b)
