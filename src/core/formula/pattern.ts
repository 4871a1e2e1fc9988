import { readTree, withoutEmptyRounds, writeTree } from './pattern-tree.ts'

/**
 * Regular expressions of which PostgreSQL, MariaDB, MySQL and JavaScript make the same: characters, `.`, classes,
 * `\d \w \s` (of ASCII) and their opposites, `^`, `$` (the very end), groups, `|`, and the greedy `* + ? {n} {n,}
 * {n,m}` up to 255. A pattern is written in the formula, so that it is known to be sound before any database sees it.
 * Where a pattern can match in several ways at one place, the first one counts: alternatives in the order written, and
 * as many repetitions as possible. PostgreSQL would take the longest (`src/dialects/postgres-pattern.ts`).
 */
const CLASSES: Record<string, string> = { d: '0-9', w: 'A-Za-z0-9_', s: ' \\t\\n\\r' }
const CONTROLS: Record<string, string> = { n: '\n', t: '\t', r: '\r' }
const SYNTAX = /[\^$\\.*+?()[\]{}|/]/
const MAX_COUNT = 255
const MAX_PATTERN = 1000
/** Characters that a pattern may have with its counts written out. */
const MAX_SIZE = 2000
/** Characters of the form in which databases get a pattern. */
const MAX_SOURCE = 10_000

/** A sound pattern in the form that all engines read alike, or why it is none. */
type ReadPattern = { ok: true; source: string } | { ok: false; message: string }

/** Reads a pattern; `end` is what stands for the end of the text: `$`, `\z`. */
export function readPattern(text: string, end = '$'): ReadPattern {
  if (text === '') return fail('is empty')
  if (text.length > MAX_PATTERN) return fail(`can have up to ${MAX_PATTERN} characters`)
  try {
    const source = writeTree(withoutEmptyRounds(readTree(new PatternReader(text).read())), end)
    return source.length > MAX_SOURCE ? fail('is too large after expanding its counts') : { ok: true, source }
  } catch (error) {
    if (error instanceof PatternError) return fail(error.message)
    throw error
  }
}

/** True if the pattern matches empty text: engines replace such matches differently. */
export function matchesEmpty(text: string): boolean {
  const read = readPattern(text)
  return read.ok && new RegExp(read.source, 'u').test('')
}

const fail = (message: string): ReadPattern => ({ ok: false, message: `The regular expression ${message}` })

class PatternError extends Error {}

/** Part of a pattern: its source, how long it is with its counts written out, whether it repeats without end. */
interface Piece {
  source: string
  size: number
  isEndless: boolean
}

class PatternReader {
  private at = 0
  private depth = 0
  private readonly characters: string[]

  constructor(text: string) {
    this.characters = [...text]
  }

  read(): string {
    const { source } = this.alternatives()
    if (this.at < this.characters.length) throw new PatternError('has an unmatched )')
    return source
  }

  private alternatives(): Piece {
    const branches = [this.branch()]
    while (this.peek() === '|') {
      this.at++
      branches.push(this.branch())
    }
    return joined(branches, '|')
  }

  private branch(): Piece {
    const pieces: Piece[] = []
    for (let sign = this.peek(); sign !== undefined && sign !== '|' && sign !== ')'; sign = this.peek()) {
      pieces.push(sign === '^' || sign === '$' ? this.anchor(sign) : this.repeated(this.atom(sign)))
    }
    if (pieces.length === 0) throw new PatternError('has an empty alternative')
    return joined(pieces, '')
  }

  private anchor(sign: string): Piece {
    this.at++
    return one(sign)
  }

  private atom(sign: string): Piece {
    this.at++
    if (sign === '(') return this.group()
    if (sign === '[') return one(this.characterClass())
    if (sign === '.') return one('[^\\n]')
    if (sign === '\\') return one(this.escape())
    if ('*+?{'.includes(sign)) throw new PatternError(`has ${sign} with nothing to repeat`)
    return one(literal(sign))
  }

  private group(): Piece {
    if (this.peek() === '?') {
      if (this.characters[this.at + 1] !== ':')
        throw new PatternError('does not support groups that start with (?')
      this.at += 2
    }
    if (++this.depth > 20) throw new PatternError('is nested too deeply')
    const inner = this.alternatives()
    if (this.peek() !== ')') throw new PatternError('has an unmatched (')
    this.at++
    this.depth--
    return { ...inner, source: `(?:${inner.source})` }
  }

  private escape(): string {
    const sign = this.next()
    const known = CLASSES[sign.toLowerCase()]
    if (known) return sign === sign.toLowerCase() ? `[${known}]` : `[^${known}]`
    return literal(escaped(sign))
  }

  private characterClass(): string {
    const isNegated = this.peek() === '^'
    if (isNegated) this.at++
    let source = ''
    while (this.peek() !== ']') source += this.member()
    this.at++
    if (source === '') throw new PatternError('has an empty class')
    return `[${isNegated ? '^' : ''}${source}]`
  }

  /** A character, a range or `\d` and its like in a class. */
  private member(): string {
    const first = this.character()
    if (first === null) return CLASSES[this.characters[this.at - 1] ?? ''] ?? ''
    const isRange = this.peek() === '-' && this.characters[this.at + 1] !== ']'
    if (!isRange) return inClass(first)
    this.at++
    const last = this.character()
    if (last === null) throw new PatternError('has a class as the end of a range')
    if ((first.codePointAt(0) ?? 0) > (last.codePointAt(0) ?? 0))
      throw new PatternError('has a range in reverse order')
    return `${inClass(first)}-${inClass(last)}`
  }

  /** The next character of a class; null for `\d` and its like. */
  private character(): string | null {
    const sign = this.next()
    if (sign === '[') throw new PatternError('has an unescaped [ in a class: write \\[')
    if (sign !== '\\') return sign
    const after = this.next()
    return CLASSES[after] === undefined ? escaped(after) : null
  }

  private repeated(piece: Piece): Piece {
    const { source, most } = this.quantifier()
    if (source === '') return piece
    if ('*+?{'.includes(this.peek() ?? ' ')) {
      throw new PatternError('has two quantifiers in a row')
    }
    const isEndless = most === Number.POSITIVE_INFINITY
    // Of (a+)+ an engine may try more ways than there is time for.
    if (isEndless && piece.isEndless) throw new PatternError('has nested quantifiers')
    const size = piece.size * Math.max(1, isEndless ? 2 : most)
    if (size > MAX_SIZE) throw new PatternError('is too large after expanding its counts')
    return { source: piece.source + source, size, isEndless: isEndless || piece.isEndless }
  }

  private quantifier(): { source: string; most: number } {
    const sign = this.peek()
    if (sign === '{') return this.counts()
    if (sign !== '*' && sign !== '+' && sign !== '?') return { source: '', most: 1 }
    this.at++
    return { source: sign, most: sign === '?' ? 1 : Number.POSITIVE_INFINITY }
  }

  private counts(): { source: string; most: number } {
    const rest = this.characters.slice(this.at, this.at + 12).join('')
    const match = /^\{(\d{1,3})(?:(,)(\d{0,3}))?\}/.exec(rest)
    if (!match) throw new PatternError('has an invalid count: write \\{ for a literal brace')
    const [source, least = '0', comma, most = ''] = match
    if (Number(least) > MAX_COUNT || Number(most) > MAX_COUNT) {
      throw new PatternError(`can repeat up to ${MAX_COUNT} times`)
    }
    if (most !== '' && Number(most) < Number(least)) throw new PatternError('has a count in reverse order')
    this.at += source.length
    if (comma === undefined) return { source, most: Number(least) }
    return { source, most: most === '' ? Number.POSITIVE_INFINITY : Number(most) }
  }

  private peek(): string | undefined {
    return this.characters[this.at]
  }

  private next(): string {
    const sign = this.characters[this.at++]
    if (sign === undefined) throw new PatternError('ends unexpectedly')
    return sign
  }
}

const one = (source: string): Piece => ({ source, size: 1, isEndless: false })

const joined = (pieces: Piece[], sign: string): Piece => ({
  source: pieces.map(({ source }) => source).join(sign),
  size: pieces.reduce((sum, { size }) => sum + size, 0),
  isEndless: pieces.some(({ isEndless }) => isEndless),
})

const literal = (sign: string): string => (SYNTAX.test(sign) ? `\\${sign}` : sign)

const inClass = (sign: string): string => (/[\^\\\-[\]]/.test(sign) ? `\\${sign}` : sign)

/** Meaning of escapes that are not character classes. */
function escaped(sign: string): string {
  const control = CONTROLS[sign]
  if (control) return control
  if (/[\p{L}\p{N}]/u.test(sign)) throw new PatternError(`does not support \\${sign}`)
  return sign
}

/**
 * The source of a pattern that the check has found sound.
 * @throws Error for any other text, which no formula that was checked has
 */
export function sourceOf(pattern: unknown, end = '$'): string {
  const read = readPattern(typeof pattern === 'string' ? pattern : '', end)
  if (!read.ok) throw new Error(read.message)
  return read.source
}
