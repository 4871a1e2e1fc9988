import { describe, expect, test } from 'bun:test'
import {
  changeNode,
  eachNode,
  fromNodes,
  toNodes,
  type WireNode,
  withNode,
} from '../../modules/views/rest/filter-list.ts'
import type { Filter } from '../../src/core/filters/index.ts'

/** A list as a client could have built it, drawn from a seed. */
function drawList(draw: () => number, depth: number, ids: { next: number }): WireNode[] {
  return Array.from({ length: Math.floor(draw() * 4) + 1 }, (_, index): WireNode => {
    const id = `fi${ids.next++}`
    // What joins the first item of a list has no effect, so it is not kept as it was sent.
    const join = index > 0 && draw() < 0.5 ? 'or' : 'and'
    const not = draw() < 0.25
    if (depth > 0 && draw() < 0.3)
      return { id, join, not, content: { children: drawList(draw, depth - 1, ids) } }
    return {
      id,
      join,
      not,
      content: { condition: { fieldId: 'c1', operator: 'eq', value: Math.floor(draw() * 3) } },
    }
  })
}

function seeded(seed: number): () => number {
  let state = seed * 2_654_435_761
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const lists = Array.from({ length: 300 }, (_, seed) => drawList(seeded(seed + 1), 3, { next: 0 }))

/** Item by item: what it says, under which id, joined by what; the first of a list joins nothing. */
const told = (nodes: WireNode[]) =>
  [...eachNode(nodes)].map(({ node, parentId, order }) => ({
    id: node.id,
    parentId,
    order,
    not: node.not,
    join: order === 1 ? null : node.join,
    value: 'condition' in node.content ? node.content.condition.value : 'group',
  }))

describe('a view’s filter as a flat list', () => {
  test('comes back item by item as it was sent, however it is nested', () => {
    for (const list of lists) expect(told(toNodes(fromNodes(list)))).toEqual(told(list))
  })

  test('means what the list says: "and" binds tighter', () => {
    const meaning = (list: WireNode[], value: number): boolean => {
      const runs: boolean[][] = []
      for (const [index, node] of list.entries()) {
        const plain =
          'condition' in node.content
            ? node.content.condition.value === value
            : meaning(node.content.children, value)
        const holds = node.not ? !plain : plain
        if (index === 0 || node.join === 'or') runs.push([holds])
        else runs.at(-1)?.push(holds)
      }
      return runs.some((run) => run.every(Boolean))
    }
    for (const list of lists) {
      for (const value of [0, 1, 2]) expect(holdsFor(fromNodes(list), value)).toBe(meaning(list, value))
    }
  })

  test('an item is added to its group, changed and taken out by its id', () => {
    const leaf = (id: string): WireNode => ({
      id,
      join: 'and',
      not: false,
      content: { condition: { fieldId: 'c1', operator: 'eq', value: 1 } },
    })
    const list: WireNode[] = [
      leaf('a'),
      { id: 'g', join: 'or', not: false, content: { children: [leaf('b')] } },
    ]
    const added = withNode(list, 'g', leaf('c')) ?? []
    expect(told(added).map(({ id, parentId }) => [id, parentId])).toEqual([
      ['a', null],
      ['g', null],
      ['b', 'g'],
      ['c', 'g'],
    ])
    expect(told(changeNode(added, 'b', () => null) ?? []).map(({ id }) => id)).toEqual(['a', 'g', 'c'])
    expect(withNode(list, 'nope', leaf('c'))).toBeUndefined()
    expect(changeNode(list, 'nope', () => null)).toBeUndefined()
    expect(fromNodes([])).toBeNull()
  })
})

function holdsFor(filter: Filter | null, value: number): boolean {
  if (filter === null) return true
  const check = (node: Filter): boolean => {
    if (!('children' in node)) return node.value === value
    const holds = node.join === 'and' ? node.children.every(check) : node.children.some(check)
    return node.not ? !holds : holds
  }
  return check(filter)
}
