import { type ESTree, parseSync, Visitor } from 'vite'
import { TEST_TIMEOUT_MS } from '../test/timeouts.ts'
import type { SourceFile } from './rules.ts'

/** Functions of `bun:test` that take a timeout as their last argument. */
const TIMED = new Set(['test', 'it', 'beforeAll', 'beforeEach', 'afterEach', 'afterAll'])

/**
 * Timeouts of tests and hooks that are not longer than the one of the run: a slow machine exceeds them, and the one of the run
 * ends hanging tests anyway.
 *
 * @returns e.g. `line 12: 60_000`
 */
export function findShortTimeouts({ path, text }: SourceFile): string[] {
  const found: string[] = []
  new Visitor({
    CallExpression({ callee, arguments: given }) {
      if (!TIMED.has(calledName(callee))) return
      for (const argument of given.slice(1)) {
        const timeout = timeoutOf(argument)
        if (timeout === null || timeout.value > TEST_TIMEOUT_MS) continue
        const line = text.slice(0, timeout.start).split('\n').length
        found.push(`line ${line}: ${text.slice(timeout.start, timeout.end)}`)
      }
    },
  }).visit(parseSync(path, text).program)
  return found
}

/** `test` for `test`, `test.skipIf(…)` and `test.each(…)`. */
function calledName(node: ESTree.Node): string {
  if (node.type === 'Identifier') return node.name
  if (node.type === 'MemberExpression') return calledName(node.object)
  return node.type === 'CallExpression' ? calledName(node.callee) : ''
}

/** The literal of `60_000` and of `{ timeout: 60_000 }`. */
function timeoutOf(node: ESTree.Node): ESTree.NumericLiteral | null {
  if (node.type === 'Literal') return typeof node.value === 'number' ? (node as ESTree.NumericLiteral) : null
  if (node.type !== 'ObjectExpression') return null
  const option = node.properties.find(
    (each) => each.type === 'Property' && each.key.type === 'Identifier' && each.key.name === 'timeout',
  )
  return option?.type === 'Property' ? timeoutOf(option.value) : null
}
