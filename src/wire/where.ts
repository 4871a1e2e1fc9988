import { AppError } from '../core/errors.ts'
import { type Filter, MAX_DEPTH } from '../core/filters/filter.ts'
import type { FilterField } from '../core/filters/operand.ts'
import { m } from '../core/messages.gen.ts'
import { trimTrailing } from '../core/trim-characters.ts'
import { chain, fromParts, type Link, unknownAlias, wireCondition } from './filters.ts'

/** Finds a field by title. */
type FieldResolver = (title: string) => FilterField | undefined | null

/** Longest `where`, enough for a list of several thousand ids. */
const MAX_WHERE_LENGTH = 100_000

/**
 * Parses REST's `where` parameter (wire §14.5): `(A,eq,1)~and((B,like,x)~or~not(C,blank))`. Null if empty,
 * which matches all records. A leading `@` selects the strict form with quotes.
 *
 * Values are taken literally, with commas, parentheses and spaces; a clause ends at the parenthesis before the next
 * `~and(`, `~or(` or `~not(`.
 *
 * @throws INVALID_FILTER, FILTER_VERIFICATION_FAILED
 */
export function parseWhere(text: string, resolve: FieldResolver, maxDepth = MAX_DEPTH): Filter | null {
  if (text.length > MAX_WHERE_LENGTH) throw malformed()
  const trimmed = text.trim()
  if (trimmed === '') return null
  if (trimmed.startsWith('@')) return parseStrictWhere(trimmed.slice(1), resolve, maxDepth)
  return new Reader(split(trimmed), resolve, maxDepth).read()
}

/** The 422 for malformed text. */
const malformed = (): AppError => new AppError('INVALID_FILTER', 'Invalid filter format.', undefined, 'msg')

const tooDeep = (maxDepth: number): AppError =>
  new AppError('INVALID_FILTER', m.filter_error_depth({ maxDepth }))

/** A clause with its parentheses and the operator before it. */
interface Piece {
  join: 'and' | 'or'
  /** `~not` before the first parenthesis. */
  not: boolean
  text: string
}

/** Operators between two clauses. A `~not` alone means "and not". */
const JOINER = /(?<=\))(?:~(and|or)(~?not)?|(~not))(?=\()/g

/** Splits the text at its operators; parentheses stay with the clauses. */
function split(text: string): Piece[] {
  const pieces: Piece[] = []
  let [from, join, not]: [number, 'and' | 'or', boolean] = [0, 'and', false]
  const push = (to: number) => pieces.push({ ...unsigned(text.slice(from, to), not), join })
  for (const match of text.matchAll(JOINER)) {
    push(match.index)
    from = match.index + match[0].length
    join = match[1] === 'or' ? 'or' : 'and'
    not = match[2] !== undefined || match[3] !== undefined
  }
  push(text.length)
  return pieces
}

/** Removes a leading `~not`, and a leading operator, from a piece. */
function unsigned(text: string, not: boolean): { text: string; not: boolean } {
  const [lead = '', negated] = /^(?:~(?:and|or))?(~?not(?=\())?/.exec(text) ?? []
  return { text: text.slice(lead.length), not: not || negated !== undefined }
}

/** An open group. */
interface Open {
  links: Link[]
  join: 'and' | 'or'
  not: boolean
}

/** Builds the filter from the pieces, group by group. */
class Reader {
  private readonly open: Open[] = [{ links: [], join: 'and', not: false }]

  constructor(
    private readonly pieces: Piece[],
    private readonly resolve: FieldResolver,
    private readonly maxDepth: number,
  ) {}

  read(): Filter | null {
    this.pieces.forEach((piece, index) => {
      this.readPiece(piece, index === this.pieces.length - 1)
    })
    const [root] = this.open
    if (!root || this.open.length > 1) throw malformed()
    return chain(root.links)
  }

  private readPiece({ text, join, not }: Piece, isLast: boolean): void {
    const depth = this.open.length
    const { clause, negated } = this.openGroups(text, join, not)
    const end = clauseEnd(clause, this.open.length - 1, isLast)
    if (end === null) throw malformed()
    const filter = wireCondition(clause.slice(0, end.at), this.resolve, malformed)
    const current = this.open.at(-1)
    current?.links.push({ join: this.open.length > depth ? 'and' : join, not: negated, filter })
    for (let closed = 0; closed < end.groups; closed++) this.closeGroup()
  }

  /** Opens a group for every parenthesis except the clause's own, each with the `~not` before it. */
  private openGroups(text: string, join: 'and' | 'or', not: boolean): { clause: string; negated: boolean } {
    let [rest, joined, negated] = [text, join, not]
    while (/^\((?:\(|~not\()/.test(rest)) {
      if (this.open.length > this.maxDepth) throw tooDeep(this.maxDepth)
      this.open.push({ links: [], join: joined, not: negated })
      joined = 'and'
      negated = rest.startsWith('~not', 1)
      rest = rest.slice(negated ? 5 : 1)
    }
    if (!rest.startsWith('(')) throw malformed()
    return { clause: rest.slice(1), negated }
  }

  private closeGroup(): void {
    const group = this.open.pop()
    const parent = this.open.at(-1)
    const filter = group && chain(group.links)
    if (!parent || !filter) throw malformed()
    parent.links.push({ join: group.join, not: group.not, filter })
  }
}

/**
 * The end of the clause's text, and the number of groups that close after it. Closing parentheses at the end belong to
 * the value, the clause and its groups, in this order: the last clause closes all open groups, any other as many as
 * leave the value's parentheses balanced.
 */
function clauseEnd(
  clause: string,
  openGroups: number,
  isLast: boolean,
): { at: number; groups: number } | null {
  const closing = clause.length - trimTrailing(clause, ')').length
  const body = clause.slice(0, clause.length - closing)
  const unpaired = Math.max(0, count(body, '(') - count(body, ')'))
  const groups = isLast ? openGroups : Math.max(0, Math.min(openGroups, closing - 1 - unpaired))
  const at = clause.length - 1 - groups
  return closing < 1 + groups ? null : { at, groups }
}

const count = (text: string, mark: string): number => text.split(mark).length - 1

type Kind = '(' | ')' | ',' | 'and' | 'or' | 'not' | 'text' | 'end'

interface Token {
  kind: Kind
  text: string
  at: number
}

const MARKS =
  /(?:(~and|~or|~not)(?![a-z])|([(),])|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s(),"'][^(),]*))/isy

/**
 * Parses the strict form of `where`, without its leading `@`: whitespace is free, and titles and values may be quoted,
 * with `\"` for a quote. `("Sp ace", eq, "x, y") ~or ~not (B, blank)`
 *
 * @throws INVALID_FILTER naming the expected token and its position; FILTER_VERIFICATION_FAILED
 */
function parseStrictWhere(text: string, resolve: FieldResolver, maxDepth: number): Filter | null {
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
  // Positions include the "@".
  new AppError('INVALID_FILTER', `Invalid filter expression: ${problem} at position ${at + 1}`)

class StrictParser {
  private index = 0

  constructor(
    private readonly list: Token[],
    private readonly resolve: FieldResolver,
    private readonly maxDepth: number,
  ) {}

  /** Parses items joined by `~and` and `~or`. */
  where(depth: number): Filter | null {
    const links: Link[] = []
    let join: 'and' | 'or' = 'and'
    do {
      links.push({ join, ...this.item(depth) })
      join = this.peek().kind === 'or' ? 'or' : 'and'
    } while (this.accept('and') || this.accept('or'))
    return chain(links)
  }

  /** Parses a clause or a group in parentheses, with or without `~not`. */
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

  /** Parses a value; nothing between two commas is an empty text. */
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
