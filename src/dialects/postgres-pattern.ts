import { canBeEmpty, type PatternNode, readTree, writeTree } from '../core/formula/pattern-tree.ts'

/** Longest form of a pattern that is sent: PostgreSQL compiles larger ones for seconds. */
const MAX_FORM = 6000

/** Pairs of beginnings that are compared; more count as competing. */
const MAX_COMPARED = 2000

/**
 * A pattern for PostgreSQL, which takes the longest of all matches at a place, that has only the match that other
 * engines find first: before it takes a later alternative, or ends a repetition, it looks ahead that the earlier ones
 * lead to no match. `a|ab` becomes `(?:a|(?!a)ab)`. Null if the first match is the longest anyway, and for the rare
 * pattern whose form would be too large, such as `([a-c]|b){0,200}bc`: its longest match counts.
 * @param source as `readPattern` writes it with `$` as the end
 */
export function firstMatchPattern(source: string): string | null {
  const tree = readTree(source)
  const pattern = prioritized(tree, [])
  return pattern === writeTree(tree) || pattern.length > MAX_FORM ? null : pattern
}

/** The node's pattern where `rest` follows, without matches of lower priority than another one. */
function prioritized(node: PatternNode, rest: PatternNode[]): string {
  if (node.kind === 'sequence') {
    return node.nodes.map((each, at) => prioritized(each, [...node.nodes.slice(at + 1), ...rest])).join('')
  }
  if (node.kind === 'choice') return prioritizedChoice(node.nodes, rest)
  return node.kind === 'repeat' ? prioritizedRepeat(node, rest) : writeTree(node)
}

function prioritizedChoice(nodes: PatternNode[], rest: PatternNode[]): string {
  const branches = nodes.map((node, at) => {
    const rivals = nodes.slice(0, at).filter((earlier) => competes(earlier, [node, ...rest]))
    return unless(rivals, rest) + prioritized(node, rest)
  })
  return branches.length === 1 ? (branches[0] ?? '') : `(?:${branches.join('|')})`
}

function prioritizedRepeat(node: Extract<PatternNode, { kind: 'repeat' }>, rest: PatternNode[]): string {
  const { node: inner, least, most } = node
  if (unnested([node, ...rest]).every(isRun)) return writeTree(node)
  const isEndless = most === Number.POSITIVE_INFINITY
  /** The rounds that remain after so many. */
  const left = (done: number): PatternNode => ({
    ...node,
    least: Math.max(0, least - done),
    most: most - done,
  })
  const plain = writeTree(inner)
  const first = prioritized(inner, [left(1), ...rest])
  const round = (done: number) =>
    first === plain || done === 0 || (isEndless && least <= 1)
      ? first
      : prioritized(inner, [left(done + 1), ...rest])
  const isDecided = least === most || !competes(inner, rest)
  if (first === plain && isDecided) return writeTree(node)
  const required =
    first === plain
      ? writeTree({ ...node, most: least })
      : Array.from({ length: least }, (_, done) => round(done)).join('')
  const end = (done: number) => (isDecided ? '' : unless([inner], [left(done + 1), ...rest]))
  if (isEndless) return `${required}(?:${round(least)})*${end(least)}`
  let optional = ''
  for (let done = most - 1; done >= least && optional.length <= MAX_FORM; done--) {
    const skipped = end(done)
    optional = skipped === '' ? `(?:${round(done)}${optional})?` : `(?:${round(done)}${optional}|${skipped})`
  }
  return required + optional
}

/**
 * True for repetitions of single characters. In a row of these the first match is the longest: whatever is taken earlier
 * only leaves less for the next ones to take.
 */
function isRun(node: PatternNode): boolean {
  if (node.kind === 'choice' || node.kind === 'sequence') return false
  const [inner, ...more] = node.kind === 'repeat' ? unnested([node.node]) : []
  return node.kind !== 'repeat' || (inner?.kind === 'character' && more.length === 0)
}

/** A look ahead that none of the nodes, with what follows, matches here. */
function unless(nodes: PatternNode[], rest: PatternNode[]): string {
  if (nodes.length === 0) return ''
  return `(?!${writeTree({ kind: 'choice', nodes })}${rest.map((each) => writeTree(each)).join('')})`
}

/** Whether texts may match by the node, or by its rivals instead. */
function competes(node: PatternNode, rivals: PatternNode[]): boolean {
  const [ways, others] = [unnested([node]), unnested(rivals)]
  let at = 0
  for (; ways[at]?.kind === 'character' && others[at]?.kind === 'character'; at++) {
    if (!shareBeginning([ways[at]], [others[at]])) return false
  }
  const left = ways.slice(at)
  return left.every(canBeEmpty) || shareBeginning(left, others.slice(at))
}

/** The nodes one after the other, without sequences in sequences. */
const unnested = (nodes: (PatternNode | undefined)[]): PatternNode[] =>
  nodes.flatMap((node) => {
    if (node === undefined) return []
    if (node.kind === 'sequence') return unnested(node.nodes)
    return node.kind === 'choice' && node.nodes.length === 1 ? unnested(node.nodes) : [node]
  })

function shareBeginning(nodes: (PatternNode | undefined)[], rivals: (PatternNode | undefined)[]): boolean {
  const own = new Set(beginnings({ kind: 'sequence', nodes: unnested(nodes) }))
  const others = new Set(beginnings({ kind: 'sequence', nodes: unnested(rivals) }))
  if (own.size * others.size > MAX_COMPARED) return true
  return [...own].some((one) => [...others].some((other) => overlap(one, other)))
}

/** The characters with which a node may begin. */
function beginnings(node: PatternNode): string[] {
  if (node.kind === 'character') return [node.source]
  if (node.kind === 'choice') return node.nodes.flatMap(beginnings)
  if (node.kind === 'repeat') return node.most === 0 ? [] : beginnings(node.node)
  if (node.kind !== 'sequence') return []
  const required = node.nodes.findIndex((each) => !canBeEmpty(each))
  return (required < 0 ? node.nodes : node.nodes.slice(0, required + 1)).flatMap(beginnings)
}

/** Whether a character belongs to both: each range of the common ones begins where a range of one of them does. */
function overlap(one: string, other: string): boolean {
  if (one === other) return true
  if (!one.startsWith('[') && !other.startsWith('[')) return false
  const [inOne, inOther] = [new RegExp(`^${one}$`, 'u'), new RegExp(`^${other}$`, 'u')]
  const places = [0, 9, 10, 13, ...[...one, ...other].map((sign) => sign.codePointAt(0) ?? 0)]
  return places
    .flatMap((place) => [place, place + 1])
    .filter((place) => place <= 0x10ffff)
    .map((place) => String.fromCodePoint(place))
    .some((sign) => inOne.test(sign) && inOther.test(sign))
}
