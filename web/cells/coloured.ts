import { formulaTokens, type Problem, type TokenKind } from '../../src/core/formula/index.ts'

/** A run of formula text with one style. */
interface Stretch {
  text: string
  kind: TokenKind
  /** Part of a reported problem. */
  isWrong: boolean
  from: number
}

/** Splits a formula into runs by token kind and problem; joined they are the whole text. */
export function coloured(text: string, problems: readonly Pick<Problem, 'from' | 'to'>[]): Stretch[] {
  // A problem without length is at the end of the text, or at the unexpected character.
  const edges = [...new Set(problems.flatMap(({ from, to }) => [from, to]))]
  return formulaTokens(text).flatMap(({ kind, from, to }) => {
    const cuts = [from, ...edges.filter((edge) => edge > from && edge < to).sort((a, b) => a - b), to]
    return cuts.slice(0, -1).map((start, index): Stretch => {
      const end = cuts[index + 1] ?? to
      const isWrong = problems.some((problem) => problem.from <= start && end <= problem.to)
      return { text: text.slice(start, end), kind, isWrong, from: start }
    })
  })
}
