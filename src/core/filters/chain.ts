import type { Filter } from './filter.ts'

/** A filter in a flat list, and what joins it to those before. */
export interface Link {
  join: 'and' | 'or'
  not: boolean
  filter: Filter
}

/**
 * The filter that a flat list means when it is written out in SQL: "and" binds tighter than "or". What joins
 * the first is of no effect. Null for an empty list; a single filter stands alone.
 */
export function chain(links: Link[]): Filter | null {
  const runs: Filter[][] = []
  for (const [index, { join, not, filter }] of links.entries()) {
    const signed = not ? negate(filter) : filter
    if (join === 'or' || index === 0) runs.push([signed])
    else runs.at(-1)?.push(signed)
  }
  return group(
    'or',
    runs.flatMap((run) => group('and', run) ?? []),
  )
}

function group(join: 'and' | 'or', children: Filter[]): Filter | null {
  return children.length < 2 ? (children[0] ?? null) : { join, children }
}

const negate = (filter: Filter): Filter => ({ join: 'and', not: true, children: [filter] })
