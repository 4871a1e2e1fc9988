import { AppError } from '../errors.ts'
import { trimTrailing } from '../trim-characters.ts'
import { chain, type Link } from './chain.ts'
import { type Filter, MAX_DEPTH } from './filter.ts'
import type { FilterField } from './operand.ts'
import { parseStrictWhere } from './where-strict.ts'
import { wireCondition } from './wire-condition.ts'

/** Finds a field by the title that a clause names. */
export type FieldResolver = (title: string) => FilterField | undefined | null

/** Longest `where`: a list of some thousand ids. */
export const MAX_WHERE_LENGTH = 100_000

/**
 * Reads the `where` parameter of REST (wire reference §14.5): `(A,eq,1)~and((B,like,x)~or~not(C,blank))`.
 * Null where it is empty, which means all records. A leading `@` asks for the strict form with quotes.
 *
 * Values are taken as they stand, commas, brackets and spaces included; a clause ends at the bracket
 * before the next `~and(`, `~or(` or `~not(`.
 *
 * @throws INVALID_FILTER, FILTER_VERIFICATION_FAILED; nothing else, whatever the text
 */
export function parseWhere(text: string, resolve: FieldResolver, maxDepth = MAX_DEPTH): Filter | null {
  if (text.length > MAX_WHERE_LENGTH) throw malformed()
  const trimmed = text.trim()
  if (trimmed === '') return null
  if (trimmed.startsWith('@')) return parseStrictWhere(trimmed.slice(1), resolve, maxDepth)
  return new Reader(split(trimmed), resolve, maxDepth).read()
}

/** The 422 for text that is no `where` at all. */
export const malformed = (): AppError =>
  new AppError('INVALID_FILTER', 'Invalid filter format.', undefined, 'msg')

const tooDeep = (maxDepth: number): AppError =>
  new AppError('INVALID_FILTER', `Filters can be nested up to ${maxDepth} levels`)

/** A clause with the brackets around it, and what joins it to the clause before. */
interface Piece {
  join: 'and' | 'or'
  /** Written before the first bracket. */
  not: boolean
  text: string
}

/** What may stand between two clauses. A `~not` alone means "and not". */
const JOINER = /(?<=\))(?:~(and|or)(~?not)?|(~not))(?=\()/g

/** Cuts the text at its joiners; the brackets stay with the clauses. */
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

/** Takes a leading `~not`, and a joiner that has nothing before it, off a piece. */
function unsigned(text: string, not: boolean): { text: string; not: boolean } {
  const [lead = '', negated] = /^(?:~(?:and|or))?(~?not(?=\())?/.exec(text) ?? []
  return { text: text.slice(lead.length), not: not || negated !== undefined }
}

/** A group that is being read. */
interface Open {
  links: Link[]
  join: 'and' | 'or'
  not: boolean
}

/** Puts the pieces together again, group by group. */
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

  /** Opens a group for every bracket but the clause's own, each with the `~not` before it. */
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
 * Where the clause's text ends, and how many groups close behind it. The closing brackets at the end
 * belong to the value, to the clause and to its groups, in this order: the last clause closes all that
 * is open, any other as much as leaves the brackets of its value in pairs.
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
