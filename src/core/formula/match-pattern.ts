import { readPattern } from './pattern.ts'
import { type PatternNode, readTree } from './pattern-tree.ts'

/** One step of a compiled pattern; a thread of the match stands before one of them. */
type Step =
  | { kind: 'character'; fits: RegExp; ascii: Uint8Array }
  | { kind: 'either'; first: number; second: number }
  | { kind: 'go'; to: number }
  | { kind: 'start' }
  | { kind: 'end' }
  | { kind: 'found' }

/** Tells whether a pattern occurs in a text. */
type PatternTest = (text: string) => boolean

/**
 * A test of texts by a pattern as `readPattern` knows them; null for an unsound pattern. Takes at most
 * text × pattern steps, so that a text sent by anyone cannot keep the server busy, as it could with backtracking
 * expressions (`a*a*a*b` in a row of a's).
 */
export function patternTest(pattern: string): PatternTest | null {
  const read = readPattern(pattern)
  if (!read.ok) return null
  const matcher = new PatternMatcher(read.source)
  return (text) => matcher.find([...text], 0, { left: Number.POSITIVE_INFINITY }, 'any') !== null
}

/** Steps that a formula's pattern may take on one text: about a tenth of a second. */
const MAX_STEPS = 5_000_000

/** Compiled patterns by their source. Cleared when full, so that ever new patterns take no memory. */
const matchers = new Map<string, PatternMatcher>()
const MAX_MATCHERS = 200

/** Whether a text contains a pattern, given as `readPattern` writes it; null where that takes too many steps. */
export function containsPattern(text: string, source: string): boolean | null {
  const found = within(text, (characters, budget) => matcherOf(source).find(characters, 0, budget, 'any'))
  return found === undefined ? null : found !== null
}

/** The first match, alternatives in the order written; null without a match or where it takes too many steps. */
export function firstMatch(text: string, source: string): string | null {
  return (
    within(text, (characters, budget) => {
      const found = matcherOf(source).find(characters, 0, budget, 'first')
      return found && characters.slice(found.from, found.to).join('')
    }) ?? null
  )
}

/** The text with every match replaced; null where that takes too many steps. */
export function replaceMatches(text: string, source: string, by: string): string | null {
  return (
    within(text, (characters, budget) => {
      const matcher = matcherOf(source)
      const pieces: string[] = []
      let at = 0
      for (;;) {
        const found = matcher.find(characters, at, budget, 'first')
        if (!found || found.to === found.from) break
        pieces.push(characters.slice(at, found.from).join(''), by)
        at = found.to
      }
      return pieces.join('') + characters.slice(at).join('')
    }) ?? null
  )
}

function matcherOf(source: string): PatternMatcher {
  const known = matchers.get(source)
  if (known) return known
  if (matchers.size >= MAX_MATCHERS) matchers.clear()
  const matcher = new PatternMatcher(source)
  matchers.set(source, matcher)
  return matcher
}

/** Steps that are left; one object counts for all matches in a text. */
interface Budget {
  left: number
}

class OutOfSteps extends Error {}

/** The result of work on a text's characters; undefined where it takes too many steps. */
function within<Result>(
  text: string,
  work: (characters: string[], budget: Budget) => Result,
): Result | undefined {
  if (text.length > MAX_STEPS) return undefined
  try {
    return work([...text], { left: MAX_STEPS })
  } catch (error) {
    if (error instanceof OutOfSteps) return undefined
    throw error
  }
}

/** Where a match begins and ends, in characters. */
interface Match {
  from: number
  to: number
}

/**
 * Follows all ways in which a pattern could match at once, those of higher priority first (a Pike machine,
 * https://swtch.com/~rsc/regexp/regexp2.html). Finds what a backtracking engine finds, without its worst cases.
 */
class PatternMatcher {
  private readonly steps: Step[] = []
  /** In which round a step was last visited: a second visit in the same round leads nowhere new. */
  private readonly visited: Float64Array
  private round = 0

  constructor(source: string) {
    emit(readTree(source), this.steps)
    this.steps.push({ kind: 'found' })
    this.visited = new Float64Array(this.steps.length)
  }

  /**
   * The first match at or after `from`; with `any`, one of which only the existence counts.
   * @throws OutOfSteps when the budget is used up
   */
  find(characters: string[], from: number, budget: Budget, wanted: 'first' | 'any'): Match | null {
    let best: Match | null = null
    let threads: number[] = []
    let begins: number[] = []
    for (let at = from; ; at++) {
      this.round++
      const next: number[] = []
      const nextBegins: number[] = []
      // A match may begin at every place until one is found.
      const tried = best ? threads.length : threads.length + 1
      for (let index = 0; index < tried; index++) {
        const begin = begins[index] ?? at
        const isFound = this.follow(threads[index] ?? 0, at, characters.length, budget, next)
        while (nextBegins.length < next.length) nextBegins.push(begin)
        if (!isFound) continue
        best = { from: begin, to: at }
        if (wanted === 'any') return best
        // Threads behind this one have lower priority.
        break
      }
      const character = characters[at]
      if (character === undefined || (best && next.length === 0)) return best
      threads = []
      begins = []
      for (let index = 0; index < next.length; index++) {
        const thread = next[index] ?? 0
        const step = this.steps[thread]
        if (step?.kind !== 'character' || !fits(step, character)) continue
        threads.push(thread + 1)
        begins.push(nextBegins[index] ?? at)
      }
    }
  }

  /** Walks all steps that take no character, in order of priority; true where one ends the pattern. */
  private follow(from: number, at: number, length: number, budget: Budget, threads: number[]): boolean {
    const waiting = [from]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (--budget.left < 0) throw new OutOfSteps()
      if (this.visited[next] === this.round) continue
      this.visited[next] = this.round
      const step = this.steps[next]
      if (step?.kind === 'found') return true
      if (step?.kind === 'character') threads.push(next)
      else if (step?.kind === 'go') waiting.push(step.to)
      else if (step?.kind === 'either') waiting.push(step.second, step.first)
      else if ((step?.kind === 'start' && at === 0) || (step?.kind === 'end' && at === length))
        waiting.push(next + 1)
    }
    return false
  }
}

/** Answers for ASCII are kept by code: asking the expression takes ten times as long. */
function fits(step: Extract<Step, { kind: 'character' }>, character: string): boolean {
  const code = character.length === 1 ? character.charCodeAt(0) : Number.POSITIVE_INFINITY
  if (code >= step.ascii.length) return step.fits.test(character)
  step.ascii[code] ||= step.fits.test(character) ? YES : NO
  return step.ascii[code] === YES
}

const [YES, NO] = [1, 2]

function emit(node: PatternNode, steps: Step[]): void {
  if (node.kind === 'character') {
    steps.push({ kind: 'character', fits: new RegExp(`^${node.source}$`, 'u'), ascii: new Uint8Array(128) })
  } else if (node.kind === 'start' || node.kind === 'end') steps.push({ kind: node.kind })
  else if (node.kind === 'sequence') for (const each of node.nodes) emit(each, steps)
  else if (node.kind === 'choice') emitChoice(node.nodes, steps)
  else emitRepeat(node, steps)
}

function emitChoice([first, ...rest]: PatternNode[], steps: Step[]): void {
  if (first === undefined) return
  if (rest.length === 0) {
    emit(first, steps)
    return
  }
  const either = { kind: 'either' as const, first: steps.length + 1, second: 0 }
  steps.push(either)
  emit(first, steps)
  const go = { kind: 'go' as const, to: 0 }
  steps.push(go)
  either.second = steps.length
  emitChoice(rest, steps)
  go.to = steps.length
}

function emitRepeat({ node, least, most }: Extract<PatternNode, { kind: 'repeat' }>, steps: Step[]): void {
  for (let count = 0; count < least; count++) emit(node, steps)
  if (most === Number.POSITIVE_INFINITY) {
    const either = { kind: 'either' as const, first: steps.length + 1, second: 0 }
    const start = steps.push(either) - 1
    emit(node, steps)
    steps.push({ kind: 'go', to: start })
    either.second = steps.length
    return
  }
  const optional = Array.from({ length: most - least }, () => {
    const either = { kind: 'either' as const, first: steps.length + 1, second: 0 }
    steps.push(either)
    emit(node, steps)
    return either
  })
  for (const either of optional) either.second = steps.length
}
