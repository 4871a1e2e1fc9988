import { AppError } from '../errors.ts'
import { chain, type Link } from './chain.ts'
import type { Filter } from './filter.ts'
import type { FieldResolver } from './where.ts'
import { fromParts, unknownAlias } from './wire-condition.ts'

type Kind = '(' | ')' | ',' | 'and' | 'or' | 'not' | 'text' | 'end'

interface Token {
  kind: Kind
  text: string
  at: number
}

const MARKS =
  /(?:(~and|~or|~not)(?![a-z])|([(),])|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s(),"'][^(),]*))/isy

/**
 * Reads the strict form of `where`, which begins with `@` (already taken off): spaces between the parts are
 * free, and titles and values may stand in quotes, with `\"` for a quote in them.
 * `("Sp ace", eq, "x, y") ~or ~not (B, blank)`
 *
 * @throws INVALID_FILTER saying what was expected and where; FILTER_VERIFICATION_FAILED
 */
export function parseStrictWhere(text: string, resolve: FieldResolver, maxDepth: number): Filter | null {
  const parser = new StrictParser(tokens(text), resolve, maxDepth)
  const filter = parser.where(0)
  parser.expect('end', 'the end, ~and or ~or')
  return filter
}

function tokens(text: string): Token[] {
  const list: Token[] = []
  const end = text.trimEnd().length
  let at = 0
  while (at < end) {
    if (/\s/.test(text.charAt(at))) {
      at++
      continue
    }
    MARKS.lastIndex = at
    const match = MARKS.exec(text)
    if (!match) throw invalid(`unexpected ${text.slice(at, at + 20).trim()}`, at)
    const [all, word, mark, double, single, bare] = match
    if (word) list.push({ kind: word.slice(1).toLowerCase() as Kind, text: word, at })
    else if (mark) list.push({ kind: mark as Kind, text: mark, at })
    else list.push({ kind: 'text', text: unquoted(double ?? single) ?? bare?.trim() ?? '', at })
    at += all.length
  }
  list.push({ kind: 'end', text: 'the end', at: end })
  return list
}

const unquoted = (text: string | undefined): string | undefined => text?.replace(/\\(.)/gs, '$1')

const invalid = (problem: string, at: number): AppError =>
  // The position counts from the "@".
  new AppError('INVALID_FILTER', `Invalid filter expression: ${problem} at position ${at + 1}`)

class StrictParser {
  private index = 0

  constructor(
    private readonly list: Token[],
    private readonly resolve: FieldResolver,
    private readonly maxDepth: number,
  ) {}

  /** Items joined by `~and` and `~or`. */
  where(depth: number): Filter | null {
    const links: Link[] = []
    let join: 'and' | 'or' = 'and'
    do {
      links.push({ join, ...this.item(depth) })
      join = this.peek().kind === 'or' ? 'or' : 'and'
    } while (this.accept('and') || this.accept('or'))
    return chain(links)
  }

  /** A clause or a group in brackets, with or without `~not`. */
  private item(depth: number): { not: boolean; filter: Filter } {
    const not = this.accept('not')
    const open = this.expect('(', '"("')
    const { kind } = this.peek()
    if (kind !== '(' && kind !== 'not') return { not, filter: this.clause() }
    if (depth >= this.maxDepth) throw invalid(`groups can be nested up to ${this.maxDepth} levels`, open.at)
    const filter = this.where(depth + 1)
    this.expect(')', '")", ~and or ~or')
    if (!filter) throw invalid('an empty group', open.at)
    return { not, filter }
  }

  /** `title, operator {, value} )` */
  private clause(): Filter {
    const title = this.expect('text', 'the title of a field')
    this.expect(',', '","')
    const operator = this.expect('text', 'an operator')
    const values: string[] = []
    while (this.accept(',')) values.push(this.value())
    this.expect(')', '"," or ")"')
    const field = this.resolve(title.text)
    if (!field) throw new AppError('INVALID_FILTER', unknownAlias(title.text).message)
    return fromParts(field, operator.text, values, () => invalid('a value is missing', operator.at))
  }

  /** A value; nothing between two commas is the empty text. */
  private value(): string {
    const { kind, text } = this.peek()
    if (kind === ',' || kind === ')') return ''
    if (kind !== 'text') throw invalid(`expected a value, found ${text}`, this.peek().at)
    this.index++
    return text
  }

  private peek(): Token {
    return this.list[this.index] ?? { kind: 'end', text: 'the end', at: 0 }
  }

  private accept(kind: Kind): boolean {
    if (this.peek().kind !== kind) return false
    this.index++
    return true
  }

  expect(kind: Kind, wanted: string): Token {
    const token = this.peek()
    if (token.kind !== kind) throw invalid(`expected ${wanted}, found ${token.text || '""'}`, token.at)
    this.index++
    return token
  }
}
