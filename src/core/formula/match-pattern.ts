import { readPattern } from './pattern.ts'

/** One step of a compiled pattern; a thread of the match stands before one of them. */
type Step =
  | { kind: 'character'; fits: RegExp }
  | { kind: 'either'; first: number; second: number }
  | { kind: 'go'; to: number }
  | { kind: 'start' }
  | { kind: 'end' }
  | { kind: 'found' }

type Node =
  | { kind: 'character'; source: string }
  | { kind: 'start' }
  | { kind: 'end' }
  | { kind: 'sequence'; nodes: Node[] }
  | { kind: 'choice'; nodes: Node[] }
  | { kind: 'repeat'; node: Node; least: number; most: number }

/** Tells whether a pattern occurs in a text. */
export type PatternTest = (text: string) => boolean

/**
 * A test of texts by a pattern as `readPattern` knows them; null where the pattern is none. All ways in which
 * it could match are followed at once, so that the time is at most text × pattern: a stranger's text cannot
 * keep the server busy, as it could with the engine's own expressions (`a*a*a*b` in a row of a's).
 */
export function patternTest(pattern: string): PatternTest | null {
  const read = readPattern(pattern)
  if (!read.ok) return null
  const steps: Step[] = []
  emit(new SourceReader(read.source).read(), steps)
  steps.push({ kind: 'found' })
  return (text) => run(steps, [...text])
}

function run(steps: Step[], characters: string[]): boolean {
  const seenAt = new Int32Array(steps.length).fill(-1)
  let here: number[] = []
  for (let at = 0; at <= characters.length; at++) {
    const threads: number[] = []
    // A match may begin at every place.
    for (const from of [...here, 0]) {
      if (follow(steps, from, at, characters.length, seenAt, threads)) return true
    }
    const character = characters[at]
    if (character === undefined) return false
    here = threads.flatMap((thread) => {
      const step = steps[thread]
      return step?.kind === 'character' && step.fits.test(character) ? [thread + 1] : []
    })
  }
  return false
}

/** Walks all steps that take no character; true where one of them is the end of the pattern. */
function follow(
  steps: Step[],
  from: number,
  at: number,
  length: number,
  seenAt: Int32Array,
  threads: number[],
): boolean {
  const waiting = [from]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (seenAt[next] === at) continue
    seenAt[next] = at
    const step = steps[next]
    if (step?.kind === 'found') return true
    if (step?.kind === 'character') threads.push(next)
    else if (step?.kind === 'go') waiting.push(step.to)
    else if (step?.kind === 'either') waiting.push(step.second, step.first)
    else if ((step?.kind === 'start' && at === 0) || (step?.kind === 'end' && at === length))
      waiting.push(next + 1)
  }
  return false
}

function emit(node: Node, steps: Step[]): void {
  if (node.kind === 'character') steps.push({ kind: 'character', fits: new RegExp(`^${node.source}$`, 'u') })
  else if (node.kind === 'start' || node.kind === 'end') steps.push({ kind: node.kind })
  else if (node.kind === 'sequence') for (const each of node.nodes) emit(each, steps)
  else if (node.kind === 'choice') emitChoice(node.nodes, steps)
  else emitRepeat(node, steps)
}

function emitChoice([first, ...rest]: Node[], steps: Step[]): void {
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

function emitRepeat({ node, least, most }: Extract<Node, { kind: 'repeat' }>, steps: Step[]): void {
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

/** Reads the one form in which `readPattern` writes all sound patterns. */
class SourceReader {
  private at = 0

  constructor(private readonly source: string) {}

  read(): Node {
    const branches = [this.branch()]
    while (this.source[this.at] === '|') {
      this.at++
      branches.push(this.branch())
    }
    return { kind: 'choice', nodes: branches }
  }

  private branch(): Node {
    const nodes: Node[] = []
    while (this.at < this.source.length && !'|)'.includes(this.source[this.at] ?? '')) {
      nodes.push(this.repeated(this.atom()))
    }
    return { kind: 'sequence', nodes }
  }

  private atom(): Node {
    const sign = this.source[this.at] ?? ''
    if (sign === '^' || sign === '$') {
      this.at++
      return { kind: sign === '^' ? 'start' : 'end' }
    }
    if (sign === '(') return this.group()
    return { kind: 'character', source: this.character(sign) }
  }

  private group(): Node {
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

  private repeated(node: Node): Node {
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
