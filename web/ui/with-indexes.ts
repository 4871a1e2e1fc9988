/** The indexes of lines to draw, in order, and of others that are drawn wherever one has scrolled to; -1 is none. */
export const withIndexes = (shown: readonly number[], others: readonly number[]): number[] =>
  [...new Set([...shown, ...others.filter((index) => index !== -1)])].sort((a, b) => a - b)
