import { LRUCache } from 'lru-cache'
import type { Position } from './input.ts'

/** Logs of which is remembered when the newest item was deleted. */
const REMEMBERED = 50_000

/** What a log was asked for. */
export interface LogQuery {
  /** The base and the filter. */
  key: string
  /** As `LastChange.mark`. */
  mark: string | null
  /** Only items behind this one; null: all. */
  from: Position | null
}

interface Remembered extends Omit<LogQuery, 'key'> {
  /** When the newest item was deleted; null: there is none. */
  newest: string | null
  readAt: string
}

/**
 * Remembers when the newest item of the logs of bases was deleted, so that a page need not open a log again that has
 * nothing for it.
 */
export function createNewestItems() {
  const known = new LRUCache<string, Remembered>({ max: REMEMBERED })
  const keyOf = ({ key, from }: LogQuery) => `${from === null ? 'all' : 'rest'} ${key}`

  function check({ mark, from }: LogQuery, remembered: Remembered | undefined): Remembered | undefined {
    if (!remembered) return undefined
    const isCovered = remembered.from === null || (from !== null && isBehind(from, remembered.from))
    // What was deleted since is not in a list that begins before.
    const isCurrent =
      (mark !== null && mark === remembered.mark) || (from !== null && from.at <= remembered.readAt)
    return isCovered && isCurrent ? remembered : undefined
  }

  return {
    /** The time of the newest item or a later one; null: there is none; undefined: unknown. */
    get(query: LogQuery): string | null | undefined {
      const rest = query.from === null ? undefined : known.get(keyOf(query))
      const found = check(query, rest) ?? check(query, known.get(keyOf({ ...query, from: null })))
      return found?.newest
    },

    /** @param readAt when the log was read, or a time before that */
    set(query: LogQuery, newest: string | null, readAt: string): void {
      const { mark, from } = query
      known.set(keyOf(query), { mark, from, newest, readAt })
    },
  }
}

/** True if everything behind `position` is behind `other` as well. */
function isBehind(position: Position, other: Position): boolean {
  if (position.at !== other.at) return position.at < other.at
  const [baseId, otherId] = [position, other].map((one) => (one.kind === 'start' ? '' : one.baseId))
  return baseId !== otherId
    ? (baseId ?? '') > (otherId ?? '')
    : JSON.stringify(position) === JSON.stringify(other)
}
