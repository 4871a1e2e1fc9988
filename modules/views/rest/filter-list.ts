import { type Condition, type Filter, type FilterGroup, isGroup } from '../../../src/core/filters/index.ts'
import { chain, type Link } from '../../../src/wire/filters.ts'

/**
 * A view's filter as REST clients see it: a flat list in which each item names the operator that joins it to the items
 * before it, and groups have lists of their own. "And" binds tighter than "or"; the groups that our tree needs for that
 * (without an id) are left out, so every item keeps its id and position.
 */
export interface WireNode {
  id: string
  join: 'and' | 'or'
  not: boolean
  content: { condition: Condition } | { children: WireNode[] }
}

/** Converts a stored filter to the list. */
export function toNodes(filter: Filter | null): WireNode[] {
  if (filter === null) return []
  if (isGroup(filter) && !filter.not) return linksOf(filter).map(toNode)
  return [toNode({ join: 'and', ...unsigned(filter) })]
}

/** Converts a list to the filter to store: a group, or null for an empty list. */
export function fromNodes(nodes: WireNode[]): Filter | null {
  return nodes.length === 0 ? null : asGroup(nodes)
}

/** Every node with the id of its group; groups come before their children. */
export function* eachNode(
  nodes: WireNode[],
  parentId: string | null = null,
): Generator<{ node: WireNode; parentId: string | null; order: number }> {
  for (const [index, node] of nodes.entries()) {
    yield { node, parentId, order: index + 1 }
    if ('children' in node.content) yield* eachNode(node.content.children, node.id)
  }
}

/** Appends a node to a group of the list (null: the list itself); undefined if no group has this id. */
export function withNode(
  nodes: WireNode[],
  parentId: string | null,
  added: WireNode,
): WireNode[] | undefined {
  if (parentId === null) return [...nodes, added]
  let isAdded = false
  const changed = changeNode(nodes, parentId, (parent) => {
    if (!('children' in parent.content)) return parent
    isAdded = true
    return { ...parent, content: { children: [...parent.content.children, added] } }
  })
  return isAdded ? changed : undefined
}

/** Changes one node, or removes it if `change` returns null; undefined if it is not in the list. */
export function changeNode(
  nodes: WireNode[],
  id: string,
  change: (node: WireNode) => WireNode | null,
): WireNode[] | undefined {
  let isFound = false
  const walk = (list: WireNode[]): WireNode[] =>
    list.flatMap((node) => {
      if (node.id === id) {
        isFound = true
        return change(node) ?? []
      }
      return 'children' in node.content
        ? { ...node, content: { children: walk(node.content.children) } }
        : node
    })
  const changed = walk(nodes)
  return isFound ? changed : undefined
}

const isImplicit = (filter: Filter): filter is FilterGroup => isGroup(filter) && filter.id === undefined

/** The reverse of `chain`. */
function linksOf({ join, children }: FilterGroup): Link[] {
  return children.flatMap((child): Link[] => {
    const isRun = join === 'or' && isImplicit(child) && child.join === 'and' && !child.not
    if (!isRun) return [{ join, ...unsigned(child) }]
    return child.children.map((part, index) => ({ join: index === 0 ? 'or' : 'and', ...unsigned(part) }))
  })
}

function unsigned(filter: Filter): Pick<Link, 'not' | 'filter'> {
  if (!isGroup(filter) || !filter.not) return { not: false, filter }
  const [only] = filter.children
  if (isImplicit(filter) && only && filter.children.length === 1) return { not: true, filter: only }
  const { not: _, ...positive } = filter
  return { not: true, filter: positive }
}

function toNode({ join, not, filter }: Link): WireNode {
  const id = filter.id ?? ''
  if (!isGroup(filter)) return { id, join, not, content: { condition: filter } }
  return { id, join, not, content: { children: linksOf(filter).map(toNode) } }
}

function asGroup(nodes: WireNode[]): FilterGroup {
  const links = nodes.map(({ id, join, not, content }): Link => {
    const filter =
      'condition' in content ? { ...content.condition, id } : { ...asGroup(content.children), id }
    return { join, not, filter }
  })
  const chained = chain(links)
  if (chained && isImplicit(chained) && !chained.not) return chained
  return { join: 'and', children: chained ? [chained] : [] }
}
