/** A pattern as a tree. A character is one of a class or a literal, in the syntax that all engines share. */
export type PatternNode =
  | { kind: 'character'; source: string }
  | { kind: 'start' }
  | { kind: 'end' }
  | { kind: 'sequence'; nodes: PatternNode[] }
  | { kind: 'choice'; nodes: PatternNode[] }
  | { kind: 'repeat'; node: PatternNode; least: number; most: number }

/** Reads the source of a sound pattern, as `readPattern` writes it with `$` as the end. */
export const readTree = (source: string): PatternNode => new SourceReader(source).read()

/** The source of a tree; `end` stands for the end of the text: `$`, `\z`. */
export function writeTree(node: PatternNode, end = '$'): string {
  if (node.kind === 'character') return node.source
  if (node.kind === 'start') return '^'
  if (node.kind === 'end') return end
  if (node.kind === 'sequence') return node.nodes.map((each) => writeTree(each, end)).join('')
  const inner = node.kind === 'choice' ? node.nodes.map((each) => writeTree(each, end)) : []
  if (node.kind === 'choice') return inner.length === 1 ? (inner[0] ?? '') : `(?:${inner.join('|')})`
  const repeated = writeTree(node.node, end)
  if (repeated === '' || node.most === 0) return ''
  return (node.node.kind === 'character' ? repeated : `(?:${repeated})`) + countsOf(node)
}

/** The quantifier of a repetition, as PostgreSQL, MariaDB and JavaScript write it. */
function countsOf({ least, most }: { least: number; most: number }): string {
  if (most === Number.POSITIVE_INFINITY) return least === 0 ? '*' : least === 1 ? '+' : `{${least},}`
  if (least === most) return least === 1 ? '' : `{${least}}`
  return least === 0 && most === 1 ? '?' : `{${least},${most}}`
}

/** True if the node matches the empty text somewhere. */
export function canBeEmpty(node: PatternNode): boolean {
  if (node.kind === 'character') return false
  if (node.kind === 'sequence') return node.nodes.every(canBeEmpty)
  if (node.kind === 'choice') return node.nodes.some(canBeEmpty)
  if (node.kind === 'repeat') return node.least === 0 || canBeEmpty(node.node)
  return true
}

/** A way through a node, in the order in which they are tried. */
interface Path {
  node: PatternNode
  isEmpty: boolean
}

const EMPTY: PatternNode = { kind: 'sequence', nodes: [] }

/**
 * The tree without endless repetitions of something that can be empty, such as `(a?|b)*`. PCRE ends such a loop after
 * an empty round, others go on with the next alternative. Here each round takes a character: `(a|b)*`.
 */
export function withoutEmptyRounds(node: PatternNode): PatternNode {
  if (node.kind === 'sequence' || node.kind === 'choice') {
    return { ...node, nodes: node.nodes.map(withoutEmptyRounds) }
  }
  if (node.kind !== 'repeat') return node
  const inner = withoutEmptyRounds(node.node)
  if (node.most !== Number.POSITIVE_INFINITY || !canBeEmpty(inner)) return { ...node, node: inner }
  const first: PatternNode = { ...node, node: inner, most: node.least }
  const rest: PatternNode = { ...node, node: notEmpty(inner), least: 0 }
  return { kind: 'sequence', nodes: node.least === 0 ? [rest] : [first, rest] }
}

/** The ways through a node that take a character. */
function notEmpty(node: PatternNode): PatternNode {
  const nodes = pathsOf(node).flatMap((path) => (path.isEmpty ? [] : [path.node]))
  return nodes.length === 0 ? EMPTY : { kind: 'choice', nodes }
}

function pathsOf(node: PatternNode): Path[] {
  if (!canBeEmpty(node)) return [{ node, isEmpty: false }]
  if (node.kind === 'choice') return node.nodes.flatMap(pathsOf)
  if (node.kind === 'sequence') return pathsOfSequence(node.nodes)
  if (node.kind !== 'repeat') return [{ node, isEmpty: true }]
  const left: PatternNode = { ...node, least: Math.max(0, node.least - 1), most: node.most - 1 }
  const some: PatternNode = { kind: 'sequence', nodes: [notEmpty(node.node), left] }
  return [
    { node: some, isEmpty: false },
    { node: EMPTY, isEmpty: true },
  ]
}

function pathsOfSequence([first, ...rest]: PatternNode[]): Path[] {
  if (first === undefined) return [{ node: EMPTY, isEmpty: true }]
  return pathsOf(first).flatMap((path): Path[] => {
    if (!path.isEmpty) return [{ node: { kind: 'sequence', nodes: [path.node, ...rest] }, isEmpty: false }]
    return pathsOfSequence(rest).map((next) => ({
      node: { kind: 'sequence', nodes: [path.node, next.node] },
      isEmpty: next.isEmpty,
    }))
  })
}

/** Reads the one form in which `readPattern` writes all sound patterns. */
class SourceReader {
  private at = 0

  constructor(private readonly source: string) {}

  read(): PatternNode {
    const branches = [this.branch()]
    while (this.source[this.at] === '|') {
      this.at++
      branches.push(this.branch())
    }
    return { kind: 'choice', nodes: branches }
  }

  private branch(): PatternNode {
    const nodes: PatternNode[] = []
    while (this.at < this.source.length && !'|)'.includes(this.source[this.at] ?? '')) {
      nodes.push(this.repeated(this.atom()))
    }
    return { kind: 'sequence', nodes }
  }

  private atom(): PatternNode {
    const sign = this.source[this.at] ?? ''
    if (sign === '^' || sign === '$') {
      this.at++
      return { kind: sign === '^' ? 'start' : 'end' }
    }
    if (sign === '(') return this.group()
    return { kind: 'character', source: this.character(sign) }
  }

  private group(): PatternNode {
    this.at += '(?:'.length
    const inner = this.read()
    this.at += ')'.length
    return inner
  }

  private character(sign: string): string {
    const rest = this.source.slice(this.at)
    const found =
      sign === '[' ? (/^\[(?:\\.|[^\]\\])*\]/su.exec(rest)?.[0] ?? rest) : (/^\\?./su.exec(rest)?.[0] ?? rest)
    this.at += found.length
    return found
  }

  private repeated(node: PatternNode): PatternNode {
    const counts = /^(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})/.exec(this.source.slice(this.at))
    if (!counts) return node
    const [sign, least = '0', comma, most = ''] = counts
    this.at += sign.length
    const endless = Number.POSITIVE_INFINITY
    if (sign === '*') return { kind: 'repeat', node, least: 0, most: endless }
    if (sign === '+') return { kind: 'repeat', node, least: 1, most: endless }
    if (sign === '?') return { kind: 'repeat', node, least: 0, most: 1 }
    const upTo = most === '' ? endless : Number(most)
    return { kind: 'repeat', node, least: Number(least), most: comma === undefined ? Number(least) : upTo }
  }
}
